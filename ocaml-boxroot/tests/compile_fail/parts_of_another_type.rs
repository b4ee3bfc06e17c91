//! What safe code does with the parts of the macro has the types and the form of the marker's declaration.

use ocaml_boxroot::type_support::{make, open, part, parts};
use ocaml_boxroot::{
    ocaml_type, Boxroot, DomainLock, OCamlFloat, OCamlInt, OCamlString, Value,
};

ocaml_type! {
    struct Marker { text: OCamlString }
    struct Flat { number: OCamlFloat }
    enum Variant { Text(OCamlString), Number(OCamlInt) }
}

fn wrong<'l>(marker: Value<'l, Marker>, variant: Value<'l, Variant>, lock: &'l DomainLock) {
    let marker = parts::<_, 0>(&open(marker)).unwrap();
    let _: Result<i64, _> = marker.read::<0, OCamlInt, _>("text", lock);
    let _: Result<String, _> = marker.read::<1, OCamlString, _>("text", lock);
    let _: Result<String, _> =
        parts::<_, 1>(&open(variant)).unwrap().read::<0, OCamlString, _>("text", lock);
}

fn make_wrong(lock: &mut DomainLock) {
    let number = part::<Variant, 1, 0, _, _>(&1, "number");
    let _: Boxroot<Variant> = make::<_, 0, _>(lock, &[number]).unwrap();
}

fn main() {}
