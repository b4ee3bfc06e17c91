//! A marker says once what its values are, also where an attribute removes the second marker.

use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

struct Text {
    text: String,
}

struct Number {
    number: i64,
}

ocaml_type! {
    struct Marker for Text { text: OCamlString }
}

ocaml_type! {
    #[cfg(any())]
    struct Marker for Number { number: OCamlInt }
}

fn main() {}
