//! A root is not Copy, nor Clone without a token.

use ocaml_boxroot::{Boxroot, OCamlString};

fn wrong(root: &Boxroot<OCamlString>) -> Boxroot<OCamlString> {
    root.clone()
}

fn main() {}
