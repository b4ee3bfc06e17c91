//! A value stays on its thread.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    std::thread::scope(|scope| {
        scope.spawn(|| println!("{}", value.to_string_lossy()));
    });
}

fn main() {}
