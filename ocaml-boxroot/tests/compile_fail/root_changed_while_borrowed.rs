//! A root does not change while a reference to it is in use.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, RootRef, Value};

fn wrong(lock: &DomainLock, root: &mut Boxroot<OCamlInt>) {
    let borrowed: &RootRef<OCamlInt> = root;
    root.set(lock, Value::int(1));
    borrowed.get(lock);
}

fn main() {}
