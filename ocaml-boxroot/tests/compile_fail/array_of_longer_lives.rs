//! An array does not give values with a longer life than those that were stored in it.

use ocaml_boxroot::{Boxroot, OCamlArray};

struct Name<'a>(&'a str);

fn lengthen<'a>(array: Boxroot<OCamlArray<Name<'a>>>) -> Boxroot<OCamlArray<Name<'static>>> {
    array
}

fn main() {}
