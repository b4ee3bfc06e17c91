//! A type of a declaration is written out, and is not inferred where it is used.

use ocaml_boxroot::{export, ocaml_functions, ocaml_type, Error, OCamlInt};

enum Variant {
    Argument(i64),
}

struct Record {
    field: i64,
}

ocaml_type! {
    enum OCamlVariant for Variant { Argument(_) }
    struct OCamlRecord for Record { field: Option<_> }
}

ocaml_functions! {
    unsafe {
        fn argument(text: _) -> OCamlInt = "argument";
        fn result() -> _ = "result";
    }
}

export! {
    unsafe fn exported(lock, text: _ as String) -> Result<_ as i64, Error> {
        Ok(text.len() as i64)
    }
}

fn main() {}
