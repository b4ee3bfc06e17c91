//! A value ends where the collector may run.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlString};

fn wrong(lock: &mut DomainLock, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    let _ = lock.alloc_string("the collector may run");
    println!("{}", value.to_string_lossy());
}

fn main() {}
