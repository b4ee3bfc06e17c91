//! Compiles `src/c/obx.c` against the OCaml that `ocaml-boxroot-sys` found. Does nothing without
//! OCaml (on docs.rs).

use std::{env, error::Error, fs, path::PathBuf, process::ExitCode};

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
    println!("cargo::rustc-check-cfg=cfg(ocaml4)");
    let Some(ocaml) = env::var_os("DEP_OCAML_BOXROOT_OCAML_WHERE") else {
        return Ok(());
    };
    let version = env::var("DEP_OCAML_BOXROOT_OCAML_VERSION").unwrap_or_default();
    if version.starts_with('4') {
        println!("cargo::rustc-cfg=ocaml4");
    }
    // For OCaml::find in build scripts of packages that depend on this one.
    println!("cargo:ocaml_version={version}");
    // Tells build scripts that would link a runtime that one is already linked.
    if env::var_os("DEP_OCAML_BOXROOT_RUNTIME").is_some() {
        println!("cargo:runtime=1");
    }
    let mut compiler = cc::Build::new();
    compiler.include(ocaml).opt_level(2);
    if let Some(include) = env::var_os("DEP_OCAML_BOXROOT_INCLUDE") {
        compiler.include(include);
    }
    if env::var("DEBUG").is_ok_and(|debug| debug == "true") {
        compiler.flag("-g1"); // line numbers without variables, which compile faster
    }
    if env::var_os("CARGO_FEATURE_DEBUG_CHECKS").is_some() {
        compiler.define("OBX_DEBUG_CHECKS", None);
    }
    // The name of an object file is the first thing that users see if they link no runtime
    // (build/main.rs of ocaml-boxroot-sys).
    let prefix = env::var("DEP_OCAML_BOXROOT_OBJECT_PREFIX").unwrap_or_default();
    let source = env::current_dir()?.join("src/c/obx.c");
    let copy = PathBuf::from(env::var("OUT_DIR")?).join(format!("{prefix}obx.c"));
    fs::write(&copy, format!("#include \"{}\"\n", source.display()))?;
    compiler.file(copy);
    Ok(compiler.try_compile("ocaml_boxroot_shim")?)
}
