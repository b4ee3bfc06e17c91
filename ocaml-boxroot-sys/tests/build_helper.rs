//! Tests `ocaml_boxroot_sys::build` as users use it: builds `own_program`, and variants of it.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The output of a build or a run. `Err` if it failed.
type Said = Result<String, String>;

fn cargo(package: &Path, arguments: &[&str]) -> Said {
    // One build at a time: the builds share a folder, in which each set of features replaces the
    // previous one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(package)
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("own_program"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

fn run(features: &str) -> Said {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own_program");
    cargo(&package, &["run", "--features", features])
}

#[track_caller]
fn assert_says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "not said: {word}\n{said}");
    }
}

#[test]
fn links_into_everything() {
    assert_says(&run("").unwrap(), &["the answer is 42"]);
}

#[test]
fn links_into_programs() {
    assert_says(&run("into-bins").unwrap(), &["the answer is 42"]);
}

/// If a feature links another runtime, the program's own runtime is used, without an error.
#[test]
fn another_runtime_does_no_harm() {
    assert_says(&run("two-runtimes").unwrap(), &["the answer is 42"]);
}

/// If the program's runtime is a linker argument (`into-bins`), a second runtime is an error. The
/// warning and the linker's messages name the feature.
#[test]
fn another_runtime_is_named() {
    let said = run("into-bins,two-runtimes").unwrap_err();
    assert_says(
        &said,
        &["two OCaml runtimes", "remove that feature", "ocaml_runtime_of_the_feature_link_runtime"],
    );
}

#[test]
fn a_missing_runtime_is_named() {
    let said = run("no-runtime").unwrap_err();
    // The linker lists dozens of symbols. One of the first names of objects contains the advice.
    let advice = "if_caml_is_undefined_enable_link_runtime_or_use_build_Program_with_OCaml_";
    let before = said.split(advice).next().unwrap();
    assert!(before.len() < said.len() && before.matches("undefined").count() <= 5, "{said}");
}

/// A package with a build script, without dependencies that are compiled for the target.
fn package(name: &str, build_script: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src")).unwrap();
    let this_crate = env!("CARGO_MANIFEST_DIR");
    let manifest = format!(
        "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[build-dependencies]\n\
         ocaml-boxroot-sys = {{ path = {this_crate:?}, default-features = false, features = [\"build\"] }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(Path::new(this_crate).join("tests/own_program/Cargo.lock"), folder.join("Cargo.lock"))
        .unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
    let build_script = format!(
        "use ocaml_boxroot_sys::build::{{Error, Program}};\nfn main() -> Result<(), Error> {{\n{build_script}\n}}\n"
    );
    fs::write(folder.join("build.rs"), build_script).unwrap();
    folder
}

/// A library that the build script names is linked as a whole, although nothing uses it. Of the
/// standard library, only used modules are linked.
#[test]
fn what_is_named_and_what_is_used() {
    let script = r#"
        Program::new().library("threads").library("str").link()?;
        let object = std::env::var("OUT_DIR").unwrap() + "/ocaml_program_of_library/ocaml_program_of_library.o";
        std::fs::copy(object, "object.o").unwrap();
        Ok(())"#;
    let folder = package("library", script);
    cargo(&folder, &["check"]).unwrap();
    let object = fs::read(folder.join("object.o")).unwrap();
    let has = |name: &str| object.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    assert!(has("camlThread"), "Thread is not linked");
    assert!(has("camlStr_") || has("camlStr."), "Str is not linked");
    assert!(has("camlStdlib__List"), "List is not linked, though Thread uses it");
    assert!(!has("camlStdlib__Ephemeron"), "Ephemeron is linked, though nothing uses it");
}

#[test]
fn code_for_another_machine() {
    let (other, same) = match std::env::consts::ARCH {
        "aarch64" => ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-musl"),
        "x86_64" => ("aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl"),
        _ => return,
    };
    // A compiler that OCAMLOPT names is accepted if it generates code for the target's
    // architecture.
    let package_of_none = package("another_machine", "Program::new().link()");
    let said = cargo(&package_of_none, &["check", "--target", other]).unwrap_err();
    assert_says(&said, &["this build is for", other, "Set OCAMLOPT"]);
    // A compiler from PATH is not accepted, because the target's C library may be a different one.
    let forget = "std::env::remove_var(\"OCAMLOPT\");\nProgram::new().link()";
    let package_of_none = package("another_c_library", forget);
    let said = cargo(&package_of_none, &["check", "--target", same]).unwrap_err();
    assert_says(&said, &["this build is for", same]);
}

#[test]
fn ocaml_code_with_an_error() {
    let folder = package("ocaml_error", "Program::new().module(\"wrong.ml\").link()");
    fs::write(folder.join("wrong.ml"), "let wrong : int = \"a string\"\n").unwrap();
    let said = cargo(&folder, &["build"]).unwrap_err();
    assert_says(&said, &["File \"wrong.ml\", line 1", "ocamlopt"]);
    // The corrected file compiles, and compiles again whenever it changes. OCaml's warnings are
    // shown.
    for warning in ["unused variable first", "unused variable second"] {
        let name = warning.rsplit(' ').next().unwrap();
        fs::write(folder.join("wrong.ml"), format!("let right = let {name} = 1 in 2\n")).unwrap();
        assert_says(&cargo(&folder, &["build"]).unwrap(), &[warning]);
    }
}

#[test]
fn a_module_that_is_not_there() {
    let folder = package("no_module", "Program::new().module(\"nothing.ml\").link()");
    assert_says(&cargo(&folder, &["build"]).unwrap_err(), &["nothing.ml"]);
}

#[test]
fn two_modules_of_one_name() {
    let two = "Program::new().module(\"one.ml\").module_named(\"one\", \"other.ml\").link()";
    let folder = package("two_modules", two);
    for file in ["one.ml", "other.ml"] {
        fs::write(folder.join(file), "").unwrap();
    }
    assert_says(
        &cargo(&folder, &["build"]).unwrap_err(),
        &["other.ml", "another module has this name"],
    );
}
