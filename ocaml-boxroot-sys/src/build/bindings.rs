//! Rust bindings to the OCaml modules of a [`Program`], or of a program that another build
//! compiles.

use super::c_libraries::Library;
use super::generator::{capitalized, uncapitalized, Selection};
use super::packages::Packages;
use super::program::{about, library_file, run};
use super::{Error, OCaml, Program};
use std::fs;
use std::path::{Path, PathBuf};

/// The OCaml module that registers what bindings use.
const GLUE: &str = "ocaml_boxroot_bindings.ml";

impl Program {
    /// Makes Rust bindings to a module of the program, of a library, or of the standard library:
    /// `orders` for the module `Orders`, `stdlib__Hashtbl` for `Hashtbl`. The crate includes them
    /// by `ocaml_boxroot::include_bindings!()`; they are in a Rust module of this name, `orders` or
    /// `hashtbl`.
    ///
    /// The bindings are made from OCaml's compiled interface. A generated OCaml module, which is
    /// compiled into the program, restates everything that they rely on. Therefore you promise
    /// nothing, and a mistake does not compile.
    ///
    /// ```no_run
    /// # use ocaml_boxroot_sys::build::{Error, Program};
    /// # fn main() -> Result<(), Error> {
    /// Program::new()
    ///     .module("ocaml/orders.ml")
    ///     .bind("orders")
    ///     .with("orders.order", "crate::Order") // the crate declares this Rust type itself
    ///     .opaque("orders.cache") // no Rust type, only roots
    ///     .link()
    /// # }
    /// ```
    ///
    /// A package has one program with bindings.
    pub fn bind(mut self, module: &str) -> Program {
        self.bound.bind(module);
        self
    }

    /// Makes Rust bindings to all modules of a package that [`package`](Program::package) names, or
    /// of a [`library`](Program::library): those of its archives, and what can be named through
    /// them. (`lwt.unix` is another package than `lwt`.) A package without archives, such as `num`,
    /// stands for those that it requires. A module that cannot be bound, such as a functor, is left
    /// out with a warning.
    pub fn bind_all(mut self, package: &str) -> Program {
        self.bound_packages.push(package.to_string());
        self
    }

    /// Binds the modules of the packages that are bound as a whole.
    pub(super) fn bind_packages(&mut self, ocaml: &OCaml) -> Result<(), Error> {
        for package in &self.bound_packages {
            let archives = if self.libraries.contains(package) {
                vec![library_file(ocaml.where_path(), package)]
            } else {
                let found = self.found.archives_of(package).map(<[PathBuf]>::to_vec);
                found.ok_or_else(|| {
                    Error(format!(
                        "bind_all(\"{package}\"): the program has no such package; call package(\"{package}\"), too"
                    ))
                })?
            };
            let mut has_modules = false;
            for archive in archives {
                let library = Library::read(ocaml, &archive)?;
                let folder = archive.parent().unwrap_or(Path::new("."));
                let has_interface = |name: &str| {
                    [name.to_string(), uncapitalized(name)]
                        .iter()
                        .any(|name| folder.join(format!("{name}.cmi")).exists())
                };
                // dune's Foo has Foo__Bar as its module Bar.
                let is_part = |name: &str| {
                    name.match_indices("__")
                        .any(|(at, _)| library.modules.iter().any(|other| *other == name[..at]))
                };
                for name in &library.modules {
                    if has_interface(name) && !is_part(name) {
                        self.bound.bind_if_possible(name);
                        has_modules = true;
                    }
                }
            }
            if !has_modules {
                return Err(Error(format!("bind_all(\"{package}\"): the package has no modules")));
            }
        }
        Ok(())
    }

    /// Compiles the modules, makes the bindings, and compiles the OCaml module that belongs to
    /// them. Returns what there is to link.
    pub(super) fn bind_modules(
        &self,
        ocaml: &OCaml,
        folder: &Path,
        sources: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let ocamlopt = ocaml.ocamlopt()?;
        if !sources.is_empty() {
            let mut command = self.ocamlopt(&ocamlopt, folder);
            run(command.args(["-bin-annot", "-c"]).args(&self.flags).args(&sources))?;
        }
        let mut folders = vec![folder.to_path_buf()];
        folders.extend(self.libraries.iter().map(|library| ocaml.where_path().join(library)));
        folders.extend(self.folders_of_flags().map(|named| match named.strip_prefix('+') {
            Some(library) => ocaml.where_path().join(library),
            None => folder.join(named), // where the compiler runs
        }));
        folders.extend(self.found.folders.iter().cloned());
        folders.retain(|folder| folder.exists());
        let implementations: Vec<&str> =
            sources.iter().filter_map(|source| source.strip_suffix(".ml")).collect();
        // The documentation of an interface (.cmti) counts more than that of its implementation,
        // and is read later.
        let mut annotations = Vec::new();
        for kind in ["cmt", "cmti"] {
            annotations
                .extend(implementations.iter().map(|name| folder.join(format!("{name}.{kind}"))));
        }
        annotations.retain(|file| file.exists());
        self.bound.write(ocaml, &folders, &annotations, &folder.join(GLUE), false)?;
        // Without the user's flags, which may change the meaning of names (`-open`), except for the
        // one that interfaces need.
        let mut command = self.ocamlopt(&ocamlopt, folder);
        command.args(self.flags.iter().filter(|flag| *flag == "-rectypes"));
        command.args(self.folders_of_flags().flat_map(|folder| ["-I", folder]));
        run(command.args(["-c", GLUE]))?;
        let mut objects: Vec<String> =
            implementations.iter().map(|name| format!("{name}.cmx")).collect();
        objects.push(GLUE.replace(".ml", ".cmx"));
        Ok(objects)
    }

    /// The folders that `-I` names in the flags.
    fn folders_of_flags(&self) -> impl Iterator<Item = &str> {
        let pairs = self.flags.iter().zip(self.flags.iter().skip(1));
        pairs.filter(|(flag, _)| *flag == "-I").map(|(_, folder)| folder.as_str())
    }
}

/// Options that a program and bindings have alike.
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident($option:literal, $($word:ident),+);)*) => {
        options! { @of Program, bound; $($(#[$doc])* $name($option, $($word),+);)* }
        options! { @of Bindings, selection; $($(#[$doc])* $name($option, $($word),+);)* }
    };
    (
        @of $type:ident, $selection:ident;
        $($(#[$doc:meta])* $name:ident($option:literal, $($word:ident),+);)*
    ) => {
        impl $type {
            $(
                $(#[$doc])*
                pub fn $name(mut self, $($word: &str),+) -> Self {
                    self.$selection.add([$option, $($word),+]);
                    self
                }
            )*

            /// Binds nothing but these items, and the types that they use: `orders.reserve` for one
            /// item, or `orders.archive` for all items of the module `Archive` in `Orders`.
            pub fn only<I: AsRef<str>>(mut self, items: impl IntoIterator<Item = I>) -> Self {
                for item in items {
                    self.$selection.add(["--only", item.as_ref()]);
                }
                self
            }

            /// Makes the Rust type of an OCaml type, or of an exception, also derive these traits:
            /// `derive("orders.size", ["PartialOrd", "serde::Serialize"])`.
            ///
            /// Without this, generated types derive `Clone`, `Debug` and `PartialEq`; `Eq` and
            /// `Hash` if there is no float in them; and enums without arguments `Copy`. Those with
            /// a root in them derive `Debug` only. A type that [`with`](Self::with) names is
            /// unknown here: types with it in them derive `Eq` and `Hash` if they are asked for.
            pub fn derive<I: AsRef<str>>(
                mut self,
                item: &str,
                traits: impl IntoIterator<Item = I>,
            ) -> Self {
                for path in traits {
                    self.$selection.add(["--derive", item, path.as_ref()]);
                }
                self
            }
        }
    };
}

options! {
    /// Names the Rust type that an OCaml type of a bound module is converted to, instead of a
    /// generated Rust type. Its path begins with `crate::`. It must have the fields or constructors
    /// of the OCaml type, under the names and with the types that the generated type would have,
    /// and derive `Clone`, `Debug` and `PartialEq`.
    ///
    /// If the OCaml type is abstract, the Rust type implements it: in Rust, its values are roots of
    /// an `OCamlBox` of the Rust type, which externals make and take. The implementation of the
    /// OCaml module must also declare the type without a definition (`type handle`), so that OCaml
    /// code makes no values of it. A Rust type implements one OCaml type.
    with("--with", ocaml_type, rust_type);

    /// Gives an item another name in Rust: `rename("orders.find'", "find_exactly")`, or
    /// `rename("orders.+", "add")`, which is `op_plus` otherwise. A Rust name that begins with a
    /// capital letter is for a type or an exception. Modules keep their names.
    rename("--rename", item, rust_name);

    /// Leaves an OCaml type of a bound module without a Rust type: Rust has only roots of its
    /// values.
    opaque("--opaque", ocaml_type);

    /// Gives the Rust type of an OCaml type, or of an exception, an attribute, or gives one to a
    /// field, a constructor, or a numbered argument of it:
    ///
    /// ```no_run
    /// # use ocaml_boxroot_sys::build::Program;
    /// # let program = Program::new();
    /// program
    ///     .derive("orders.size", ["serde::Serialize"])
    ///     .attribute("orders.size", "#[non_exhaustive]")
    ///     .attribute("orders.size.Custom", "#[serde(rename = \"other\")]")
    ///     .attribute("orders.size.Custom.grams", "#[serde(rename = \"g\")]")
    ///     .attribute("orders.out_of_stock.0", "#[allow(unused)]")
    /// # ;
    /// ```
    attribute("--attribute", part, attribute);

    /// Chooses the Rust type, such as `u32`, that bindings have for OCaml's `int`, instead of
    /// `isize`: in a field, an argument or a result, in a whole type, function or module, or in the
    /// whole program (`"*"`). The longest path counts.
    ///
    /// ```no_run
    /// # use ocaml_boxroot_sys::build::Program;
    /// # let program = Program::new();
    /// program
    ///     .int_as("*", "i64")
    ///     .int_as("orders.order.grams", "u32")
    ///     .int_as("orders.size.Custom.grams", "u32")
    ///     .int_as("orders.reserve.result", "u32")
    /// # ;
    /// ```
    ///
    /// Conversions return an error that names the place, if a number does not fit. Functions of
    /// OCaml take all integers as arguments; this is for their optional arguments, whose types are
    /// fixed. Functions without a token (`[@@noalloc]`) keep `isize`.
    int_as("--int", place, rust_type);

    /// Gives a function of Rust that OCaml calls (an external) a root of its argument, and not a
    /// Rust value: `rooted("orders.audit.order")` for an argument, `rooted("orders.audit")` for all
    /// of them.
    rooted("--rooted", argument);
}

/// Rust bindings to modules that another build compiled: for a Rust library in an OCaml program,
/// which dune builds. If Rust has `main`, [`Program::bind`] makes such bindings.
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
/// The Rust library includes the bindings by `ocaml_boxroot::include_bindings!()`. The OCaml module
/// that [`glue`](Bindings::glue) names must be a part of the same dune library or executable as the
/// modules that are bound.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    selection: Selection,
    folders: Vec<PathBuf>,
    packages: Vec<String>,
    glue: Option<PathBuf>,
}

impl Bindings {
    /// Bindings to nothing yet.
    pub fn new() -> Bindings {
        Bindings::default()
    }

    /// Adds a folder with compiled interfaces: files `.cmi`; and files `.cmt` and `.cmti`, which
    /// have the documentation, and externals that are in no interface. Rust provides externals of
    /// modules that are bound; the other build must have compiled the present source of these, both
    /// `.mli` and `.ml`. The path is relative to the Rust package. Dune's folders are
    /// `.NAME.objs/byte` for a library, `.NAME.eobjs/byte` for an executable.
    pub fn cmi_dir(mut self, folder: impl AsRef<Path>) -> Bindings {
        self.folders.push(folder.as_ref().to_path_buf());
        self
    }

    /// Adds an installed OCaml library whose types the interfaces name, and the libraries that it
    /// needs. They are found as by [`Program::package`].
    pub fn package(mut self, name: &str) -> Bindings {
        self.packages.push(name.to_string());
        self
    }

    /// Binds a module. The name is that of the module's `.cmi` file: `Foo__Bar` for the module
    /// `Bar` of the dune library `foo`, `Dune__exe__Bar` for the module `Bar` of an executable. In
    /// Rust it is `bar`. `Foo` binds the whole library, as code outside of it sees it.
    pub fn module(mut self, name: &str) -> Bindings {
        // dune's module of aliases, `Foo__`, is a name of its own.
        if let Some(end) = name.trim_end_matches("__").rfind("__") {
            self.selection.add(["--strip", &capitalized(&name[..end + 2])]);
        }
        self.selection.bind(name);
        self
    }

    /// The OCaml file to write, `.ml`. It is a module of the OCaml program. When it is initialised,
    /// it registers the functions that Rust calls. For OCaml to link it, a module that is
    /// initialised before Rust is called must say, for a file `rust_bindings.ml`:
    /// `let () = Rust_bindings.register ()`.
    pub fn glue(mut self, file: impl AsRef<Path>) -> Bindings {
        self.glue = Some(file.as_ref().to_path_buf());
        self
    }

    /// Writes `$OUT_DIR/ocaml_bindings.rs` and the OCaml file. Tells cargo to run the build script
    /// again when one of the compiled interfaces or the OCaml file changes, or is removed. A build
    /// script that runs the other build itself should also name the sources, by
    /// `cargo:rerun-if-changed`.
    ///
    /// # Errors
    ///
    /// If no OCaml is found, if its compiler's libraries are missing, or if a folder, a module or
    /// an item is not there. The text says what to do.
    pub fn write(&self) -> Result<(), Error> {
        let glue = self.glue.as_ref().ok_or_else(|| {
            Error("Bindings::glue must name the OCaml file that registers what Rust calls".into())
        })?;
        // Dune removes what a rule makes before it runs the rule again.
        println!("cargo:rerun-if-changed={}", glue.display());
        let ocaml = OCaml::find()?;
        let mut annotations = Vec::new();
        for folder in &self.folders {
            let entries = fs::read_dir(folder).map_err(|error| {
                Error(format!(
                    "cmi_dir: {}: {error}. It is the folder with the compiled interfaces: with dune, .NAME.eobjs/byte for an \
                     executable, .NAME.objs/byte for a library",
                    folder.display()
                ))
            })?;
            for entry in entries {
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
        // The documentation of an interface (.cmti) counts more than that of its implementation
        // (.cmt), and is read later.
        annotations.sort_by_key(|path| (path.extension().map(|e| e.to_owned()), path.clone()));
        let mut folders = self.folders.clone();
        folders.extend(Packages::find(&ocaml, &self.packages, &[])?.folders);
        self.selection.write(&ocaml, &folders, &annotations, glue, true)
    }
}
