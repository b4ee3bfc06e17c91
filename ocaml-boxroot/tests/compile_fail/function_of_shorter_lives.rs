//! A function that needs arguments with a long life, and may keep them, takes no others.

use ocaml_boxroot::{Boxroot, Function};

struct Name<'a>(&'a str);

fn shorten<'a>(f: Boxroot<Function<(Name<'static>,), ()>>) -> Boxroot<Function<(Name<'a>,), ()>> {
    f
}

fn main() {}
