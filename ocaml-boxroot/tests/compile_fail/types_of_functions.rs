//! The macro's own type parameter is not taken for a type of the program with this name.

use ocaml_boxroot::{ocaml_functions, OCamlInt};

enum OCamlResult {}

ocaml_functions! {
    unsafe {
        fn argument(result: OCamlResult) -> OCamlInt = "argument";
        fn result() -> OCamlResult = "result";
    }
}

fn main() {}
