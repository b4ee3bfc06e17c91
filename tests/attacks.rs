//! Safe programs that try to reach undefined behaviour: `attacks/programs.rs` may not write `unsafe`. What
//! the compiler rejects is in `ocaml-boxroot/tests/compile_fail`.

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
    // SAFETY: used with the types that OCaml gives it.
    unsafe { lock.named(name) }.unwrap()
}
