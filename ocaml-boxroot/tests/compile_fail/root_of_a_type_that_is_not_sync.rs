//! A root of a type that only one thread at a time may use stays: there may be another root.

use ocaml_boxroot::Boxroot;
use std::cell::Cell;

fn wrong(root: Boxroot<Cell<u8>>) {
    std::thread::spawn(|| drop(root));
}

fn main() {}
