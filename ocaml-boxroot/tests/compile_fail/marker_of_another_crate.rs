//! A program cannot declare what the values of another crate's marker are.

use ocaml_boxroot::OCamlString as Marker;
use ocaml_boxroot::{ocaml_type, OCamlInt};

enum Number {
    Number(i64),
}

ocaml_type! {
    #[cfg(any())]
    enum Marker for Number { Number(OCamlInt) }
}

fn main() {}
