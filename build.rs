//! Compiles the OCaml side of the tests, with a runtime, into one object that is linked into all
//! tests. Does the same for the examples. `benches/executables/build.rs` compiles the OCaml side of
//! the benchmarks.
//!
//! `BOXROOT_RUNTIME_VARIANT=d` links OCaml's debug runtime.

use ocaml_boxroot_sys::build::{OCaml, Program};
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
    let ocaml = OCaml::find()?;
    println!("cargo::rustc-check-cfg=cfg(ocaml5)");
    println!("cargo::rustc-check-cfg=cfg(cplusplus)");
    println!("cargo::rustc-env=OCAML_VERSION={}", ocaml.version());
    println!("cargo::rustc-env=OCAML_WHERE={}", ocaml.where_path().display());
    let ocaml5 = !ocaml.version().starts_with('4');
    if ocaml5 {
        println!("cargo::rustc-cfg=ocaml5");
    }

    let mut program = Program::new();
    let variant = env::var("BOXROOT_RUNTIME_VARIANT").unwrap_or_default();
    if !variant.is_empty() {
        program = program.flag("-runtime-variant").flag(&variant);
    }
    let multicore = if ocaml5 { "multicore_5.ml" } else { "multicore_4.ml" };
    program
        .clone()
        .library("threads")
        .module("tests/support/compaction.ml")
        .module("tests/support/testlib.ml")
        .module_named("multicore", Path::new("tests/support").join(multicore))
        .module("tests/support/exported.ml")
        .module("tests/support/mistakes.ml")
        .module("tests/support/values.ml")
        .module("tests/users/interop/words/words.ml")
        .link_into("tests")?;
    Program::new().library("threads").link_into("benches")?;
    // Two programs: one without the threads library, and one that initialises it late.
    program.clone().library("unix").link_into("bin=no_threads")?;
    // One with generated bindings.
    program
        .clone()
        .library("threads")
        .module_named("multicore", Path::new("tests/support").join(multicore))
        .module("tests/build/bound.ml")
        .module("tests/build/bound_functor.ml")
        .module("tests/build/journal.ml")
        .bind("bound")
        .bind("stdlib__Hashtbl")
        .bind("bound_functor")
        .bind("journal")
        .with("journal.log", "crate::Log")
        .link_into("bin=bindings")?;
    let mut c = cc::Build::new();
    c.file("tests/build/as_bytecode.c").include(ocaml.where_path());
    println!("cargo::rerun-if-changed=tests/build/as_bytecode.c");
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-bin=bindings={}", object.display());
    }
    // This module is initialised before the libraries, unlike modules of usual programs. So it is
    // passed to the compiler as a flag, in front of the libraries.
    let late_setup = Path::new(&env::var("OUT_DIR")?).join("late_setup.ml");
    fs::copy("tests/build/late_setup.ml", &late_setup)?;
    println!("cargo::rerun-if-changed=tests/build/late_setup.ml");
    let late_threads = program.flag(&late_setup.display().to_string()).library("threads");
    late_threads.module("tests/build/after_threads.ml").link_into("bin=late_threads")?;
    let examples = Program::new().library("threads").module("examples/ocaml/formula.ml");
    examples.module("examples/ocaml/parallel.ml").link_into("examples")?;

    let mut c = cc::Build::new();
    c.file("benches/instructions.c").include("boxroot-c/include").include(ocaml.where_path());
    println!("cargo::rerun-if-changed=benches/instructions.c");
    for object in c.opt_level(2).warnings(false).try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-benches={}", object.display());
    }

    let mut c = cc::Build::new();
    c.file("tests/support/stubs.c").file("tests/support/internals.c");
    for file in ["tests/support", "boxroot-c/src", "boxroot-c/include"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let include = ["boxroot-c/include", "boxroot-c/src"];
    c.includes(include).include(ocaml.where_path()).opt_level(2).warnings(false);
    let checked = if env::var_os("CARGO_FEATURE_DEBUG_CHECKS").is_some() { "1" } else { "0" };
    c.define("BOXROOT_CHECKED", checked);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-tests={}", object.display());
    }

    // The C++ pointer is tested if there is a C++ compiler.
    let mut cpp = cc::Build::new();
    cpp.cpp(true).std("c++17").file("tests/support/pointer.cpp").includes(include);
    cpp.include(ocaml.where_path()).warnings(false).cpp_link_stdlib(None);
    cpp.define("BOXROOT_CHECKED", checked);
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
