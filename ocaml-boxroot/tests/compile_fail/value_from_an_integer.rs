//! Safe code cannot forge a value.

use ocaml_boxroot::{OCamlString, Value};

fn wrong() -> Value<'static, OCamlString> {
    Value::from_raw(0xdead_beef)
}

fn main() {}
