//! A function does not carry a type to other threads that stays on its own.

use ocaml_boxroot::{Boxroot, Function, OCamlInt};
use std::rc::Rc;

fn wrong(function: Boxroot<Function<(OCamlInt,), Rc<u8>>>) {
    std::thread::spawn(|| drop(function));
}

fn main() {}
