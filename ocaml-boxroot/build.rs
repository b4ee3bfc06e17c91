//! Compiles `src/c`, against the OCaml that `ocaml-boxroot-sys` found. Without OCaml (docs.rs) there is nothing to do.

use std::{env, error::Error, fs, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ocaml-boxroot: cannot compile the C sources: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src/c");
    let Some(ocaml) = env::var_os("DEP_OCAML_BOXROOT_OCAML_WHERE") else {
        return Ok(());
    };
    // Tells build scripts that want to link a runtime that there is one already.
    if env::var_os("DEP_OCAML_BOXROOT_RUNTIME").is_some() {
        println!("cargo:runtime=1");
    }
    let mut compiler = cc::Build::new();
    compiler.include(ocaml).opt_level(2);
    if env::var_os("CARGO_FEATURE_DEBUG_CHECKS").is_some() {
        compiler.define("OBX_DEBUG_CHECKS", None);
    }
    for entry in fs::read_dir("src/c")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            compiler.file(path);
        }
    }
    Ok(compiler.try_compile("ocaml_boxroot_shim")?)
}
