//! The type of a named value is a promise.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &mut DomainLock) -> Option<Boxroot<OCamlString>> {
    lock.named("an integer")
}

fn main() {}
