//! A value ends where the lock is released.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    lock.release(|| ());
    println!("{}", value.to_string_lossy());
}

fn main() {}
