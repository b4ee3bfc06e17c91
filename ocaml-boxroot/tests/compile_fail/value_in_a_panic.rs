//! A value does not leave `attach` as the payload of a panic.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(root: &Boxroot<OCamlString>) {
    let _ = DomainLock::attach(|lock| std::panic::panic_any(root.get(lock)));
}

fn main() {}
