//! `ocaml_functions!` is unsafe code, because it stands for a promise.

#![forbid(unsafe_code)]

use ocaml_boxroot::OCamlInt;

ocaml_boxroot::ocaml_functions! {
    unsafe {
        fn refused(n: OCamlInt) -> OCamlInt = "name";
    }
}

fn main() {}
