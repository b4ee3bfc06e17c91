//! A raw root is taken by unsafe code only.

use ocaml_boxroot::{Boxroot, OCamlInt, OCamlString};

fn wrong(root: Boxroot<OCamlInt>) -> Boxroot<OCamlString> {
    Boxroot::from_raw(root.into_raw())
}

fn main() {}
