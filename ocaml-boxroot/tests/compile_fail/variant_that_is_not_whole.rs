//! The declared constructors and fields are all those of the Rust type.

use ocaml_boxroot::{ocaml_type, OCamlInt};

enum Shape {
    Nothing,
    Square(i32),
}

ocaml_type! {
    enum OCamlShape for Shape { Nothing }
}

ocaml_type! {
    struct OCamlSize for Size { width: OCamlInt, height: OCamlInt }
}

struct Size {
    width: i32,
}

fn main() {}
