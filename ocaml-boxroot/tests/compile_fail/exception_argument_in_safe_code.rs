//! Who reads an argument promises its type.

use ocaml_boxroot::{DomainLock, Exception, OCamlString};

fn wrong(lock: &DomainLock, exception: &Exception) -> bool {
    exception.argument::<OCamlString>(lock, 0).is_ok()
}

fn main() {}
