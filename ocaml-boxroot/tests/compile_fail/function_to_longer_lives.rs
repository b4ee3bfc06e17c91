//! A function that gives results with a short life gives no others.

use ocaml_boxroot::{Boxroot, Function};

struct Name<'a>(&'a str);

fn lengthen<'a>(f: Boxroot<Function<(), Name<'a>>>) -> Boxroot<Function<(), Name<'static>>> {
    f
}

fn main() {}
