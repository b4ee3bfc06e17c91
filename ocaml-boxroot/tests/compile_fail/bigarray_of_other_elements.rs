//! Bigarrays have the elements that OCaml knows.

use ocaml_boxroot::{DomainLock, OCamlBigarray, RootRef};

fn wrong(lock: &DomainLock, array: &RootRef<OCamlBigarray<String>>) -> usize {
    array.get(lock).cells().len()
}

fn main() {}
