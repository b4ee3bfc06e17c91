//! Reading needs the lock.

use ocaml_boxroot::{Boxroot, OCamlString};

fn wrong(root: &Boxroot<OCamlString>) -> String {
    root.get().to_string_lossy()
}

fn main() {}
