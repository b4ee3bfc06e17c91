use ocaml_boxroot_sys::build::{Bindings, Error};

fn main() -> Result<(), Error> {
    Bindings::new()
        .cmi_dir("../.with_rust.eobjs/byte")
        .module("Dune__exe__Words")
        .glue("../rust_bindings.ml")
        .write()
}
