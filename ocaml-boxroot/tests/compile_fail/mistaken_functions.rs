//! Functions of OCaml that are not declared in the right form.

use ocaml_boxroot::{ocaml_functions, OCamlInt, OCamlString};

ocaml_functions! {
    unsafe {
        fn right(n: OCamlInt) -> OCamlInt = "right";
        fn without_a_name(n: OCamlInt) -> OCamlInt;
    }
}

ocaml_functions! {
    unsafe { fn without_a_name_at_the_end(n: OCamlInt) -> OCamlInt }
}

ocaml_functions! {
    unsafe { fn name_without_quotes(n: OCamlInt) -> OCamlInt = name; }
}

ocaml_functions! {
    unsafe { fn without_semicolon(n: OCamlInt) -> OCamlInt = "name" }
}

ocaml_functions! {
    unsafe { fn without_a_type(n, text: OCamlString) -> OCamlInt = "name"; }
}

ocaml_functions! {
    unsafe { fn without_a_result(n: OCamlInt) -> = "name"; }
}

ocaml_functions! {
    unsafe { fn with_a_body(n: OCamlInt) -> OCamlInt { n } }
}

ocaml_functions! {
    unsafe { fn with_parameters<T>(n: T) -> T = "name"; }
}

ocaml_functions! {
    unsafe { unsafe fn twice(n: OCamlInt) -> OCamlInt = "name"; }
}

ocaml_functions! {
    unsafe {}
    fn outside(n: OCamlInt) -> OCamlInt = "name";
}

fn main() {}
