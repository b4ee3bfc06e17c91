//! Only unsafe code can say itself what the values of a marker are.

use ocaml_boxroot::type_support::{Declared, Form, Layout, Part};
use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

ocaml_type! {
    struct Marker { text: OCamlString }
}

enum Mine {}

impl Declared for Mine {
    const FORM: Form = &[("Mine", &["number"])];
    const LAYOUT: Layout = Layout::Record;
}

impl Part<0, 0, OCamlInt> for Marker {}

fn main() {}
