use ocaml_boxroot_sys::build::{Error, Program};

fn main() -> Result<(), Error> {
    Program::new()
        .library("threads")
        .package("lwt.unix")
        .bind("lwt")
        .bind("lwt_unix")
        .bind("lwt_main")
        .link()
}
