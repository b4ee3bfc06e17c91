//! The type of a root's value stays.

use ocaml_boxroot::{Boxroot, OCamlInt, OCamlString};

fn wrong(root: Boxroot<OCamlInt>) -> Boxroot<OCamlString> {
    root
}

fn main() {}
