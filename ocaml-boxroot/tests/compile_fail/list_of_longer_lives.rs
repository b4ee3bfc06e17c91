//! Lists give what they were made of.

use ocaml_boxroot::{Boxroot, OCamlList};

struct Name<'a>(&'a str);

fn lengthen<'a>(list: Boxroot<OCamlList<Name<'a>>>) -> Boxroot<OCamlList<Name<'static>>> {
    list
}

fn main() {}
