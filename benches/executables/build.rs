//! Compiles the benchmark programs, OCaml and C, against the header of the `ocaml-boxroot-sys` that
//! the package depends on: ours, or the one in the registry.
//!
//! * The programs are all `benches/programs/*.ml`, with the C files beside them. On OCaml 4,
//!   programs whose names end in `_5` are left out.
//! * The implementations are those in `benches/implementations/list.toml`, each with its files
//!   `NAME.ml` and `NAME.c`, if they exist. `generate.rs` makes their OCaml and C tables.
//! * All programs share `benches/runtime`. `NAME_4.ml` or `NAME_5.ml`, depending on the version of
//!   OCaml, becomes the module `NAME`.

// Included by path: as a package, ours could not be used together with the registry's.
#[allow(dead_code, unused_imports)] // only parts are needed here
#[path = "../../ocaml-boxroot-sys/src/build/mod.rs"]
mod ocaml;

mod generate;
#[allow(dead_code)] // the report needs the rest
#[path = "../harness/list.rs"]
mod list;

use list::Implementation;
use ocaml::{OCaml, Program};
use std::path::{Path, PathBuf};
use std::{env, error::Error, fs, process::ExitCode};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nboxroot-programs: {error}\n");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    let ocaml = OCaml::find()?;
    let benches = Path::new("../..");
    for path in ["executables/build.rs", "executables/generate.rs", "harness/list.rs"] {
        println!("cargo::rerun-if-changed={}", benches.join(path).display());
    }
    let [programs, implementations, runtime] =
        ["programs", "implementations", "runtime"].map(|name| benches.join(name));
    for folder in [&programs, &implementations, &runtime] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    println!("cargo::rustc-check-cfg=cfg(variants)");
    let variants = env::var_os("CARGO_FEATURE_VARIANTS").is_some();
    if variants {
        println!("cargo::rustc-cfg=variants");
    }
    let mut list = list::read()?;
    list.retain(|i| i.peer_of.is_none() && (variants || !i.variant));

    let ocaml5 = !ocaml.version().starts_with('4');
    let (modules, for_ocaml5): (Vec<PathBuf>, Vec<PathBuf>) =
        files(&programs, "ml")?.into_iter().partition(|file| ocaml5 || !is_for_ocaml5(file));
    let module_names: Vec<String> = modules.iter().map(|file| stem(file)).collect();
    let need_ocaml5: Vec<String> =
        for_ocaml5.iter().map(|file| stem(file).trim_end_matches(OCAML5).into()).collect();
    let source = |i: &Implementation, extension: &str| {
        let file = implementations.join(&i.name).with_extension(extension);
        file.exists().then_some(file)
    };
    let in_ocaml: Vec<(&str, PathBuf)> =
        list.iter().filter_map(|i| Some((i.name.as_str(), source(i, "ml")?))).collect();

    let mut program = Program::new().library("threads").flag("-inline").flag("100");
    for file in files(&runtime, "ml")? {
        let [own, other] = if ocaml5 { [OCAML5, OCAML4] } else { [OCAML4, OCAML5] };
        let name = stem(&file);
        if !name.ends_with(other) {
            program = program.module_named(name.trim_end_matches(own), file);
        }
    }
    for file in modules {
        program = program.module(file);
    }
    for (name, file) in &in_ocaml {
        // The module's name differs from the file's, because OCaml has a module Gc.
        program = program.module_named(&format!("{}{name}", generate::CELL), file);
    }
    let names: Vec<&str> = in_ocaml.iter().map(|(name, _)| *name).collect();
    program
        .module(generated("implementations.ml", &generate::implementations_ml(&list, &names))?)
        .module(generated("programs.ml", &generate::programs_ml(&module_names, &need_ocaml5))?)
        .link_into("bins")?;

    let mut c = cc::Build::new();
    c.files(files(&runtime, "c")?);
    c.files(files(&programs, "c")?.into_iter().filter(|file| ocaml5 || !is_for_ocaml5(file)));
    c.files(list.iter().filter_map(|i| source(i, "c")));
    c.file(generated("implementations.c", &generate::implementations_c(&list))?).include(&runtime);
    if variants {
        c.define("BENCH_VARIANTS", None);
    }
    c.include(include_folder()?).include(ocaml.where_path()).opt_level(2).warnings(false);
    for object in c.try_compile_intermediates()? {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    Ok(())
}

/// The suffix of the names of files that are only for OCaml 5.
const OCAML5: &str = "_5";
const OCAML4: &str = "_4";

fn is_for_ocaml5(file: &Path) -> bool {
    stem(file).ends_with(OCAML5)
}

/// The files of a folder that have this extension, sorted by name.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes a file with this name and text, and sets its time to that of the list of implementations.
/// The compiler reads the file, so cargo would run this script again if the file were newer than
/// the script's last run.
fn generated(name: &str, text: &str) -> Result<PathBuf> {
    let path = Path::new(&env::var("OUT_DIR")?).join(name);
    fs::write(&path, text)?;
    let list = fs::metadata("../../implementations/list.toml")?;
    fs::File::options().write(true).open(&path)?.set_modified(list.modified()?)?;
    Ok(path)
}

/// The folder with boxroot.h. Our crate tells cargo its path. For the registry crate, cargo knows
/// the path of the sources.
fn include_folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("DEP_OCAML_BOXROOT_INCLUDE") {
        return Ok(folder.into());
    }
    let metadata = cargo_metadata::MetadataCommand::new().exec()?;
    let package = metadata.packages.iter().find(|p| *p.name == "ocaml-boxroot-sys");
    let manifest = &package.ok_or("cargo metadata does not know ocaml-boxroot-sys")?.manifest_path;
    Ok(manifest.with_file_name("vendor").join("boxroot").into())
}
