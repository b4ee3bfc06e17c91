//! Reading an exception's argument needs `unsafe`, the promise that it has this type.

use ocaml_boxroot::{DomainLock, Exception, OCamlString};

fn wrong(lock: &DomainLock, exception: &Exception) -> bool {
    exception.argument::<OCamlString>(lock, 0).is_ok()
}

fn main() {}
