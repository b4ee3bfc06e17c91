//! Compiles the OCaml side of the tests and examples, each with a runtime, into one object that is
//! linked into each of them. (The benchmarks' is compiled by `benches/programs/build.rs`.)
//!
//! `BOXROOT_RUNTIME_VARIANT=d` links OCaml's debug runtime.

#[path = "ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;

use std::{env, error::Error, path::Path, path::PathBuf, process::ExitCode};

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
    println!("cargo::rustc-env=OCAML_VERSION={}", ocaml.version);
    println!("cargo::rustc-env=OCAML_WHERE={}", ocaml.where_path.display());
    let ocaml5 = !ocaml.version.starts_with('4');
    if ocaml5 {
        println!("cargo::rustc-cfg=ocaml5");
    }

    let variant = env::var("BOXROOT_RUNTIME_VARIANT").unwrap_or_default();
    let flags: &[&str] = if variant.is_empty() { &[] } else { &["-runtime-variant", &variant] };
    let multicore = if ocaml5 { "multicore_5.ml" } else { "multicore_4.ml" };
    let tests = [
        (Path::new("tests/ocaml").join(multicore), "multicore.ml"),
        ("tests/ocaml/testlib.ml".into(), "testlib.ml"),
        ("tests/ocaml/exported.ml".into(), "exported.ml"),
    ];
    ocaml_object::link_into("tests", &ocaml, &out.join("tests"), flags, &tests)?;
    ocaml_object::link_into("benches", &ocaml, &out.join("benches"), &[], &[])?;
    // Programs that do without the threads library, or initialise it late.
    let no_threads = [(PathBuf::new(), "unix.cmxa")];
    ocaml_object::link_into("bin=no_threads", &ocaml, &out.join("no_threads"), flags, &no_threads)?;
    let late_threads = [
        ("tests/ocaml/late_setup.ml".into(), "late_setup.ml"),
        (PathBuf::new(), "unix.cmxa"),
        (PathBuf::new(), "threads.cmxa"),
    ];
    let late_folder = out.join("late_threads");
    ocaml_object::link_into("bin=late_threads", &ocaml, &late_folder, flags, &late_threads)?;
    let examples = [("examples/ocaml/wordindex.ml".into(), "wordindex.ml")];
    ocaml_object::link_into("examples", &ocaml, &out.join("examples"), flags, &examples)?;

    let mut c = cc::Build::new();
    c.file("benches/c/instructions.c").include("boxroot-c/include").include(&ocaml.where_path);
    println!("cargo::rerun-if-changed=benches/c/instructions.c");
    for object in c.opt_level(2).warnings(false).try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-benches={}", object.display());
    }

    let mut c = cc::Build::new();
    c.file("tests/c/stubs.c").file("tests/c/internals.c");
    for file in ["tests/c", "boxroot-c/src", "boxroot-c/include"] {
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
    let compiler = cpp.try_get_compiler()?;
    if compiler.to_command().arg("--version").output().is_err() {
        let name = compiler.path().display();
        println!("cargo::warning=the C++ pointer is not tested: '{name}' does not run");
        return Ok(());
    }
    for object in cpp.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-tests={}", object.display());
    }
    println!("cargo::rustc-link-arg-tests=-lstdc++");
    println!("cargo::rustc-cfg=cplusplus");
    Ok(())
}
