//! Types that are not declared in the right form.

use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString};

ocaml_type! { struct WithoutARustType for { n: OCamlInt } }
ocaml_type! { struct Path for crate::Rust { n: OCamlInt } }
ocaml_type! { struct Tuple(OCamlInt, OCamlString); }
ocaml_type! { struct WithoutFields; }
ocaml_type! { struct Empty {} }
ocaml_type! { struct Bounds<A: Copy> { item: A } }
ocaml_type! { struct ParametersOfRust<A> for Rust<A> { item: A } }
ocaml_type! { struct WithoutAType { n: OCamlInt, text } }
ocaml_type! { struct Semicolons { n: OCamlInt; text: OCamlString } }
ocaml_type! { struct Public { pub n: OCamlInt } }
ocaml_type! { unboxed struct TwoFields { n: OCamlInt, text: OCamlString } }
ocaml_type! { unboxed enum Variant { A(OCamlInt) } }
ocaml_type! { #[derive(Debug)] struct Attribute { n: OCamlInt } }
ocaml_type! { union Union { n: OCamlInt } }
ocaml_type! { enum Numbers { A = 1, B = 2 } }
ocaml_type! { enum WithoutAComma { A(OCamlInt) B } }
ocaml_type! { enum Bars { A | B } }
ocaml_type! { enum Of { A of OCamlInt } }
ocaml_type! { enum Parentheses { A(), B } }
ocaml_type! { enum Names { A(n: OCamlInt) } }
ocaml_type! { enum LabelWithoutAType { A { n } } }
ocaml_type! { enum AttributeOfAConstructor { #[default] A } }
ocaml_type! {
    enum Nine {
        A(OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt),
    }
}

fn main() {}
