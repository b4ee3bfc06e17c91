//! An iterator over a list holds a value, which an allocation ends.

use ocaml_boxroot::{DomainLock, OCamlInt, OCamlList, RootRef};

fn wrong(lock: &mut DomainLock, list: &RootRef<OCamlList<OCamlInt>>) {
    for element in list.get(lock).iter() {
        lock.alloc_string(element.to_int().to_string()).unwrap();
    }
}

fn main() {}
