//! Runs the generator of bindings: OCaml code over the compiler's own libraries, which is in the folder `bindings`.

use super::find_ocaml::sibling;
use super::program::{about, out_dir};
use super::{Error, OCaml};
use std::path::{Path, PathBuf};
use std::{fs, process::Command};

/// The file that `ocaml_boxroot::include_bindings!` includes.
const RUST_FILE: &str = "ocaml_bindings.rs";

/// The generator's modules, each after those that it uses.
const SOURCES: &[(&str, &str)] = &[
    ("names.ml", include_str!("bindings/names.ml")),
    ("model.ml", include_str!("bindings/model.ml")),
    ("reader.ml", include_str!("bindings/reader.ml")),
    ("walk.ml", include_str!("bindings/walk.ml")),
    ("analysis.ml", include_str!("bindings/analysis.ml")),
    ("rust.ml", include_str!("bindings/rust.ml")),
    ("glue.ml", include_str!("bindings/glue.ml")),
    ("cmt.ml", include_str!("bindings/cmt.ml")),
    ("main.ml", include_str!("bindings/main.ml")),
];

/// What differs between the versions of the compiler's libraries.
fn compat(version: (u32, u32)) -> &'static str {
    match version {
        (4, ..=13) => include_str!("bindings/compat_413.ml"),
        (4, _) | (5, ..=2) => include_str!("bindings/compat_414.ml"),
        (5, 3) => include_str!("bindings/compat_503.ml"),
        _ => include_str!("bindings/compat_504.ml"),
    }
}

/// Which modules are bound, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Names of modules, as those of their interface files.
    pub modules: Vec<String>,
    /// What OCaml's paths begin with where they name a bound module, and what OCaml code leaves out.
    pub prefixes: Vec<String>,
    /// OCaml types, and the user's Rust types for them.
    pub users: Vec<(String, String)>,
    pub only: Vec<String>,
    pub opaque: Vec<String>,
}

impl Selection {
    /// Writes the Rust file, and the OCaml module `glue`. `folders` have the interfaces; `annotations` are the files `.cmt` and
    /// `.cmti` of all modules of the program.
    pub fn write(
        &self,
        ocaml: &OCaml,
        folders: &[PathBuf],
        annotations: &[PathBuf],
        glue: &Path,
    ) -> Result<(), Error> {
        let generator = compile(ocaml)?;
        let new_glue = generator.with_file_name("glue_new.ml");
        let mut command = Command::new(&generator);
        command.arg("--rust").arg(out_dir()?.join(RUST_FILE)).arg("--ocaml").arg(&new_glue);
        let with: Vec<String> =
            self.users.iter().map(|(ocaml, rust)| format!("{ocaml}={rust}")).collect();
        let options = [
            ("--bind", &self.modules),
            ("--strip", &self.prefixes),
            ("--with", &with),
            ("--only", &self.only),
            ("--opaque", &self.opaque),
        ];
        for (option, values) in options {
            for value in values {
                command.args([option, value]);
            }
        }
        for (option, paths) in [("--include", folders), ("--annotations", annotations)] {
            for path in paths {
                command.arg(option).arg(path);
            }
        }
        let output = command.output().map_err(|error| about(&generator, error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(Error(format!("no bindings were made: {}", message.trim())));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            println!("cargo:warning={line}");
        }
        // A file that did not change keeps its time, so that nothing is compiled again.
        let text = fs::read(&new_glue).map_err(|error| about(&new_glue, error))?;
        if fs::read(glue).ok().as_ref() != Some(&text) {
            fs::write(glue, text).map_err(|error| about(glue, error))?;
        }
        Ok(())
    }
}

/// Compiles the generator, and returns the program.
fn compile(ocaml: &OCaml) -> Result<PathBuf, Error> {
    let library = ocaml.where_path().join("compiler-libs").join("ocamlcommon.cma");
    if !library.exists() {
        return Err(Error(format!(
            "bindings need the libraries of OCaml's compiler, and there is no {}. Debian and Ubuntu have them in the \
             packages `ocaml` and `libcompiler-libs-ocaml-dev`; opam installs them with the compiler.",
            library.display()
        )));
    }
    let folder = out_dir()?.join("ocaml_bindings_generator");
    fs::create_dir_all(&folder).map_err(|error| about(&folder, error))?;
    let sources = [&[("compat.ml", compat(ocaml.numbers()))], SOURCES].concat();
    for (name, text) in &sources {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| about(&file, error))?;
    }
    let ocamlc = sibling(&ocaml.ocamlopt()?, "ocamlc")?;
    let program = folder.join("generator");
    let mut command = Command::new(&ocamlc[0]);
    command.args(&ocamlc[1..]).current_dir(&folder);
    command.args(["-w", "-a", "-I", "+compiler-libs", "ocamlcommon.cma", "-o"]).arg(&program);
    command.args(sources.iter().map(|(name, _)| name));
    let output = command.output().map_err(|error| about(&ocamlc[0], error))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error(format!(
            "the generator of bindings does not compile with OCaml {}:\n{}",
            ocaml.version(),
            message.trim()
        )));
    }
    Ok(program)
}

/// `orders` and `Orders` are the module Orders.
pub(super) fn module_name(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Rust bindings to modules that another build compiled: for a Rust library in an OCaml program, which dune builds. (Where Rust has
/// `main`, [`Program::bind`](super::Program::bind) does this.)
///
/// ```no_run
/// // build.rs
/// use ocaml_boxroot_sys::build::{Bindings, Error};
///
/// fn main() -> Result<(), Error> {
///     Bindings::new()
///         .cmi_dir("../_build/default/lib/.foo.objs/byte")
///         .module("Foo__Bar")
///         .glue("../_build/default/lib/rust_bindings.ml")
///         .write()
/// }
/// ```
///
/// The Rust library includes the bindings by `ocaml_boxroot::include_bindings!()`. The OCaml module that
/// [`glue`](Bindings::glue) names is a part of the same dune library or executable as the modules that it binds.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    selection: Selection,
    folders: Vec<PathBuf>,
    glue: Option<PathBuf>,
}

impl Bindings {
    /// Bindings to nothing yet.
    pub fn new() -> Bindings {
        Bindings::default()
    }

    /// Adds a folder with compiled interfaces: files `.cmi`, and `.cmt` and `.cmti`, which have what no interface has. The path is
    /// relative to the package. Dune's folders are `.NAME.objs/byte` for a library, `.NAME.eobjs/byte` for an executable.
    pub fn cmi_dir(mut self, folder: impl AsRef<Path>) -> Bindings {
        self.folders.push(folder.as_ref().to_path_buf());
        self
    }

    /// Binds a module. Its name is that of its file `.cmi`: `Foo__Bar` for the module `Bar` of the dune library `foo`,
    /// `Dune__exe__Bar` for that of an executable. In Rust it is `bar`.
    pub fn module(mut self, name: &str) -> Bindings {
        let name = module_name(name);
        if let Some(end) = name.rfind("__") {
            self.selection.prefixes.push(name[..end + 2].to_string());
        }
        self.selection.modules.push(name);
        self
    }

    /// As [`Program::with`](super::Program::with).
    pub fn with(mut self, ocaml_type: &str, rust_type: &str) -> Bindings {
        self.selection.users.push((ocaml_type.to_string(), rust_type.to_string()));
        self
    }

    /// As [`Program::only`](super::Program::only).
    pub fn only<I: AsRef<str>>(mut self, items: impl IntoIterator<Item = I>) -> Bindings {
        self.selection.only.extend(items.into_iter().map(|item| item.as_ref().to_string()));
        self
    }

    /// As [`Program::opaque`](super::Program::opaque).
    pub fn opaque(mut self, ocaml_type: &str) -> Bindings {
        self.selection.opaque.push(ocaml_type.to_string());
        self
    }

    /// The OCaml file to write, `.ml`. It is a module of the OCaml program, and registers what Rust calls, when it is initialised. Some
    /// module that is initialised before Rust is called must say `let () = Rust_bindings.register ()` (for a file
    /// `rust_bindings.ml`), so that OCaml links it.
    pub fn glue(mut self, file: impl AsRef<Path>) -> Bindings {
        self.glue = Some(file.as_ref().to_path_buf());
        self
    }

    /// Writes `$OUT_DIR/ocaml_bindings.rs` and the OCaml file. Tells cargo to run the build script again when one of the compiled
    /// interfaces changes.
    ///
    /// # Errors
    ///
    /// If no OCaml is found, if its compiler's libraries are missing, if a folder or a module is not there, or if an item has no name in
    /// Rust. The text says what to do.
    pub fn write(&self) -> Result<(), Error> {
        let glue = self.glue.as_ref().ok_or_else(|| {
            Error("Bindings::glue must name the OCaml file that registers what Rust calls".into())
        })?;
        let ocaml = OCaml::find()?;
        let mut annotations = Vec::new();
        for folder in &self.folders {
            for entry in fs::read_dir(folder).map_err(|error| about(folder, error))? {
                let path = entry.map_err(|error| about(folder, error))?.path();
                let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
                if ["cmi", "cmt", "cmti"].contains(&extension) {
                    println!("cargo:rerun-if-changed={}", path.display());
                }
                if ["cmt", "cmti"].contains(&extension) {
                    annotations.push(path);
                }
            }
        }
        // The documentation of an interface (.cmti) counts more than that of its implementation (.cmt), and is read later.
        annotations.sort_by_key(|path| (path.extension().map(|e| e.to_owned()), path.clone()));
        self.selection.write(&ocaml, &self.folders, &annotations, glue)
    }
}
