//! A value may not go to other threads if a part of a part of it may not.

use ocaml_boxroot::{ocaml_type, Boxroot, OCamlAny, OCamlInt};

ocaml_type! {
    struct Record { number: OCamlInt, variant: Option<Variant> }
    enum Variant { Nothing, Something(OCamlAny) }
}

fn on_another_thread<T: Send>(_: T) {}

fn roots(record: Boxroot<Record>) {
    on_another_thread(record)
}

fn main() {}
