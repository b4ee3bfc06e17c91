//! A root of a value of unknown type is not Send: the value's type may not allow it.

use ocaml_boxroot::{Boxroot, OCamlAny};

fn send<T: Send>(_: T) {}

fn wrong(root: Boxroot<OCamlAny>) {
    send(root)
}

fn main() {}
