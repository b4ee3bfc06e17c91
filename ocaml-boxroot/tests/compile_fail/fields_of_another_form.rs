//! A field is one of a record, which is flat or not.

use ocaml_boxroot::type_support::field;
use ocaml_boxroot::{ocaml_type, Field, OCamlFloat, OCamlString};

ocaml_type! {
    struct Flat { number: OCamlFloat }
    enum Variant { Text(OCamlString), Nothing }
    unboxed struct Unboxed { text: OCamlString }
}

const FLAT: Field<Flat, OCamlFloat, false> = field::<_, 0, _, false>("");
const VARIANT: Field<Variant, OCamlString, false> = field::<_, 0, _, false>("");
const UNBOXED: Field<Unboxed, OCamlString, false> = field::<_, 0, _, false>("");

fn main() {}
