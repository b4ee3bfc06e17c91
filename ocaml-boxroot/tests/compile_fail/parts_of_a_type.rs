//! The parts of the macro declare what the macro declares, or nothing.

use ocaml_boxroot::{ocaml_declare, ocaml_type, OCamlInt, OCamlString};

ocaml_type! {
    struct Marker { text: OCamlString }
}

// Again, and as another type.
ocaml_declare! { [] [pub] Marker ordinary (Marker [number OCamlInt]) }

// Forms that are no records.
ocaml_declare! { [] [pub] Two record (A [a OCamlInt]) (B [b OCamlInt] [c OCamlInt]) }
ocaml_declare! { [] [pub] Unboxed unboxed (A [a OCamlInt] [b OCamlInt]) }

fn main() {}
