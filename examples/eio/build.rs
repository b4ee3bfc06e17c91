use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .library("threads")
        .package("eio_main")
        .module("ocaml/rust_eio.ml")
        .module("ocaml/app.ml")
        .bind("app")
        .link()
}
