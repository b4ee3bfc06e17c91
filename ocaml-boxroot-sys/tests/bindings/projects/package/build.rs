use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .library("threads")
        .package_dir("installed") // only for libraries that are not beside OCaml, nor in OCAMLPATH
        .package("shop.extra")
        .bind("shop")
        .bind("extra")
        .link()
}
