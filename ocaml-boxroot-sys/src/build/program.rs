use super::c_libraries::{CLibraries, Library};
use super::find_ocaml::{answer, sibling};
use super::generator::{no_bindings, registers_domains, Selection};
use super::packages::Packages;
use super::{Error, OCaml};
use std::path::{Path, PathBuf};
use std::{env, fs, io, process::Command};

/// An OCaml program inside a Rust program: modules, libraries, and a runtime.
///
/// A program that Rust starts needs no modules: `Program::new().library("threads")` is a runtime
/// that all threads can use. All modules, and the modules of all packages, are linked and
/// initialised, even if no other module uses them. Without packages, a program contains only those
/// modules of the standard library that it uses. For plugins that use other modules of the standard
/// library, `flag("-linkall")` links all modules. On OCaml 5, `Domain` is always linked, for the
/// pools of domains of `ocaml-boxroot`.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The modules' names, and their source files.
    modules: Vec<(String, PathBuf)>,
    pub(super) libraries: Vec<String>,
    pub(super) flags: Vec<String>,
    packages: Vec<String>,
    package_folders: Vec<PathBuf>,
    /// The packages, which are found when the program is compiled.
    pub(super) found: Packages,
    pub(super) bound: Selection,
    /// Packages whose modules are all bound.
    pub(super) bound_packages: Vec<String>,
}

impl Program {
    /// Returns a program that is only a runtime.
    pub fn new() -> Program {
        Program::default()
    }

    /// Adds the module of this `.ml` file. The path is relative to the package. An interface
    /// (`.mli`) in the same folder is also used. Modules may be added in any order, because each is
    /// initialised after the modules that it uses.
    pub fn module(self, file: impl AsRef<Path>) -> Program {
        let name = file.as_ref().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.module_named(&name, file)
    }

    /// Adds a module under a name that is not its file's. The name has no `.ml`.
    pub fn module_named(mut self, name: &str, file: impl AsRef<Path>) -> Program {
        self.modules.push((name.to_string(), file.as_ref().to_path_buf()));
        self
    }

    /// Adds a library of the OCaml distribution: `unix`, `threads` (with `unix`), `str`, …
    /// Libraries are linked in the order of these calls. Rust threads can use OCaml only if
    /// `threads` is linked.
    pub fn library(mut self, name: &str) -> Program {
        if name == "threads" {
            self = self.library("unix");
        }
        if !self.libraries.iter().any(|library| library == name) {
            self.libraries.push(name.to_string());
        }
        self
    }

    /// Adds an installed OCaml library, and the libraries that it needs, by its name for
    /// `ocamlfind` and dune: `yojson`, `foo.bar`. This looks for its `META` file in the folders of
    /// [`package_dir`](Program::package_dir), in the folders that `OCAMLPATH` names, and beside
    /// OCaml, where opam and Debian install libraries. The linker finds the C libraries that this
    /// library needs, as for any program, either shared (`.so`) or as archives (`.a`).
    pub fn package(mut self, name: &str) -> Program {
        self.packages.push(name.to_string());
        self
    }

    /// Searches this folder first for OCaml packages. For libraries that dune builds in the same
    /// repository, the folder is `_build/install/default/lib`, after `dune build @install`. The
    /// path is relative to the Rust package.
    pub fn package_dir(mut self, folder: impl AsRef<Path>) -> Program {
        self.package_folders.push(folder.as_ref().to_path_buf());
        self
    }

    /// Adds an argument for `ocamlopt`, for example `-O3` or `-runtime-variant`.
    pub fn flag(mut self, flag: &str) -> Program {
        self.flags.push(flag.to_string());
        self
    }

    /// Compiles the program, and links it into this package's targets. If the package is a library,
    /// links it into all programs that use the library. (`use name_of_the_package as _;` is
    /// enough.)
    ///
    /// # Errors
    ///
    /// If OCaml is not found, if its compiler generates code for a machine other than the target,
    /// or if compiling fails. The text says what to do, or has the compiler's output.
    pub fn link(&self) -> Result<(), Error> {
        check_told()?;
        let ocaml = OCaml::find()?;
        let name = name_of_program()?;
        let (object, c_libraries) = self.compile(&ocaml, &name)?;
        link_archive(&object, &c_libraries, &name, WHOLE)
    }

    /// Like [`link`](Program::link), for an OCaml program that another build has compiled, with its
    /// runtime, to one object file: with `ocamlopt -output-complete-obj`, or dune's
    /// `(modes object)`.
    ///
    /// If Rust calls the program through bindings, the build script must first generate them with
    /// [`Bindings`](super::Bindings), because their OCaml module has to be compiled into the
    /// object. If OCaml 4 cannot find `-lpthread`, which `threads.cmxa` needs, pass `-I` to
    /// ocamlopt, with the folder of the file that `cc -print-file-name=libpthread.a` prints.
    ///
    /// # Errors
    ///
    /// If OCaml or the file is not found.
    pub fn link_object(file: impl AsRef<Path>) -> Result<(), Error> {
        let file = file.as_ref();
        println!("cargo:rerun-if-changed={}", file.display());
        fs::metadata(file).map_err(|error| about(file, error))?;
        let mut c_libraries = CLibraries::default();
        c_libraries.add_runtime(&OCaml::find()?)?;
        link_archive(file, &c_libraries, &name_of_program()?, WHOLE)
    }

    /// Like [`link`](Program::link), but only for some of this package's programs: `bins`, `tests`,
    /// `examples`, `benches`, or `bin=NAME`, as in cargo's `rustc-link-arg-bins` and similar
    /// instructions. For example, a package can link one OCaml program into its tests, and another
    /// one into its examples.
    ///
    /// # Errors
    ///
    /// Those of [`link`](Program::link).
    pub fn link_into(&self, target: &str) -> Result<(), Error> {
        if ["DEP_OCAML_BOXROOT_RUNTIME", "DEP_OCAML_BOXROOT_SHIM_RUNTIME"]
            .iter()
            .any(|v| env::var_os(v).is_some())
        {
            println!("cargo:warning={TWO_RUNTIMES}");
        }
        check_told()?;
        let ocaml = OCaml::find()?;
        let name =
            format!("ocaml_program_of_{}", target.replace(|c: char| !c.is_alphanumeric(), "_"));
        let (object, c_libraries) = self.compile(&ocaml, &name)?;
        println!("cargo:rustc-link-arg-{target}={}", object.display());
        c_libraries.link_into(target);
        Ok(())
    }

    /// For this crate itself: makes an archive that is linked if no earlier file provides a
    /// runtime.
    #[allow(dead_code)] // only used by the build script
    pub(crate) fn link_if_needed(&self, ocaml: &OCaml, name: &str) -> Result<(), Error> {
        check_told()?;
        let (object, c_libraries) = self.compile(ocaml, name)?;
        link_archive(&object, &c_libraries, name, "static")
    }

    /// Compiles the program and its runtime to one object file of this name. Also returns the C
    /// libraries.
    fn compile(&self, ocaml: &OCaml, name: &str) -> Result<(PathBuf, CLibraries), Error> {
        let mut program = self.clone();
        program.found = Packages::find(ocaml, &self.packages, &self.package_folders)?;
        for library in program.found.libraries.clone() {
            program = program.library(&library);
        }
        program.bind_packages(ocaml)?;
        program.compile_found(ocaml, name)
    }

    fn compile_found(&self, ocaml: &OCaml, name: &str) -> Result<(PathBuf, CLibraries), Error> {
        let ocamlopt = ocaml.ocamlopt()?;
        check_architecture(&ocamlopt)?;
        // ocamlopt writes its files beside the sources, so it gets copies in a new folder.
        let folder = out_dir()?.join(name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(about(&folder, error))
            }
            _ => fs::create_dir_all(&folder).map_err(|error| about(&folder, error))?,
        }
        let mut sources = self.sort(&ocamlopt, &folder, self.copy_sources(&folder)?)?;
        if self.bound.modules.is_empty() {
            no_bindings()?;
        } else {
            sources = self.bind_modules(ocaml, &folder, sources)?;
        }
        if let Some(text) = registers_domains(ocaml) {
            let file = folder.join(DOMAINS);
            fs::write(&file, text).map_err(|error| about(&file, error))?;
            sources.push(DOMAINS.to_string());
        }
        let object = folder.join(format!("{name}.o"));
        let mut command = self.ocamlopt(&ocamlopt, &folder);
        command.args(["-output-complete-obj", "-noautolink", "-o"]).arg(&object);
        if !self.found.archives.is_empty() {
            // All modules of packages are linked, even if nothing uses them. OCaml's own libraries,
            // except for the standard library, are already marked for this.
            command.arg("-linkall");
        }
        let (flags, c_libraries) = self.c_libraries(ocaml)?;
        command.args(flags);
        command.args(self.libraries.iter().map(|library| format!("{library}.cmxa")));
        run(command.args(&self.found.archives).args(sources).args(&c_libraries.stubs))?;
        Ok((object, c_libraries))
    }

    /// The flags without those for C, and the C libraries that the program needs.
    fn c_libraries(&self, ocaml: &OCaml) -> Result<(Vec<String>, CLibraries), Error> {
        let mut c_libraries = CLibraries::default();
        let standard = ocaml.where_path();
        let mut folders = self.found.folders.clone();
        folders.push(standard.to_path_buf());
        let own = self.libraries.iter().map(|library| library_file(standard, library));
        for file in own.chain(self.found.archives.iter().cloned()).filter(|file| file.exists()) {
            let beside = file.parent().unwrap_or(standard).to_path_buf();
            let folders = [std::slice::from_ref(&beside), &folders].concat();
            c_libraries.add_library(&Library::read(ocaml, &file)?, &folders);
        }
        let (mut flags, mut for_c) = (Vec::new(), Vec::new());
        let mut words = self.flags.iter();
        while let Some(word) = words.next() {
            if ["-cclib", "-ccopt"].contains(&word.as_str()) {
                for_c.extend(
                    words.next().into_iter().flat_map(|w| w.split_whitespace()).map(String::from),
                );
            } else {
                flags.push(word.clone());
            }
        }
        c_libraries.add(&for_c, &folders);
        c_libraries.add_runtime(ocaml)?;
        Ok((flags, c_libraries))
    }

    /// The compiler command, with this folder and the libraries' interfaces.
    pub(super) fn ocamlopt(&self, ocamlopt: &[String], folder: &Path) -> Command {
        let mut command = Command::new(&ocamlopt[0]);
        // Debian omits the `.cmx` files of some modules, so code is called instead of inlined.
        command.args(&ocamlopt[1..]).current_dir(folder).args(["-g", "-w", "-58"]);
        // On OCaml 4, most libraries are in the standard folder; on OCaml 5 they have their own
        // folders.
        for library in &self.libraries {
            command.args(["-I", &format!("+{library}")]);
        }
        for folder in &self.found.folders {
            command.arg("-I").arg(folder);
        }
        command
    }

    /// The sources, each after the sources that it uses.
    fn sort(
        &self,
        ocamlopt: &[String],
        folder: &Path,
        sources: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        if sources.len() < 2 {
            return Ok(sources);
        }
        let command = sibling(ocamlopt, "ocamldep")?;
        // The flags `-pp` and `-ppx`, each with its argument.
        let preprocessors =
            self.flags.windows(2).filter(|pair| pair[0] == "-pp" || pair[0] == "-ppx").flatten();
        let mut run = Command::new(&command[0]);
        run.args(&command[1..]).args(preprocessors).arg("-sort").args(sources).current_dir(folder);
        let output = run.output().map_err(|error| about(&command[0], error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(Error(format!("{} failed:\n{}", command.join(" "), message.trim())));
        }
        let sorted = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(sorted.split_whitespace().map(String::from).collect())
    }

    /// Copies the modules, and returns the names of the copies.
    fn copy_sources(&self, folder: &Path) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for (name, file) in &self.modules {
            for (extension, is_needed) in [("mli", false), ("ml", true)] {
                let source = file.with_extension(extension);
                if is_needed || source.exists() {
                    let copy = format!("{name}.{extension}");
                    if names.contains(&copy) {
                        return Err(Error(format!(
                            "{}: another module has this name; rename one with module_named",
                            source.display()
                        )));
                    }
                    println!("cargo:rerun-if-changed={}", source.display());
                    fs::copy(&source, folder.join(&copy)).map_err(|error| about(&source, error))?;
                    names.push(copy);
                } else {
                    watch_for_interfaces(file);
                }
            }
        }
        Ok(names)
    }
}

/// Tells cargo to run the build script again when an interface is added beside a module without
/// one. This names the folder, because cargo treats a missing file as always changed. A folder with
/// Rust code or with other folders is left out, because many other changes happen there.
fn watch_for_interfaces(module: &Path) {
    let Some(folder) = module.parent() else { return };
    let Ok(files) = fs::read_dir(folder) else { return };
    let is_ocaml = |path: PathBuf| {
        path.is_file() && !path.extension().is_some_and(|e| e == "rs" || e == "toml")
    };
    if files.flatten().all(|entry| is_ocaml(entry.path())) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
}

/// The module that registers `Domain.spawn` for pools of domains.
const DOMAINS: &str = "ocaml_boxroot_domains.ml";

const TWO_RUNTIMES: &str =
    "two OCaml runtimes: this build script links one with a program, and the feature `link-runtime` of ocaml-boxroot \
     (`link-ocaml-runtime-and-dummy-program` of ocaml-boxroot-sys) links another. If the linker now says 'duplicate \
     symbol: caml_...' or 'multiple definition of caml_...', remove that feature.";

/// Runs a compiler, and shows its warnings.
pub(super) fn run(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(|error| about(command.get_program(), error))?;
    let message = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let program = command.get_program().to_string_lossy();
        return Err(Error(format!("{program} failed:\n{}", message.trim())));
    }
    for line in message.lines() {
        println!("cargo:warning={line}");
    }
    Ok(())
}

/// An error about a file or a program.
pub(super) fn about(what: impl AsRef<Path>, error: io::Error) -> Error {
    Error(format!("{}: {error}", what.as_ref().display()))
}

/// An environment variable that cargo sets for build scripts.
fn variable(name: &str) -> Result<String, Error> {
    env::var(name).map_err(|_| {
        Error(format!("{name} is not set: only a build script that cargo runs can use this"))
    })
}

pub(super) fn out_dir() -> Result<PathBuf, Error> {
    variable("OUT_DIR").map(PathBuf::from)
}

/// When cross-compiling, refuses a compiler that was found on PATH and not named by OCAMLOPT.
fn check_told() -> Result<(), Error> {
    let (host, target) = (variable("HOST")?, variable("TARGET")?);
    if host == target || env::var_os("OCAMLOPT").is_some() {
        return Ok(());
    }
    Err(Error(format!(
        "this build is for {target}, but the ocamlopt on PATH makes code for {host}. Set OCAMLOPT to the \
         ocamlopt that makes code for {target}."
    )))
}

/// Refuses a compiler that generates code for another processor.
fn check_architecture(ocamlopt: &[String]) -> Result<(), Error> {
    let architecture = answer(ocamlopt, &["-config-var", "architecture"])?;
    let rust_architecture = variable("CARGO_CFG_TARGET_ARCH")?;
    let wanted = match rust_architecture.as_str() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "i386",
        "riscv64" => "riscv",
        "powerpc64" => "power",
        other => other,
    };
    if architecture != wanted {
        return Err(Error(format!(
            "this build is for {target}, but `{}` makes code for {architecture}. Set OCAMLOPT to the ocamlopt \
             that makes code for {target}.",
            ocamlopt.join(" "),
            target = variable("TARGET")?
        )));
    }
    Ok(())
}

/// A program is linked as a whole, because the crates that need the runtime come later on the
/// linker's command line.
const WHOLE: &str = "static:+whole-archive";

/// The name of the archive of this package's program.
fn name_of_program() -> Result<String, Error> {
    Ok(format!("ocaml_program_of_{}", variable("CARGO_PKG_NAME")?.replace('-', "_")))
}

/// Links an object as an archive of this name. `kind` is a kind for cargo's `rustc-link-lib`.
fn link_archive(
    object: &Path,
    c_libraries: &CLibraries,
    name: &str,
    kind: &str,
) -> Result<(), Error> {
    archive(object, name)?;
    println!("cargo:rustc-link-lib={kind}={name}");
    c_libraries.link();
    Ok(())
}

/// The file of a library of the OCaml distribution. On OCaml 4 most are in the standard folder; on
/// OCaml 5 they have their own folders.
pub(super) fn library_file(standard: &Path, name: &str) -> PathBuf {
    let file = format!("{name}.cmxa");
    let own = standard.join(name).join(&file);
    if own.exists() {
        own
    } else {
        standard.join(file)
    }
}

/// Makes an archive of the object, and tells cargo its folder.
fn archive(object: &Path, name: &str) -> Result<(), Error> {
    let mut compiler = cc::Build::new();
    compiler.object(object).cargo_metadata(false);
    compiler.try_compile(name).map_err(|error| Error(error.to_string()))?;
    println!("cargo:rustc-link-search=native={}", out_dir()?.display());
    Ok(())
}
