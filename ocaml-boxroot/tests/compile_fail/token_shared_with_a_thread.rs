//! A token stays on its thread: it is not Sync.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) {
    std::thread::scope(|scope| {
        scope.spawn(|| root.get(lock).to_string_lossy());
    });
}

fn main() {}
