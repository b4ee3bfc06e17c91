//! Two constructors, or two fields, with one name.

use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

ocaml_type! {
    enum Constructors { A(OCamlInt), A(OCamlString) }
    enum Labels { A { a: OCamlInt, a: OCamlString } }
    polymorphic enum Hashes { A(OCamlInt), r#A(OCamlString) }
    enum RawConstructors { B(OCamlInt), r#B(OCamlString) }
    struct Fields { a: OCamlInt, a: OCamlString }
}

fn main() {}
