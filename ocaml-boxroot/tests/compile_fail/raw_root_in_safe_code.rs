//! Only unsafe code can make a `Boxroot` from a raw root.

use ocaml_boxroot::{Boxroot, OCamlInt, OCamlString};

fn wrong(root: Boxroot<OCamlInt>) -> Boxroot<OCamlString> {
    Boxroot::from_raw(root.into_raw())
}

fn main() {}
