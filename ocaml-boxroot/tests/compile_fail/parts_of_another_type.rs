//! What safe code does with the parts of the macro has the types and the form of the marker's declaration.

use ocaml_boxroot::type_support::{parts, read};
use ocaml_boxroot::{
    ocaml_convert, ocaml_fields, ocaml_type, DomainLock, OCamlFloat, OCamlInt, OCamlString, Value,
};

ocaml_type! {
    struct Marker { text: OCamlString }
    struct Flat { number: OCamlFloat }
    enum Variant { Text(OCamlString), Number(OCamlInt) }
}

struct Number {
    text: i64,
}

ocaml_convert! { struct Marker [Number] text }
ocaml_fields! { Marker [] text: OCamlInt, }

fn wrong<'l>(marker: Value<'l, Marker>, variant: Value<'l, Variant>, lock: &'l DomainLock) {
    let _: Result<i64, _> = read::<_, 0, OCamlInt, _>(marker, lock);
    let _: Result<String, _> = read::<_, 1, OCamlString, _>(marker, lock);
    let _: Result<String, _> = parts::<_, 1>(variant).unwrap().read::<0, OCamlString, _>(lock);
}

fn main() {}
