//! Safe programs that try to cause undefined behaviour: `attacks/programs.rs` has no `unsafe`. Programs that
//! the compiler rejects are in `ocaml-boxroot/tests/compile_fail`.

#[path = "support/mod.rs"]
mod common;
#[forbid(unsafe_code)]
#[path = "attacks/programs.rs"]
mod programs;

use ocaml_boxroot::{Boxroot, DomainLock, Function};

fn main() {
    programs::run()
}

/// A function of testlib.ml or exported.ml.
fn function<Args, R>(lock: &DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: each caller uses the types that the function has in testlib.ml or exported.ml.
    unsafe { lock.named(name) }.unwrap()
}
