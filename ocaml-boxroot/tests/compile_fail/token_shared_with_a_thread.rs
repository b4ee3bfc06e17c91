//! Nor is it Sync.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) {
    std::thread::scope(|scope| {
        scope.spawn(|| root.get(lock).to_text());
    });
}

fn main() {}
