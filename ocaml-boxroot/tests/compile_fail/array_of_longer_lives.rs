//! Arrays give what was stored in them.

use ocaml_boxroot::{Boxroot, OCamlArray};

struct Name<'a>(&'a str);

fn lengthen<'a>(array: Boxroot<OCamlArray<Name<'a>>>) -> Boxroot<OCamlArray<Name<'static>>> {
    array
}

fn main() {}
