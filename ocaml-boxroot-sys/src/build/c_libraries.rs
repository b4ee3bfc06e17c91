//! The C libraries that the OCaml libraries of a program (`.cmxa`) need.
//!
//! OCaml's compiler makes one object file of the program with a partial link. The object file must
//! contain the stubs, which are in archives beside the OCaml libraries. System libraries must not
//! take part: the partial link does not find shared libraries, and would copy parts of `libm.a`,
//! which the final link adds again. So the compiler gets the names of the stubs (`-noautolink`),
//! and cargo gets the other libraries.

use super::find_ocaml::{answer, sibling};
use super::{Error, OCaml};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The contents of a `.cmxa` file, from `ocamlobjinfo`.
pub(super) struct Library {
    /// The names of its modules.
    pub modules: Vec<String>,
    /// Arguments for the C compiler: `-lname`, `-Lfolder`, …
    words: Vec<String>,
}

impl Library {
    pub fn read(ocaml: &OCaml, file: &Path) -> Result<Library, Error> {
        let ocamlopt = ocaml.ocamlopt()?;
        // `ocamlfind` runs OCaml's compilers, but not `ocamlobjinfo`.
        let beside = ocaml.where_path().join("../../bin/ocamlobjinfo");
        let commands = [sibling(&ocamlopt, "ocamlobjinfo")?, vec![beside.display().to_string()]];
        let mut tried = Vec::new();
        for command in commands {
            match Command::new(&command[0]).args(&command[1..]).arg(file).output() {
                Ok(output) if output.status.success() => {
                    return Ok(Library::parse(&String::from_utf8_lossy(&output.stdout)));
                }
                Ok(output) => {
                    tried.push(String::from_utf8_lossy(&output.stderr).trim().to_string())
                }
                Err(error) => tried.push(format!("{}: {error}", command.join(" "))),
            }
        }
        Err(Error(format!(
            "OCaml's program ocamlobjinfo does not say which C libraries {} needs. It comes with OCaml's compiler \
             (in Debian, in the package `ocaml`).\n{}",
            file.display(),
            tried.join("\n")
        )))
    }

    fn parse(text: &str) -> Library {
        let rest =
            |begin: &'static str| text.lines().filter_map(move |line| line.strip_prefix(begin));
        let words = |begin| rest(begin).flat_map(str::split_whitespace).map(String::from);
        Library {
            modules: rest("Name:").map(|name| name.trim().to_string()).collect(),
            words: words("Extra C options:").chain(words("Extra C object files:")).collect(),
        }
    }
}

/// The C libraries that a program needs.
#[derive(Debug, Default)]
pub(super) struct CLibraries {
    /// Stubs, for OCaml's compiler.
    pub stubs: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Names of libraries, and of macOS frameworks: `framework=Accelerate`.
    names: Vec<String>,
    arguments: Vec<String>,
}

impl CLibraries {
    /// Adds the C libraries for an OCaml library. `folders` are the folders of OCaml libraries,
    /// that of this library first.
    pub fn add_library(&mut self, library: &Library, folders: &[PathBuf]) {
        self.add(&library.words, folders);
    }

    /// Adds the libraries on a command line for the C compiler.
    pub fn add(&mut self, words: &[String], folders: &[PathBuf]) {
        let named: Vec<PathBuf> =
            words.iter().filter_map(|word| word.strip_prefix("-L")).map(PathBuf::from).collect();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(name) = word.strip_prefix("-l") {
                self.add_name(name, &named, folders);
            } else if word == "-pthread" {
                self.names.push("pthread".into());
            } else if word == "-framework" {
                self.names.extend(words.next().map(|name| format!("framework={name}")));
            } else if word.starts_with("-Wl,") || word.starts_with("-f") {
                // for the linker, or for the compiler's own libraries (`-fopenmp`)
                self.arguments.push(word.into());
            } else if !word.starts_with('-') {
                let file = folders.iter().map(|folder| folder.join(word)).find(|f| f.exists());
                self.stubs.extend(file);
            }
        }
        self.folders.extend(named);
    }

    /// Uses the first folder that has the library, as a linker does.
    fn add_name(&mut self, name: &str, named: &[PathBuf], folders: &[PathBuf]) {
        let has = |folder: &Path, end: &str| folder.join(format!("lib{name}.{end}")).exists();
        for folder in named.iter().chain(folders) {
            let is_shared = has(folder, "so") || has(folder, "dylib");
            if !is_shared && has(folder, "a") && folders.contains(folder) {
                self.stubs.push(folder.join(format!("lib{name}.a")));
                return;
            }
            if is_shared || has(folder, "a") {
                self.folders.push(folder.clone());
                break;
            }
        }
        self.names.push(name.into());
    }

    /// Adds the libraries that OCaml's runtime needs. With musl, its threads get larger stacks:
    /// OCaml names no size, and musl's 128 KiB are too small for calls between Rust and OCaml.
    pub fn add_runtime(&mut self, ocaml: &OCaml) -> Result<(), Error> {
        let flags = answer(&ocaml.ocamlopt()?, &["-config-var", "native_c_libraries"])?;
        self.names.extend(
            flags.split_whitespace().filter_map(|f| f.strip_prefix("-l")).map(String::from),
        );
        if is_musl() {
            self.arguments.push("-Wl,-z,stack-size=2097152".into());
        }
        Ok(())
    }

    /// The names for the linker, each once, after the libraries that need it.
    fn names(&self) -> Vec<&str> {
        // These libraries are parts of musl's libc. With these names, the linker would find the
        // libraries of the build machine.
        let is_in_libc = |name: &str| is_musl() && ["m", "pthread", "dl", "rt"].contains(&name);
        let is_last = |i: usize| !self.names[i + 1..].contains(&self.names[i]);
        let last = self.names.iter().enumerate().filter(|(i, _)| is_last(*i));
        last.map(|(_, name)| name.as_str()).filter(|name| !is_in_libc(name)).collect()
    }

    /// Tells cargo to link the libraries into this package's targets and, if the package is a
    /// library, into its users.
    pub fn link(&self) {
        for folder in &self.folders {
            println!("cargo:rustc-link-search=native={}", folder.display());
        }
        for name in self.names() {
            println!("cargo:rustc-link-lib={name}");
        }
        for argument in &self.arguments {
            println!("cargo:rustc-link-arg={argument}");
        }
    }

    /// Tells cargo to link the libraries only into some of the package's programs.
    pub fn link_into(&self, target: &str) {
        let folders = self.folders.iter().map(|folder| format!("-L{}", folder.display()));
        let names = self.names().into_iter().map(|name| match name.strip_prefix("framework=") {
            Some(framework) => format!("-Wl,-framework,{framework}"),
            None => format!("-l{name}"),
        });
        for argument in folders.chain(names).chain(self.arguments.iter().cloned()) {
            println!("cargo:rustc-link-arg-{target}={argument}");
        }
    }
}

fn is_musl() -> bool {
    env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "musl")
}
