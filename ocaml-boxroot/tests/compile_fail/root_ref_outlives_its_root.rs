//! A reference to a root ends with it.

use ocaml_boxroot::{Boxroot, OCamlInt, RootRef};

fn wrong(root: Boxroot<OCamlInt>) -> i32 {
    let borrowed: &RootRef<OCamlInt> = &root;
    drop(root);
    std::mem::size_of_val(borrowed) as i32
}

fn main() {}
