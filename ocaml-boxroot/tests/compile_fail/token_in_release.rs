//! A token is lent to `release`: its closure has none.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    lock.release(|| println!("{}", root.get(lock).to_string_lossy()));
}

fn main() {}
