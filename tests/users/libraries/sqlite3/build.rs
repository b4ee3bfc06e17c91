use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new().library("threads").package("sqlite3").bind("sqlite3").link()
}
