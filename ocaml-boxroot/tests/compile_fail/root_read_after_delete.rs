//! A root is not used after it was deleted.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &DomainLock, root: Boxroot<OCamlString>) -> String {
    root.delete_in(lock);
    root.get(lock).to_string_lossy()
}

fn main() {}
