//! Compiles the OCaml side of a package, `../stress.ml` and its `program.ml`, with a runtime, into
//! one object that is linked into its test.

#[allow(dead_code)] // not all that it finds is needed here
#[path = "../../ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "../../ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;

use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nboxroot: {error}\n\nRun `make test-interop`: it installs OCaml if there is none.\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for variable in find_ocaml::VARIABLES {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let ocaml = find_ocaml::find()?;
    if ocaml.version.starts_with('4') && std::env::var("CARGO_PKG_NAME")?.ends_with("-interop") {
        return Err(format!("ocaml-interop needs OCaml 5, and this is {}", ocaml.version).into());
    }
    let sources = [("../stress.ml".into(), "stress.ml"), ("program.ml".into(), "program.ml")];
    ocaml_object::link_into("tests", &ocaml, &ocaml_object::out_dir()?, &[], &sources)
}
