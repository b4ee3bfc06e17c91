//! Collections do not give values with a longer life than those that they were made of.

use ocaml_boxroot::{Boxroot, OCamlBox, OCamlMap, OCamlSeq, OCamlSet};

struct Name<'a>(&'a str);

fn map<'a>(map: Boxroot<OCamlMap<(), Name<'a>>>) -> Boxroot<OCamlMap<(), Name<'static>>> {
    map
}

fn keys<'a>(map: Boxroot<OCamlMap<Name<'a>, ()>>) -> Boxroot<OCamlMap<Name<'static>, ()>> {
    map
}

fn set<'a>(set: Boxroot<OCamlSet<Name<'a>>>) -> Boxroot<OCamlSet<Name<'static>>> {
    set
}

fn seq<'a>(seq: Boxroot<OCamlSeq<Name<'a>>>) -> Boxroot<OCamlSeq<Name<'static>>> {
    seq
}

fn owned<'a>(value: Boxroot<OCamlBox<&'a str>>) -> Boxroot<OCamlBox<&'static str>> {
    value
}

fn main() {}
