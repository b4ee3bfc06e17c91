//! Only comments stand before what `ocaml_type!` and its parts declare. Other attributes could remove or change it.

use ocaml_boxroot::{
    ocaml_declare, ocaml_fields, ocaml_type, ocaml_variant, OCamlFloat as Marker, OCamlInt,
    OCamlString,
};

ocaml_type! {
    #[cfg(any())]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    /// A comment.
    #[cfg_attr(all(), cfg(any()))]
    pub polymorphic enum Marker { Number(OCamlInt) }
}

ocaml_type! {
    #[derive(Debug)] unboxed struct Marker { number: OCamlInt }
}

ocaml_type! {
    #[doc::gone]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    struct Field { /** A comment. */ #[cfg(any())] number: OCamlInt, text: OCamlString }
}

ocaml_type! {
    enum Constructor { #[cfg(any())] Number(OCamlInt), Text(OCamlString) }
}

ocaml_type! {
    enum Label { Number { #[cfg(any())] number: OCamlInt, text: OCamlString } }
}

ocaml_declare! { [#[cfg(any())]] [pub] Marker record (Marker [number OCamlInt]) }

ocaml_fields! { Marker [#[cfg(any())]] number: OCamlInt, }

ocaml_variant! { @normalise [[#[cfg(any())]] [pub] Marker [] ordinary] [] Number(OCamlInt) }

fn main() {}
