//! What makes an argument from OCaml's value is unsafe.

use ocaml_boxroot::{export_argument, DomainLock, Error, OCamlInt, OCamlString};

fn forged(lock: &mut DomainLock, raw: isize) -> Result<i64, Error> {
    drop(export_argument!(take lock forged raw OCamlString));
    Ok(export_argument!(take lock forged raw OCamlInt as i64))
}

fn main() {}
