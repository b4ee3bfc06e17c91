//! Runs the generator of bindings, which is OCaml code in the folder `bindings` and uses the
//! libraries of OCaml's compiler.

use super::find_ocaml::sibling;
use super::program::{about, out_dir, run};
use super::{Error, OCaml};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{fs, process::Command};

/// The file that `ocaml_boxroot::include_bindings!` includes.
const RUST_FILE: &str = "ocaml_bindings.rs";

/// The content of that file if nothing is bound.
const NO_BINDINGS: &str = "\
compile_error!(\"the build script (build.rs) binds no OCaml module: call Program::bind, or Bindings::module\");
mod ocaml_externals_missing {}
";

/// Whether this build script has generated bindings.
static HAS_BINDINGS: AtomicBool = AtomicBool::new(false);

/// Overwrites the bindings if a program binds nothing. Otherwise bindings from an earlier version
/// of the build script would still compile, although the program may no longer have their modules.
pub(super) fn no_bindings() -> Result<(), Error> {
    let file = out_dir()?.join(RUST_FILE);
    if HAS_BINDINGS.load(Relaxed) || fs::read_to_string(&file).is_ok_and(|text| text == NO_BINDINGS)
    {
        return Ok(());
    }
    fs::write(&file, NO_BINDINGS).map_err(|error| about(&file, error))
}

/// The generator's modules, each after the modules that it uses.
const SOURCES: &[(&str, &str)] = &[
    ("names.ml", include_str!("bindings/names.ml")),
    ("model.ml", include_str!("bindings/model.ml")),
    ("glue.ml", include_str!("bindings/glue.ml")),
    ("reader.ml", include_str!("bindings/reader.ml")),
    ("unsafe_functions.ml", UNSAFE_FUNCTIONS),
    ("libraries.ml", include_str!("bindings/libraries.ml")),
    ("walk.ml", include_str!("bindings/walk.ml")),
    ("analysis.ml", include_str!("bindings/analysis.ml")),
    ("scope.ml", include_str!("bindings/scope.ml")),
    ("clashes.ml", include_str!("bindings/clashes.ml")),
    ("rust.ml", include_str!("bindings/rust.ml")),
    ("cmt.ml", include_str!("bindings/cmt.ml")),
    ("main.ml", include_str!("bindings/main.ml")),
];

/// The list as an OCaml string.
const UNSAFE_FUNCTIONS: &str =
    concat!("let text = {list|", include_str!("bindings/unsafe_functions.txt"), "|list}");

/// The OCaml code that registers `Domain.spawn` for Rust; `None` on OCaml 4, which has no domains.
pub(super) fn registers_domains(ocaml: &OCaml) -> Option<&'static str> {
    (ocaml.numbers() >= (5, 0)).then_some(include_str!("bindings/domains.ml"))
}

/// The code that depends on the version of the compiler's libraries.
fn compat(version: (u32, u32)) -> String {
    let types = match version {
        (4, ..=13) => include_str!("bindings/compat/types_413.ml"),
        _ => include_str!("bindings/compat/types_414.ml"),
    };
    let labels = match version {
        (4, _) | (5, ..=3) => include_str!("bindings/compat/labels_413.ml"),
        _ => include_str!("bindings/compat/labels_504.ml"),
    };
    let constants = match version {
        (4, _) | (5, ..=2) => include_str!("bindings/compat/constants_413.ml"),
        _ => include_str!("bindings/compat/constants_503.ml"),
    };
    let packages = match version {
        (4, _) | (5, ..=3) => include_str!("bindings/compat/packages_413.ml"),
        (5, 4) => include_str!("bindings/compat/packages_504.ml"),
        _ => include_str!("bindings/compat/packages_505.ml"),
    };
    [types, labels, constants, packages].concat()
}

/// Which modules are bound, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Names of modules, as in their interface files.
    pub modules: Vec<String>,
    /// Options of the generator, which `main.ml` lists.
    options: Vec<String>,
}

impl Selection {
    /// Binds a module: `orders` and `Orders` are the module Orders.
    pub fn bind(&mut self, module: &str) {
        let name = capitalized(module);
        if !self.modules.contains(&name) {
            self.modules.push(name);
        }
    }

    /// Binds a module, or warns that it cannot be bound.
    pub fn bind_if_possible(&mut self, name: &str) {
        if !self.modules.iter().any(|module| module == name) {
            self.bind(name);
            self.add(["--if-possible", name]);
        }
    }

    /// Adds an option of the generator with its arguments.
    pub fn add<const N: usize>(&mut self, option: [&str; N]) {
        self.options.extend(option.map(String::from));
    }

    /// Writes the Rust file and the OCaml module `glue`. `folders` contain the interfaces;
    /// `annotations` are the `.cmt` and `.cmti` files of all modules that may have externals for
    /// Rust. With `is_built_elsewhere`, another build compiles the program. Then the files of
    /// modules that are not bound may be older than their sources, so Rust provides no externals
    /// for these modules. Rust functions also refuse calls before OCaml has initialised the module
    /// `glue`. (If Rust starts OCaml, this module is always in the program, after the user's
    /// modules.)
    pub fn write(
        &self,
        ocaml: &OCaml,
        folders: &[PathBuf],
        annotations: &[PathBuf],
        glue: &Path,
        is_built_elsewhere: bool,
    ) -> Result<(), Error> {
        HAS_BINDINGS.store(true, Relaxed);
        let generator = compile(ocaml)?;
        let new_glue = generator.with_file_name("glue_new.ml");
        let mut command = Command::new(&generator);
        let rust = out_dir()?.join(RUST_FILE);
        command.arg("--rust").arg(&rust).arg("--ocaml").arg(&new_glue);
        command.args(self.modules.iter().flat_map(|module| ["--bind", module]));
        command.args(&self.options);
        for (option, paths) in [("--include", folders), ("--annotations", annotations)] {
            for path in paths {
                command.arg(option).arg(path);
            }
        }
        if is_built_elsewhere {
            let name = glue.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            command.arg("--register").arg(capitalized(name));
        }
        let output = command.output().map_err(|error| about(&generator, error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(Error(format!("no bindings were made: {}", message.trim())));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            println!("cargo:warning={line}");
        }
        let text = fs::read(&rust).map_err(|error| about(&rust, error))?;
        fs::write(&rust, readable(&text)).map_err(|error| about(&rust, error))?;
        // An unchanged file keeps its modification time, so that nothing is compiled again.
        let mut text = fs::read(&new_glue).map_err(|error| about(&new_glue, error))?;
        if is_built_elsewhere {
            text.extend(registers_domains(ocaml).unwrap_or_default().bytes());
        }
        if fs::read(glue).ok().as_ref() != Some(&text) {
            fs::write(glue, text).map_err(|error| about(glue, error))?;
        }
        Ok(())
    }
}

/// Makes bindings acceptable to rustc. OCaml's comments may contain any bytes, but rustc rejects
/// characters that change the direction of text.
fn readable(bindings: &[u8]) -> String {
    let turns = |c| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    String::from_utf8_lossy(bindings).replace(turns, "\u{FFFD}")
}

/// Compiles the generator if necessary, and returns its path.
fn compile(ocaml: &OCaml) -> Result<PathBuf, Error> {
    let library = ocaml.where_path().join("compiler-libs").join("ocamlcommon.cma");
    if !library.exists() {
        return Err(Error(format!(
            "bindings need the libraries of OCaml's compiler, and there is no {}. Debian and Ubuntu have them in the \
             packages `ocaml` and `libcompiler-libs-ocaml-dev` (Debian 12: `ocaml-compiler-libs`); opam installs them with the compiler.",
            library.display()
        )));
    }
    let folder = out_dir()?.join("ocaml_bindings_generator");
    fs::create_dir_all(&folder).map_err(|error| about(&folder, error))?;
    let compat = compat(ocaml.numbers());
    let sources = [&[("compat.ml", &*compat)], SOURCES].concat();
    let ocamlc = sibling(&ocaml.ocamlopt()?, "ocamlc")?;
    let program = folder.join("generator");
    let changed = fs::metadata(&library).and_then(|file| file.modified());
    let changed = changed.map_err(|error| about(&library, error))?;
    let version = ocaml.version();
    let made_of = format!("{ocamlc:?} {version} {} {changed:?} {sources:?}", library.display());
    let made_of_file = folder.join("made_of");
    if program.exists() && fs::read_to_string(&made_of_file).is_ok_and(|text| text == made_of) {
        return Ok(program);
    }
    let _ = fs::remove_file(&made_of_file);
    for (name, text) in &sources {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| about(&file, error))?;
    }
    let mut command = Command::new(&ocamlc[0]);
    command.args(&ocamlc[1..]).current_dir(&folder);
    command.args(["-w", "-a", "-I", "+compiler-libs", "ocamlcommon.cma", "-o"]).arg(&program);
    command.args(sources.iter().map(|(name, _)| name));
    run(&mut command).map_err(|error| {
        Error(format!("the generator of bindings does not compile with OCaml {version}: {error}"))
    })?;
    fs::write(&made_of_file, made_of).map_err(|error| about(&made_of_file, error))?;
    Ok(program)
}

/// The module name for this file name.
pub(super) fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The file name for this module name, with a small first letter.
pub(super) fn uncapitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
