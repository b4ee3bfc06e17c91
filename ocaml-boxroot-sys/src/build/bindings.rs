//! Rust bindings to the OCaml modules of a [`Program`], or of a program that another build
//! compiles.

use super::c_libraries::Library;
use super::generator::{capitalized, uncapitalized, Selection};
use super::packages::Packages;
use super::program::{about, library_file, run};
use super::{Error, OCaml, Program};
use std::fs;
use std::path::{Path, PathBuf};

/// The OCaml module that registers functions and values for bindings.
const GLUE: &str = "ocaml_boxroot_bindings.ml";

impl Program {
    /// Generates Rust bindings to a module of the program, of a library, or of the standard
    /// library: `orders` for the module `Orders`, `stdlib__Hashtbl` for `Hashtbl`. The crate
    /// includes them with `ocaml_boxroot::include_bindings!()`, as a Rust module of this name,
    /// `orders` or `hashtbl`.
    ///
    /// The bindings are generated from OCaml's compiled interface. A generated OCaml module, which
    /// is compiled into the program, restates everything that the bindings rely on. Therefore you
    /// need no `unsafe` promise, and a mismatch does not compile.
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
    /// A package can have only one program with bindings.
    pub fn bind(mut self, module: &str) -> Program {
        self.bound.bind(module);
        self
    }

    /// Generates Rust bindings to all modules of a [`package`](Program::package) or of a
    /// [`library`](Program::library): the modules in its archives, and modules that are reachable
    /// through them. (`lwt.unix` and `lwt` are different packages.) A package without archives,
    /// such as `num`, stands for the packages that it requires. A module that cannot be bound, such
    /// as a functor, is left out with a warning.
    pub fn bind_all(mut self, package: &str) -> Program {
        self.bound_packages.push(package.to_string());
        self
    }

    /// Binds the modules of packages that are bound as a whole.
    pub(super) fn bind_packages(&mut self, ocaml: &OCaml) -> Result<(), Error> {
        for package in &self.bound_packages {
            let archives = if self.libraries.contains(package) {
                vec![library_file(ocaml.where_path(), package)]
            } else {
                let found = self.found.archives_of(package).map(<[PathBuf]>::to_vec);
                found.ok_or_else(|| {
                    Error(format!(
                        "bind_all(\"{package}\"): the program has no such package; also call package(\"{package}\")"
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
                // In dune's libraries, the module Bar of Foo is Foo__Bar.
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

    /// Compiles the modules, generates the bindings, and compiles their OCaml module. Returns the
    /// files to link.
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
        // The documentation of an interface (.cmti) takes precedence over that of its
        // implementation, so it is read later.
        let mut annotations = Vec::new();
        for kind in ["cmt", "cmti"] {
            annotations
                .extend(implementations.iter().map(|name| folder.join(format!("{name}.{kind}"))));
        }
        annotations.retain(|file| file.exists());
        self.bound.write(ocaml, &folders, &annotations, &folder.join(GLUE), false)?;
        // This command leaves out the user's flags, because some change the meaning of names
        // (`-open`). It has only `-rectypes`, which interfaces need.
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

/// Options for both `Program` and `Bindings`.
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

            /// Binds only these items, and the types that they use: `orders.reserve` for one item,
            /// or `orders.archive` for all items of the module `Archive` in `Orders`.
            pub fn only<I: AsRef<str>>(mut self, items: impl IntoIterator<Item = I>) -> Self {
                for item in items {
                    self.$selection.add(["--only", item.as_ref()]);
                }
                self
            }

            /// Derives more traits for the Rust type of an OCaml type or exception:
            /// `derive("orders.size", ["PartialOrd", "serde::Serialize"])`.
            ///
            /// By default, generated types derive `Clone`, `Debug` and `PartialEq`. Types without
            /// floats also derive `Eq` and `Hash`, and enums without arguments derive `Copy`. Types
            /// that contain a root derive only `Debug`. Types that contain a type from
            /// [`with`](Self::with) derive `Eq` and `Hash` only on request, because the generator
            /// does not know that type.
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
    /// Converts an OCaml type of a bound module to this Rust type, instead of a generated one. The
    /// path begins with `crate::`. The Rust type must have the fields or constructors of the OCaml
    /// type, with the names and types of the generated type, and derive `Clone`, `Debug` and
    /// `PartialEq`.
    ///
    /// If the OCaml type is abstract, the Rust type implements it: in Rust, its values are roots of
    /// an `OCamlBox` of the Rust type, which externals return and take. The implementation of the
    /// OCaml module must also declare the type without a definition (`type handle`), so that OCaml
    /// code cannot make values of it. A Rust type can implement only one OCaml type.
    with("--with", ocaml_type, rust_type);

    /// Gives an item another name in Rust: `rename("orders.find'", "find_exactly")`, or
    /// `rename("orders.+", "add")` instead of the default `op_plus`. If the Rust name begins with a
    /// capital letter, the item is a type or an exception. Modules keep their names.
    rename("--rename", item, rust_name);

    /// Generates no Rust type for an OCaml type of a bound module: Rust can hold only roots of its
    /// values.
    opaque("--opaque", ocaml_type);

    /// Adds an attribute to the Rust type of an OCaml type or exception, or to its field,
    /// constructor, or numbered argument:
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

    /// Chooses the Rust type, such as `u32`, for OCaml's `int`, instead of `isize`: in a field, an
    /// argument or a result, in a whole type, function or module, or in the whole program (`"*"`).
    /// The longest matching path wins.
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
    /// If a number does not fit, the conversion returns an error that names the place. Arguments of
    /// OCaml functions take all integer types, except optional arguments, whose types this option
    /// sets. Functions without a token (`[@@noalloc]`) keep `isize`.
    int_as("--int", place, rust_type);

    /// Passes an argument of an external, a Rust function that OCaml calls, as a root instead of a
    /// Rust value: `rooted("orders.audit.order")` for one argument, `rooted("orders.audit")` for
    /// all.
    rooted("--rooted", argument);
}

/// Rust bindings to modules that another build compiled, for example for a Rust library in an OCaml
/// program that dune builds. If Rust has `main`, use [`Program::bind`] instead.
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
/// The Rust library includes the bindings with `ocaml_boxroot::include_bindings!()`. The OCaml
/// module that [`glue`](Bindings::glue) writes must be a part of the same dune library or
/// executable as the bound modules.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    selection: Selection,
    folders: Vec<PathBuf>,
    packages: Vec<String>,
    glue: Option<PathBuf>,
}

impl Bindings {
    /// Returns bindings to no modules yet.
    pub fn new() -> Bindings {
        Bindings::default()
    }

    /// Adds a folder with compiled interfaces (`.cmi`). Its `.cmt` and `.cmti` files provide the
    /// documentation, and externals that are not in an interface. Rust provides the externals of
    /// bound modules; for these, the other build must have compiled the current `.mli` and `.ml`.
    /// The path is relative to the Rust package. Dune's folders are `.NAME.objs/byte` for a library
    /// and `.NAME.eobjs/byte` for an executable.
    pub fn cmi_dir(mut self, folder: impl AsRef<Path>) -> Bindings {
        self.folders.push(folder.as_ref().to_path_buf());
        self
    }

    /// Adds an installed OCaml library whose types the interfaces name, and the libraries that it
    /// needs. They are found as in [`Program::package`].
    pub fn package(mut self, name: &str) -> Bindings {
        self.packages.push(name.to_string());
        self
    }

    /// Binds a module. Its name is that of its `.cmi` file: `Foo__Bar` for the module `Bar` of the
    /// dune library `foo`, `Dune__exe__Bar` for the module `Bar` of an executable. In Rust it is
    /// `bar`. `Foo` binds the whole library, as other code sees it.
    pub fn module(mut self, name: &str) -> Bindings {
        // dune's module of aliases, `Foo__`, has no such prefix.
        if let Some(end) = name.trim_end_matches("__").rfind("__") {
            self.selection.add(["--strip", &capitalized(&name[..end + 2])]);
        }
        self.selection.bind(name);
        self
    }

    /// Sets the OCaml file (`.ml`) to write, a module of the OCaml program. When it is initialised,
    /// it registers the functions that Rust calls. To make OCaml link a file `rust_bindings.ml`,
    /// write `let () = Rust_bindings.register ()` in a module that is initialised before Rust is
    /// called.
    pub fn glue(mut self, file: impl AsRef<Path>) -> Bindings {
        self.glue = Some(file.as_ref().to_path_buf());
        self
    }

    /// Writes `$OUT_DIR/ocaml_bindings.rs` and the OCaml file. Tells cargo to run the build script
    /// again when one of the compiled interfaces or the OCaml file changes, or is removed. A build
    /// script that runs the other build itself should also print `cargo:rerun-if-changed` for the
    /// sources.
    ///
    /// # Errors
    ///
    /// If OCaml, its compiler's libraries, a folder, a module or an item is not found. The text
    /// says what to do.
    pub fn write(&self) -> Result<(), Error> {
        let glue = self.glue.as_ref().ok_or_else(|| {
            Error("Bindings::glue must name the OCaml file that registers what Rust calls".into())
        })?;
        // Dune removes the targets of a rule before it runs the rule again.
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
        // The documentation of an interface (.cmti) takes precedence over that of its
        // implementation (.cmt), so it is read later.
        annotations.sort_by_key(|path| (path.extension().map(|e| e.to_owned()), path.clone()));
        let mut folders = self.folders.clone();
        folders.extend(Packages::find(&ocaml, &self.packages, &[])?.folders);
        self.selection.write(&ocaml, &folders, &annotations, glue, true)
    }
}
