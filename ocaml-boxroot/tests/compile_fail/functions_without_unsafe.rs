//! Declaring OCaml functions needs `unsafe`, the promise that they have these types.

use ocaml_boxroot::OCamlInt;

ocaml_boxroot::ocaml_functions! {
    fn wrong(n: OCamlInt) -> OCamlInt = "name";
}

fn main() {}
