//! A root is deleted once.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &DomainLock, root: Boxroot<OCamlString>) {
    root.delete_in(lock);
    drop(root);
}

fn main() {}
