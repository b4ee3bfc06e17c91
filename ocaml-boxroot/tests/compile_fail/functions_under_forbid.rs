//! A promise is unsafe code.

#![forbid(unsafe_code)]

use ocaml_boxroot::OCamlInt;

ocaml_boxroot::ocaml_functions! {
    unsafe {
        fn refused(n: OCamlInt) -> OCamlInt = "name";
    }
}

fn main() {}
