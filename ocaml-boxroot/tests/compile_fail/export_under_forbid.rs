//! `export!` is unsafe code, because it stands for a promise.

#![forbid(unsafe_code)]

use ocaml_boxroot::{Error, OCamlInt};

ocaml_boxroot::export! {
    unsafe fn refused(_lock, n: OCamlInt as i32) -> Result<OCamlInt as i32, Error> {
        Ok(n)
    }
}

fn main() {}
