//! The promise of `export!` is not one for whatever the body does.

use ocaml_boxroot::{sys, Error, OCamlInt};

ocaml_boxroot::export! {
    unsafe fn wrong(_lock, n: OCamlInt) -> Result<OCamlInt as i32, Error> {
        sys::boxroot_teardown();
        Ok(1)
    }
}

fn main() {}
