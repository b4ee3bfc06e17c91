//! Two constructors of which a value could be both.

#![forbid(unsafe_code)]

use ocaml_boxroot::type_support::{Constructor, Declared};
use ocaml_boxroot::{bound_type, ocaml_items, OCamlInt, OCamlString};

// The first field of a block may be the hash of the other constructor.
bound_type! { //~ E0080 two constructors have the same form
    pub variant Both {
        A block 0 (0 a0: OCamlInt, 1 a1: OCamlString),
        B tagged 5 (0 a0: OCamlString),
    }
}
const _: () = <Both as Declared>::CHECKED;
bound_type! { //~ E0080 two constructors have the same form
    pub variant BothToo { B tagged 5 (0 a0: OCamlInt), A block 0 (0 a0: OCamlInt, 1 a1: OCamlInt) }
}
const _: () = <BothToo as Declared>::CHECKED;

// OCaml's integers have one bit less, so these would be 0 and 0.
ocaml_items! { //~ E0080 a constructor's number is none of OCaml's integers
    [] pub Zero []
    constructors { &[(0, Constructor::Constant(0)), (1, Constructor::Constant(isize::MIN))] }
    float { false } unboxed false parts []
}
const _: () = <Zero as Declared>::CHECKED;
ocaml_items! { //~ E0080 a constructor's number is none of OCaml's integers
    [] pub Hash []
    constructors { &[(0, Constructor::Tagged(0, 1)), (1, Constructor::Tagged(isize::MIN, 1))] }
    float { false } unboxed false
    parts [(0 0 [] OCamlInt) (1 0 [] OCamlString)]
}
const _: () = <Hash as Declared>::CHECKED;

fn main() {}
