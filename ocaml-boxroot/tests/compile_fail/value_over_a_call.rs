//! A value ends where OCaml is called.

use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlString};

fn wrong(lock: &mut DomainLock, f: &Boxroot<Function<(OCamlString,), ()>>, root: &Boxroot<OCamlString>) {
    let value = root.get(lock);
    let _ = f.call(lock, root);
    println!("{}", value.to_string_lossy());
}

fn main() {}
