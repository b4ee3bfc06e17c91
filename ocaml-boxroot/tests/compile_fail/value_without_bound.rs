//! A value has no unbounded lifetime.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString, Value};

fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) -> Value<'static, OCamlString> {
    root.get(lock)
}

fn main() {}
