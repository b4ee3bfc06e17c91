//! Nobody knows whether the value may leave its thread.

use ocaml_boxroot::{Boxroot, OCamlAny};

fn send<T: Send>(_: T) {}

fn wrong(root: Boxroot<OCamlAny>) {
    send(root)
}

fn main() {}
