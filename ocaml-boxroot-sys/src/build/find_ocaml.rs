//! Finds OCaml. The first of these that exists decides:
//!
//! 1. `OCAML_WHERE_PATH`: the standard library's folder. No compiler runs, unless OCaml code must
//!    be compiled;
//! 2. `$OCAMLOPT -where`;
//! 3. `ocamlopt -where`, from PATH; then `ocamlfind ocamlopt -where`; then
//!    `opam exec -- ocamlopt -where`.
//!
//! If one of the variables is set but does not work, that is an error: it is not silently ignored.

use super::Error;
use std::{env, fmt::Write as _, fs, path::Path, path::PathBuf, process::Command};

/// An installed OCaml.
pub struct OCaml {
    where_path: PathBuf,
    version: String,
    ocamlopt: Option<Vec<String>>,
}

/// The oldest OCaml that the C library supports.
const OLDEST: (u32, u32) = (4, 13);

impl OCaml {
    /// Finds OCaml in the folder that `OCAML_WHERE_PATH` names; otherwise in the folder that
    /// `$OCAMLOPT -where` prints; otherwise in the folder of the first of these commands that
    /// works: `ocamlopt`, `ocamlfind ocamlopt`, or `opam exec -- ocamlopt`.
    ///
    /// Tells cargo what the result depends on: these variables, `OPAM_SWITCH_PREFIX`, and the
    /// header with the version. PATH is left out, because build tools change it for each sandbox.
    ///
    /// # Errors
    ///
    /// If there is no OCaml, if it is older than 4.13, or if it has no C headers. Also if a
    /// variable is set but does not lead to OCaml, and if `ocaml-boxroot-sys` was compiled for
    /// another version. (The build script knows that version only if its package directly depends
    /// on `ocaml-boxroot` or `ocaml-boxroot-sys`.)
    pub fn find() -> Result<OCaml, Error> {
        for variable in ["OCAML_WHERE_PATH", "OCAMLOPT", "OPAM_SWITCH_PREFIX"] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        let (where_path, ocamlopt) = match variable("OCAML_WHERE_PATH") {
            Some(path) => (PathBuf::from(path), None),
            None => {
                let (path, command) = find_ocamlopt()?;
                (path, Some(command))
            }
        };
        let version = read_version(&where_path)?;
        if parse(&version).is_none_or(|version| version < OLDEST) {
            let (major, minor) = OLDEST;
            return Err(Error(format!(
                "OCaml {version}, in {}, is too old: it must be {major}.{minor} or later.",
                where_path.display()
            )));
        }
        let ocaml = OCaml { where_path, version, ocamlopt };
        ocaml.check_version_of_crates()?;
        Ok(ocaml)
    }

    /// The standard library's folder, which holds `caml/*.h`.
    pub fn where_path(&self) -> &Path {
        &self.where_path
    }

    /// The version, as in `caml/version.h`, for example `5.3.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Checks the version, because cargo does not compile `ocaml-boxroot-sys` again if only PATH
    /// changes. The linker would not notice that the crate's C code is for another OCaml.
    fn check_version_of_crates(&self) -> Result<(), Error> {
        let told = ["DEP_OCAML_BOXROOT_OCAML_VERSION", "DEP_OCAML_BOXROOT_SHIM_OCAML_VERSION"]
            .map(variable);
        let other = told.into_iter().flatten().find(|told| parse(told) != parse(&self.version));
        let Some(other) = other else { return Ok(()) };
        Err(Error(format!(
            "ocaml-boxroot-sys was compiled for OCaml {other}, but OCaml {} was found in {}. To use that one, run `cargo clean \
             -p ocaml-boxroot-sys -p ocaml-boxroot`. Otherwise set OCAMLOPT to the ocamlopt of OCaml {other}.",
            self.version,
            self.where_path.display()
        )))
    }

    /// The first two numbers of the version.
    #[allow(dead_code)] // for bindings only
    pub(super) fn numbers(&self) -> (u32, u32) {
        parse(&self.version).unwrap_or(OLDEST)
    }

    /// The command that compiles OCaml code: a program and its first arguments.
    ///
    /// # Errors
    ///
    /// If `OCAML_WHERE_PATH` named the folder, and no compiler of the same version is found.
    pub fn ocamlopt(&self) -> Result<Vec<String>, Error> {
        if let Some(command) = &self.ocamlopt {
            return Ok(command.clone());
        }
        let (_, command) = find_ocamlopt()?;
        let version = answer(&command, &["-version"])?;
        if version != self.version {
            return Err(Error(format!(
                "OCAML_WHERE_PATH names the folder of OCaml {}, but `{}` is OCaml {version}. Set OCAMLOPT to the \
                 compiler that belongs to the folder, or unset OCAML_WHERE_PATH.",
                self.version,
                command.join(" ")
            )));
        }
        Ok(command)
    }
}

/// An environment variable, unless it is empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The folder that a compiler prints for `-where`, and the compiler's command.
fn find_ocamlopt() -> Result<(PathBuf, Vec<String>), Error> {
    let forced = variable("OCAMLOPT");
    let hint = if forced.is_some() { "\nOCAMLOPT is set, so nothing else was tried." } else { "" };
    let commands: Vec<Vec<String>> = match forced {
        Some(path) => vec![vec![path]],
        None => ["ocamlopt", "ocamlfind ocamlopt", "opam exec -- ocamlopt"]
            .map(|c| c.split(' ').map(String::from).collect())
            .into(),
    };
    let mut tried = String::new();
    for command in commands {
        match answer(&command, &["-where"]) {
            Ok(path) => return Ok((PathBuf::from(path), command)),
            Err(error) => {
                let _ = writeln!(tried, "  - `{} -where`: {error}", command.join(" "));
            }
        }
    }
    Err(Error(format!("no OCaml compiler was found. Tried:\n{tried}{hint}")))
}

/// The output of the command with these arguments.
pub(super) fn answer(command: &[String], arguments: &[&str]) -> Result<String, Error> {
    let output = Command::new(&command[0])
        .args(&command[1..])
        .args(arguments)
        .output()
        .map_err(|error| Error(error.to_string()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error(format!("{}: {}", output.status, message.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The command of another OCaml program, in ocamlopt's folder or with the same prefix
/// (`opam exec --`).
pub(super) fn sibling(ocamlopt: &[String], name: &str) -> Result<Vec<String>, Error> {
    let mut command = ocamlopt.to_vec();
    if let Some(last) = command.last_mut() {
        let at = last.rfind("ocamlopt").ok_or_else(|| {
            Error(format!("`{last}` is not called ocamlopt, so its {name} cannot be found"))
        })?;
        last.replace_range(at..at + "ocamlopt".len(), name);
    }
    Ok(command)
}

fn read_version(where_path: &Path) -> Result<String, Error> {
    let header = where_path.join("caml").join("version.h");
    let text = fs::read_to_string(&header).map_err(|error| {
        Error(format!(
            "cannot read {}: {error}. Is OCaml installed with its C headers?",
            header.display()
        ))
    })?;
    println!("cargo:rerun-if-changed={}", header.display());
    text.lines()
        .find_map(|line| line.strip_prefix("#define OCAML_VERSION_STRING"))
        .map(|rest| rest.trim().trim_matches('"').to_string())
        .ok_or_else(|| Error(format!("{} does not contain the version of OCaml", header.display())))
}

/// The first two numbers of a version.
fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}
