//! OCaml tells the constructors of a polymorphic variant apart by their hashes.

use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

#[allow(non_camel_case_types)]
enum Variant {
    azdwbie(String),
    c7diagq(i64),
}

ocaml_type! {
    polymorphic enum OCamlVariant for Variant { azdwbie(OCamlString), c7diagq(OCamlInt) }
}

fn main() {}
