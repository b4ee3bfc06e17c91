//! The parts of the macro declare what the macro declares, or nothing.

use ocaml_boxroot::type_support::Constructor;
use ocaml_boxroot::{ocaml_items, ocaml_type, OCamlInt, OCamlString};

ocaml_type! {
    struct Marker { text: OCamlString }
}

// Again, and as another type.
ocaml_items! {
    [] pub Marker [] constructors { &[(0, Constructor::Block(0, 1))] } float { false } unboxed false parts [(0 0 [] OCamlInt)]
}

fn main() {}
