//! Bigarrays have the elements that OCaml knows.

use ocaml_boxroot::{DomainLock, OCamlArray1, RootRef};

fn wrong(lock: &DomainLock, array: &RootRef<OCamlArray1<String>>) -> usize { //~ E0277 bigarrays have no elements `String`
    array.get(lock).cells().len()
}

fn main() {}
