//! Two tokens never meet: the outer one is lent while there is an inner one.

use ocaml_boxroot::{DomainLock, Runtime};

fn wrong(runtime: &mut Runtime) {
    let outer = runtime.lock();
    outer.release(|| DomainLock::attach(|inner| std::mem::swap(outer, inner)));
}

fn main() {}
