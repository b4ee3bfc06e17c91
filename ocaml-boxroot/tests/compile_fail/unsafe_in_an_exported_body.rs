//! The `unsafe` of `export!` does not allow unsafe code in the body.

use ocaml_boxroot::{sys, Error, OCamlInt};

ocaml_boxroot::export! {
    unsafe fn wrong(_lock, n: OCamlInt) -> Result<OCamlInt as i32, Error> {
        sys::boxroot_teardown();
        Ok(1)
    }
}

fn main() {}
