//! A list does not give values with a longer life than those that it was made of.

use ocaml_boxroot::{Boxroot, OCamlList};

struct Name<'a>(&'a str);

fn lengthen<'a>(list: Boxroot<OCamlList<Name<'a>>>) -> Boxroot<OCamlList<Name<'static>>> {
    list
}

fn main() {}
