//! The safe crate on a real runtime.
//!
//! Tests with `forbid(unsafe_code)` are safe programs that try to cause undefined behaviour.
//! Programs that the compiler rejects are in `ocaml-boxroot/tests/compile_fail`.
//!
//! Many tests of threads, domains, forks, starts and ends are programs that once hung, or could
//! hang. Each has a time limit.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod arrays;
mod boxes;
mod buffers;
mod cached;
mod closures;
mod collections;
mod completions;
mod conversions;
#[cfg(target_env = "gnu")]
mod coroutines;
#[cfg(feature = "debug-checks")]
mod debug_checks;
mod domains;
mod exceptions;
mod forks;
mod functions;
mod futures;
mod interrupted;
mod lock;
mod memory;
#[cfg(any(feature = "debug-checks", debug_assertions))]
mod mistakes;
mod pool_of_domains;
mod references;
mod roots;
mod shutdown;
mod startup;
mod statistics;
mod threads;
mod types;
mod weak;
#[path = "../users/interop/words/ours.rs"]
mod words;

fn main() {
    support::runner::run_tests_within(std::time::Duration::from_secs(120))
}
