use ocaml_boxroot_sys::build::{Bindings, Error};

fn main() -> Result<(), Error> {
    Bindings::new()
        .cmi_dir("../../.shapes.objs/byte")
        .module("Shapes")
        .glue("../../shapes_bindings.ml")
        .write()
}
