//! Compiles the OCaml side of a package, `../stress.ml` and its `program.ml`, with a runtime, into
//! one object that is linked into its test.

#[allow(dead_code)] // not all that it finds is needed here
#[path = "../../ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "../../ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;

use std::{error::Error, fs, path::Path, process::ExitCode};

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
    let out = ocaml_object::out_dir()?;
    // Compiled from a copy, because ocamlopt leaves its files beside the sources.
    for source in ["../stress.ml", "program.ml"].map(Path::new) {
        println!("cargo:rerun-if-changed={}", source.display());
        let name = source.file_name().ok_or("a source is a file")?;
        fs::copy(source, out.join(name)).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    let object = ocaml_object::compile(&ocaml, &out, "linked", &["stress.ml", "program.ml"])?;
    println!("cargo::rustc-link-arg-tests={}", object.display());
    for library in ocaml_object::native_c_libraries(&ocaml)? {
        println!("cargo::rustc-link-arg-tests=-l{library}");
    }
    Ok(())
}
