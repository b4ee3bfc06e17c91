//! Functions for OCaml that are not declared in the right form.

use ocaml_boxroot::{export, Error, OCamlInt};

export! {
    unsafe fn right(_lock, n: OCamlInt as i64) -> Result<OCamlInt as i64, Error> { Ok(n) }
    unsafe fn without_a_token() -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    unsafe fn with_a_typed_token(n: OCamlInt) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    unsafe fn without_a_type(lock, n) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    unsafe fn without_a_result(lock, n: OCamlInt as i64) { println!("{n}") }
}

export! {
    unsafe fn without_an_error(lock, n: OCamlInt as i64) -> Result<OCamlInt as i64> { Ok(n) }
}

export! {
    unsafe fn without_result(lock, n: OCamlInt as i64) -> OCamlInt { n }
}

export! {
    const NUMBER: i64 = 1;
}

fn main() {}
