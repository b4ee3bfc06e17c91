use ocaml_boxroot_sys::build::{Bindings, Error};

fn main() -> Result<(), Error> {
    Bindings::new()
        .cmi_dir("../../.sums.objs/byte")
        .module("Sums")
        .glue("../../sums_bindings.ml")
        .write()
}
