//! A conversion copies: it cannot keep the value that it is given.

use ocaml_boxroot::{FromOCaml, OCamlString, Value};

struct Kept<'l>(Value<'l, OCamlString>);

impl<'l> FromOCaml<OCamlString> for Kept<'l> {
    fn from_ocaml(value: Value<'_, OCamlString>) -> Self {
        Kept(value)
    }
}

fn main() {}
