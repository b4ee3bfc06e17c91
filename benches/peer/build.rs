//! Compiles the benchmark programs against the C header of the registry crate.

#[path = "../../ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "../../ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;
#[path = "../build/program.rs"]
mod program;

use std::{env, error::Error, path::Path, path::PathBuf, process::Command, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nboxroot-peer: {error}\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for variable in find_ocaml::VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let header = peer_folder()?.join("vendor").join("boxroot");
    program::link(&find_ocaml::find()?, Path::new(".."), &header, "bins")
}

/// Where cargo keeps the sources of the registry crate.
fn peer_folder() -> Result<PathBuf, Box<dyn Error>> {
    let cargo = env::var("CARGO")?;
    let output = Command::new(cargo).args(["metadata", "--format-version", "1"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let end = "/Cargo.toml\"";
    text.split("\"manifest_path\":\"")
        .filter_map(|rest| Some(&rest[..rest.find(end)?]))
        .find(|folder| folder.contains("/ocaml-boxroot-sys-"))
        .map(PathBuf::from)
        .ok_or_else(|| "cargo metadata does not know ocaml-boxroot-sys".into())
}
