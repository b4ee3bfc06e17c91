//! The content of a box is Sync, because every thread can read it.

use ocaml_boxroot::{OCamlBox, Value};
use std::cell::Cell;

fn wrong<'l>(value: Value<'l, OCamlBox<Cell<i32>>>) -> &'l Cell<i32> {
    value.get()
}

fn main() {}
