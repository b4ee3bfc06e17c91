//! Forms that OCaml does not have.

use ocaml_boxroot::type_support::{Constructor, Declared};
use ocaml_boxroot::{bound_type, ocaml_items, OCamlInt, OCamlString};

// A part that the block does not have, two with one number, and one that has no type.
bound_type! { pub record Beyond { 1 a: OCamlInt } }
const _: () = <Beyond as Declared>::CHECKED;
bound_type! { pub record Twice { 0 a: OCamlInt, 0 b: OCamlString } }
const _: () = <Twice as Declared>::CHECKED;
ocaml_items! {
    [] pub Less [] constructors { &[(0, Constructor::Block(0, 2))] } float { false } unboxed false parts [(0 0 [] OCamlInt)]
}
const _: () = <Less as Declared>::CHECKED;

// Two constructors that look the same, a constructor's tag that is another block's, and a record that is also something else.
bound_type! { pub variant Same { A block 0 (0 a: OCamlInt), B block 0 (0 a: OCamlString) } }
const _: () = <Same as Declared>::CHECKED;
bound_type! { pub variant Closure { A block 247 (0 a: OCamlInt) } }
const _: () = <Closure as Declared>::CHECKED;
ocaml_items! {
    [] pub Two []
    constructors { &[(0, Constructor::Unboxed), (1, Constructor::Constant(0))] } float { false } unboxed false
    parts [(0 0 [] OCamlInt)]
}
const _: () = <Two as Declared>::CHECKED;

// An unboxed type that says that it is not.
ocaml_items! {
    [] pub Hidden [] constructors { &[(0, Constructor::Unboxed)] } float { false } unboxed false parts [(0 0 [] OCamlInt)]
}
const _: () = <Hidden as Declared>::CHECKED;

fn main() {}
