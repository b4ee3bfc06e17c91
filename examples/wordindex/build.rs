use ocaml_boxroot_sys::build::{Error, OCaml, Program};

fn main() -> Result<(), Error> {
    println!("cargo::rustc-env=OCAML_WHERE={}", OCaml::find()?.where_path().display());
    Program::new().library("threads").module("ocaml/wordindex.ml").bind("wordindex").link()
}
