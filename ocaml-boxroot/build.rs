//! Compiles `src/shim.c`, the few lines that cannot be written in Rust, against the OCaml
//! that `ocaml-boxroot-sys` found. Without OCaml (docs.rs) there is nothing to do.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=src/shim.c");
    let Some(ocaml) = env::var_os("DEP_OCAML_BOXROOT_OCAML_WHERE") else {
        return ExitCode::SUCCESS;
    };
    let mut compiler = cc::Build::new();
    compiler.file("src/shim.c").include(ocaml).opt_level(2);
    match compiler.try_compile("ocaml_boxroot_shim") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ocaml-boxroot: cannot compile src/shim.c: {error}");
            ExitCode::FAILURE
        }
    }
}
