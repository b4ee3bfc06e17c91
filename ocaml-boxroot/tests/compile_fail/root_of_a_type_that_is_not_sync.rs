//! A root of a type that is not Sync is not Send: the value may have another root on this thread.

use ocaml_boxroot::Boxroot;
use std::cell::Cell;

fn wrong(root: Boxroot<Cell<u8>>) {
    std::thread::spawn(|| drop(root));
}

fn main() {}
