//! Compiles the OCaml side of a package into one object that is linked into its test:
//! `../stress.ml`, its `program.ml`, the words of our guide, and a runtime.

use ocaml_boxroot_sys::build::{OCaml, Program};
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "\nboxroot: {error}\n\nRun `make clients`: it installs OCaml if there is none.\n"
            );
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let version = OCaml::find()?.version().to_string();
    if version.starts_with('4') && std::env::var("CARGO_PKG_NAME")?.ends_with("-interop") {
        return Err(format!("ocaml-interop needs OCaml 5, and this is {version}").into());
    }
    Ok(Program::new()
        .library("threads")
        .module("../stress.ml")
        .module("../words/words.ml")
        .module("program.ml")
        .link_into("tests")?)
}
