//! A value does not leave the section in which the lock is held.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(root: &Boxroot<OCamlString>) {
    let value = DomainLock::attach(|lock| root.get(lock));
    drop(value);
}

fn main() {}
