//! Only unsafe code can say itself what the values of a marker are.

use ocaml_boxroot::type_support::{check, Constructor, Constructors, Declared, Part};
use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

ocaml_type! {
    struct Marker { text: OCamlString }
}

enum Mine {}

impl Declared for Mine {
    const CONSTRUCTORS: Constructors = &[(0, Constructor::Block(0, 1))];
    const CHECKED: () = check(Self::CONSTRUCTORS, &[(0, 0)], false);
}

impl Part<0, 0, OCamlInt> for Marker {}

fn main() {}
