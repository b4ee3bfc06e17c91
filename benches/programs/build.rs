//! Compiles the benchmark programs of `benches/`, OCaml and C, against the header of the
//! `ocaml-boxroot-sys` that the package depends on: ours, or the one in the registry.

#[path = "../../ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "../../ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;

use std::{env, error::Error, path::Path, path::PathBuf, process::Command, process::ExitCode};

const MODULES: [&str; 5] = ["cell.ml", "perm_count.ml", "synthetic.ml", "globroots.ml", "main.ml"];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nboxroot-programs: {error}\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    for variable in find_ocaml::VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let ocaml = find_ocaml::find()?;
    let benches = Path::new("../..");
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed={}", benches.join("c").display());
    let folder = ocaml_object::out_dir()?.join("programs");
    let sources = MODULES.map(|module| (benches.join("ocaml").join(module), module));
    ocaml_object::link_into("bins", &ocaml, &folder, &["-inline", "100"], &sources)?;

    let mut c = cc::Build::new();
    for file in ["cells.c", "measure.c"] {
        c.file(benches.join("c").join(file));
    }
    c.include(include_folder()?).include(&ocaml.where_path).opt_level(2).warnings(false);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    Ok(())
}

/// Ours tells; of the registry crate, cargo knows where it keeps the sources.
fn include_folder() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(folder) = env::var_os("DEP_OCAML_BOXROOT_INCLUDE") {
        return Ok(folder.into());
    }
    let cargo = env::var("CARGO")?;
    let output = Command::new(cargo).args(["metadata", "--format-version", "1"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let end = "/Cargo.toml\"";
    text.split("\"manifest_path\":\"")
        .filter_map(|rest| Some(&rest[..rest.find(end)?]))
        .find(|folder| folder.contains("/ocaml-boxroot-sys-"))
        .map(|folder| Path::new(folder).join("vendor/boxroot"))
        .ok_or_else(|| "cargo metadata does not know ocaml-boxroot-sys".into())
}
