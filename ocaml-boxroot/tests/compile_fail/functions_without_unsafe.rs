//! Who declares functions promises that OCaml has them with these types.

use ocaml_boxroot::OCamlInt;

ocaml_boxroot::ocaml_functions! {
    fn wrong(n: OCamlInt) -> OCamlInt = "name";
}

fn main() {}
