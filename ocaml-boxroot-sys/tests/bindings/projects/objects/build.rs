use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new().module("ocaml/shapes.ml").bind("shapes").link()
}
