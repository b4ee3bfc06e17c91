use ocaml_boxroot_sys::build::{Bindings, Error, OCaml, Program};
use std::process::Command;

fn main() -> Result<(), Error> {
    // These commands stand in for the other build.
    let command = OCaml::find()?.ocamlopt()?;
    let ocamlopt = |arguments: &str| {
        let mut run = Command::new(&command[0]);
        run.args(&command[1..]).args(arguments.split(' ')).current_dir("ocaml");
        let status = run.status().expect("ocamlopt starts: see OCAMLOPT");
        assert!(status.success(), "ocamlopt {arguments}: {status}; its message is above");
    };
    // Cargo does not watch the other build's sources by itself.
    println!("cargo:rerun-if-changed=ocaml/words.ml");
    ocamlopt("-bin-annot -c words.ml");

    Bindings::new()
        .cmi_dir("ocaml")
        .module("words")
        .glue("ocaml/glue.ml")
        .write()?;
    ocamlopt("-linkall -output-complete-obj -o program.o words.ml glue.ml");
    Program::link_object("ocaml/program.o")
}
