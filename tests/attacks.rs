//! Safe programs that try to reach undefined behaviour: `attempts` may not write `unsafe`. What
//! the compiler rejects is in `ocaml-boxroot/tests/compile_fail`.

#[forbid(unsafe_code)]
mod attempts;
mod common;

use ocaml_boxroot::{Boxroot, DomainLock, Function};

fn main() {
    attempts::run()
}

/// A function of testlib.ml or exported.ml.
fn function<Args, R>(lock: &DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: used with the types that OCaml gives it.
    unsafe { lock.named(name) }.unwrap()
}
