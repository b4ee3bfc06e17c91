//! A conversion copies: it cannot keep the value that it is given.

use ocaml_boxroot::{DomainLock, Error, FromOCaml, OCamlString, Value};

struct Kept<'k>(Value<'k, OCamlString>);

impl<'k> FromOCaml<OCamlString> for Kept<'k> {
    fn convert_from<'l>(value: Value<'l, OCamlString>, _: &'l DomainLock) -> Result<Self, Error> {
        Ok(Kept(value))
    }
}

fn main() {}
