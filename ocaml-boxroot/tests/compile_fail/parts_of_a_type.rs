//! The conversions of a record are those of its declaration.

use ocaml_boxroot::{
    ocaml_record, ocaml_type, Boxroot, DomainLock, Error, FromOCaml, OCamlInt, OCamlString, ToOCaml,
    Value,
};

ocaml_type! {
    struct Marker { field: OCamlString }
}

struct Seven;

impl ToOCaml<OCamlInt> for Seven {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlInt>, Error> {
        7.to_ocaml(lock)
    }
}

impl FromOCaml<OCamlString> for Seven {
    fn from_ocaml<'l>(_: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, Error> {
        Ok(Seven)
    }
}

struct Number {
    field: Seven,
}

const OCAML_IS_FLAT: bool = false;

ocaml_record! { @convert Marker [Number] field: OCamlInt, }

fn main() {}
