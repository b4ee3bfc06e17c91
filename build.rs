//! Compiles the OCaml side of the tests, examples and benchmarks, each with a runtime, into one
//! object that is linked into each of them. No other build script
//! in the workspace compiles OCaml modules of ours.
//!
//! `BOXROOT_RUNTIME_VARIANT=d` links OCaml's debug runtime.

#[path = "ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;
#[path = "benches/build/program.rs"]
mod program;

use std::{env, error::Error, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nboxroot: {error}\n\nRun `make test` or `make demo`: they install OCaml if there is none.\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=BOXROOT_RUNTIME_VARIANT");
    for variable in find_ocaml::VARIABLES {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let ocaml = find_ocaml::find()?;
    let out = ocaml_object::out_dir()?;
    println!("cargo::rustc-check-cfg=cfg(ocaml5)");
    println!("cargo::rustc-check-cfg=cfg(cplusplus)");
    println!("cargo::rustc-env=OCAML_WHERE={}", ocaml.where_path.display());
    let ocaml5 = !ocaml.version.starts_with('4');
    if ocaml5 {
        println!("cargo::rustc-cfg=ocaml5");
    }

    let multicore = if ocaml5 { "multicore_5.ml" } else { "multicore_4.ml" };
    ocaml_program(&ocaml, &out, "tests", "tests/ocaml", &[multicore, "testlib.ml"])?;
    ocaml_program(&ocaml, &out, "examples", "examples/ocaml", &["wordindex.ml"])?;
    for library in ocaml_object::native_c_libraries(&ocaml)? {
        println!("cargo::rustc-link-arg-tests=-l{library}");
        println!("cargo::rustc-link-arg-examples=-l{library}");
    }

    program::compile(Path::new("benches"), Path::new("boxroot-c/include"), "benches")?;

    let mut c = cc::Build::new();
    c.file("tests/c/stubs.c")
        .file("boxroot-c/test/test_pool.c")
        .file("boxroot-c/test/test_domain.c");
    for file in ["tests/c", "boxroot-c/test", "boxroot-c/src", "boxroot-c/include"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let include = ["boxroot-c/include", "boxroot-c/src"];
    c.includes(include).include(&ocaml.where_path).opt_level(2).warnings(false);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-tests={}", object.display());
    }

    // The C++ pointer is tested where there is a C++ compiler.
    let mut cpp = cc::Build::new();
    cpp.cpp(true).std("c++17").file("tests/c/pointer.cpp").includes(include);
    cpp.include(&ocaml.where_path).warnings(false).cpp_link_stdlib(None);
    match cpp.try_compile_intermediates() {
        Ok(objects) => {
            for object in objects {
                println!("cargo::rustc-link-arg-tests={}", object.display());
            }
            println!("cargo::rustc-link-arg-tests=-lstdc++");
            println!("cargo::rustc-cfg=cplusplus");
        }
        Err(error) => println!("cargo::warning=the C++ pointer is not tested: {error}"),
    }
    Ok(())
}

/// Compiles modules of one folder into one object, for one kind of target.
fn ocaml_program(
    ocaml: &find_ocaml::OCaml,
    out: &Path,
    kind: &str,
    folder: &str,
    modules: &[&str],
) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    // Compiled from a copy, because ocamlopt leaves its files beside the sources.
    let copies = out.join(kind);
    fs::create_dir_all(&copies)?;
    let mut arguments = Vec::new();
    let variant = env::var("BOXROOT_RUNTIME_VARIANT").unwrap_or_default();
    if !variant.is_empty() {
        arguments.extend(["-runtime-variant", &variant]);
    }
    for module in modules {
        // multicore_5.ml is the module Multicore of OCaml 5.
        let name = module.replace("_4.ml", ".ml").replace("_5.ml", ".ml");
        let source = Path::new(folder).join(module);
        fs::copy(&source, copies.join(&name)).map_err(|e| format!("{}: {e}", source.display()))?;
        arguments.push(name.leak());
    }
    let object = ocaml_object::compile(ocaml, &copies, "program", &arguments)?;
    println!("cargo::rustc-link-arg-{kind}={}", object.display());
    Ok(())
}
