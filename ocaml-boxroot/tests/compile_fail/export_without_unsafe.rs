//! Exporting a function needs `unsafe`, the promise that OCaml declares it with these types.

use ocaml_boxroot::{Error, OCamlInt};

ocaml_boxroot::export! {
    fn wrong(lock, n: OCamlInt) -> Result<OCamlInt, Error> {
        n.clone_in(lock)
    }
}

fn main() {}
