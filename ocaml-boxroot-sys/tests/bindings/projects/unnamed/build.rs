use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new().module("ocaml/unnamed.ml").bind("unnamed").link()
}
