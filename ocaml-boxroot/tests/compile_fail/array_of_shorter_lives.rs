//! Arrays change: OCaml could store a value with a shorter life in it.

use ocaml_boxroot::{Boxroot, OCamlArray};

struct Name<'a>(&'a str);

fn shorten<'a>(array: Boxroot<OCamlArray<Name<'static>>>) -> Boxroot<OCamlArray<Name<'a>>> {
    array
}

fn main() {}
