//! Beginning a use needs `unsafe`, the promise that OCaml knows the thread.

use ocaml_boxroot::sys::uses;

fn main() {
    let _ = uses::begin();
    let _ = uses::forbid();
}
