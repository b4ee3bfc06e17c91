use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .library("threads")
        .package("yojson")
        .bind("yojson")
        .only(["yojson.Safe"]) // one of its modules
        .link()
}
