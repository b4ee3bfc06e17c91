//! Where is OCaml? Tries, in this order, and stops at the first that works:
//!
//! 1. `OCAML_WHERE_PATH`: the standard library's folder, no compiler needed;
//! 2. `$OCAMLOPT -where`;
//! 3. `ocamlopt -where`, from PATH;
//! 4. `ocamlfind ocamlopt -where`;
//! 5. `opam exec -- ocamlopt -where`.
//!
//! A variable that is set and does not work is an error: it is not silently ignored.

use std::{env, fmt::Write as _, fs, path::PathBuf, process::Command};

pub struct OCaml {
    /// The standard library's folder, which holds `caml/*.h`.
    pub where_path: PathBuf,
    /// As in `caml/version.h`, for example `5.3.0`.
    #[allow(dead_code)] // not every build script needs it
    pub version: String,
    /// The command that compiles OCaml, with its first arguments, if it is known.
    pub ocamlopt: Option<Vec<String>>,
}

/// The environment variables that change the answer.
pub const VARIABLES: [&str; 3] = ["OCAML_WHERE_PATH", "OCAMLOPT", "PATH"];

pub fn find() -> Result<OCaml, String> {
    let mut tried = String::new();
    let ocamlopt = env::var("OCAMLOPT").ok().filter(|s| !s.is_empty());
    let forced = ocamlopt.is_some();
    let commands: Vec<Vec<String>> = match ocamlopt {
        Some(path) => vec![vec![path]],
        None => ["ocamlopt", "ocamlfind ocamlopt", "opam exec -- ocamlopt"]
            .map(|c| c.split(' ').map(String::from).collect())
            .into(),
    };
    let works = |command: &Vec<String>, tried: &mut String| match ask_where(command) {
        Ok(path) => Some((path, command.clone())),
        Err(error) => {
            let _ = writeln!(tried, "  - `{} -where`: {error}", command.join(" "));
            None
        }
    };
    let found = commands.iter().find_map(|command| works(command, &mut tried));
    let (where_path, ocamlopt) = match (env::var_os("OCAML_WHERE_PATH"), found) {
        (Some(path), found) => (PathBuf::from(path), found.map(|f| f.1)),
        (None, Some((path, command))) => (path, Some(command)),
        (None, None) => {
            let hint = if forced { "\nOCAMLOPT is set, so nothing else was tried." } else { "" };
            return Err(format!("no OCaml compiler was found. Tried:\n{tried}{hint}"));
        }
    };
    let version = read_version(&where_path)?;
    Ok(OCaml { where_path, version, ocamlopt })
}

fn ask_where(command: &[String]) -> Result<PathBuf, String> {
    let output = Command::new(&command[0])
        .args(&command[1..])
        .arg("-where")
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, message.trim()));
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn read_version(where_path: &std::path::Path) -> Result<String, String> {
    let header = where_path.join("caml").join("version.h");
    let text = fs::read_to_string(&header).map_err(|error| {
        format!("cannot read {}: {error}. Is OCaml installed with its C headers?", header.display())
    })?;
    text.lines()
        .find_map(|line| line.strip_prefix("#define OCAML_VERSION_STRING"))
        .map(|rest| rest.trim().trim_matches('"').to_string())
        .ok_or_else(|| format!("{} does not tell the version of OCaml", header.display()))
}
