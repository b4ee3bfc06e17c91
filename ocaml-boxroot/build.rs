//! Compiles what cannot be written in Rust, against the OCaml that
//! `ocaml-boxroot-sys` found. Without OCaml (docs.rs) there is nothing to do.

use std::{env, process::ExitCode};

const SOURCES: [&str; 8] = [
    "src/c/call.c",
    "src/c/alloc.c",
    "src/c/closure.c",
    "src/c/bigarray.c",
    "src/c/threads.c",
    "src/c/runtime.c",
    "src/c/start.c",
    "src/c/stack.c",
];

fn main() -> ExitCode {
    for source in SOURCES.iter().chain(&["src/c/obx.h"]) {
        println!("cargo:rerun-if-changed={source}");
    }
    let Some(ocaml) = env::var_os("DEP_OCAML_BOXROOT_OCAML_WHERE") else {
        return ExitCode::SUCCESS;
    };
    // Tells build scripts that want to link a runtime that there is one already.
    if env::var_os("DEP_OCAML_BOXROOT_RUNTIME").is_some() {
        println!("cargo:runtime=1");
    }
    let mut compiler = cc::Build::new();
    compiler.files(SOURCES).include(ocaml).opt_level(2);
    match compiler.try_compile("ocaml_boxroot_shim") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ocaml-boxroot: cannot compile the C sources: {error}");
            ExitCode::FAILURE
        }
    }
}
