//! Only comments stand before what `ocaml_type!` and its parts declare. Other attributes could remove or change it.

use ocaml_boxroot::type_support::Constructor;
use ocaml_boxroot::{
    ocaml_enum, ocaml_items, ocaml_type, OCamlFloat as Marker, OCamlInt, OCamlString,
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

ocaml_items! {
    [#[cfg(any())]] pub Marker []
    constructors { &[(0, Constructor::Block(0, 1))] } float { false } unboxed false parts [(0 0 [] OCamlInt)]
}

ocaml_enum! { @normalise [[#[cfg(any())]] [pub] Marker [] [] ordinary] [] Number(OCamlInt) }

fn main() {}
