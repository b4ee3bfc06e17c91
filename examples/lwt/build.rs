use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .library("threads")
        .package("lwt.unix")
        .module("ocaml/rust_lwt.ml")
        .module("ocaml/app.ml")
        .bind("app")
        .link()
}
