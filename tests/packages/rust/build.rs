use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new().module("src/words.ml").library("threads").link()
}
