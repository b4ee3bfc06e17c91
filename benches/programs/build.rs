//! Compiles the benchmark programs of `benches/`, OCaml and C, against the header of the
//! `ocaml-boxroot-sys` that the package depends on: ours, or the one in the registry.

#[path = "../../ocaml-boxroot-sys/build/find_ocaml.rs"]
mod find_ocaml;
#[path = "../../ocaml-boxroot-sys/build/ocaml_object.rs"]
mod ocaml_object;

use std::{env, error::Error, path::Path, path::PathBuf, process::Command, process::ExitCode};

/// In the order of linking. A pair is a file, and the module that it is compiled as.
fn modules(ocaml5: bool, variants: bool) -> Vec<(&'static str, &'static str)> {
    let parallel = if ocaml5 { "parallel_5.ml" } else { "parallel_4.ml" };
    let variants = if variants { "variants_ours.ml" } else { "variants_none.ml" };
    vec![
        ("parameters.ml", "parameters.ml"),
        ("measure.ml", "measure.ml"),
        ("cell.ml", "cell.ml"),
        (variants, "variants.ml"),
        ("perm_count.ml", "perm_count.ml"),
        ("synthetic.ml", "synthetic.ml"),
        ("globroots.ml", "globroots.ml"),
        ("local_roots.ml", "local_roots.ml"),
        ("micro.ml", "micro.ml"),
        ("many.ml", "many.ml"),
        ("lockless.ml", "lockless.ml"),
        ("check.ml", "check.ml"),
        (parallel, "parallel.ml"),
        ("main.ml", "main.ml"),
    ]
}

const C: [&str; 13] = [
    "c/implementations.c",
    "c/measure.c",
    "c/micro.c",
    "c/local_roots.c",
    "c/threads.c",
    "impls/hook.c",
    "impls/gc.c",
    "impls/global.c",
    "impls/generational.c",
    "impls/boxroot.c",
    "impls/dll.c",
    "impls/rem.c",
    "impls/bitmap.c",
];
const C_VARIANTS: [&str; 2] = ["impls/unsafe.c", "impls/force_remote.c"];

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
    for folder in ["c", "impls"] {
        println!("cargo::rerun-if-changed={}", benches.join(folder).display());
    }
    let folder = ocaml_object::out_dir()?.join("programs");
    println!("cargo::rustc-check-cfg=cfg(variants)");
    let variants = env::var_os("CARGO_FEATURE_VARIANTS").is_some();
    if variants {
        println!("cargo::rustc-cfg=variants");
    }
    let sources: Vec<_> = modules(!ocaml.version.starts_with('4'), variants)
        .into_iter()
        .map(|(file, module)| (benches.join("ocaml").join(file), module))
        .collect();
    ocaml_object::link_into("bins", &ocaml, &folder, &["-inline", "100"], &sources)?;

    let mut c = cc::Build::new();
    c.files(C.map(|file| benches.join(file)));
    if variants {
        c.files(C_VARIANTS.map(|file| benches.join(file))).define("BENCH_VARIANTS", None);
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
