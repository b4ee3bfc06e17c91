//! Tests which OCaml the build script finds, and when cargo runs the script again: builds this
//! crate in different environments.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// One build. `variables` are the only environment variables that name an OCaml.
struct Build {
    succeeded: bool,
    output: String,
}

impl Build {
    fn run(target: &Path, variables: &[(&str, &Path)]) -> Build {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "-p",
            "ocaml-boxroot-sys",
            "--message-format=json",
            "--manifest-path",
        ]);
        cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        cargo.arg("--target-dir").arg(target);
        for variable in ["DOCS_RS", "OCAML_WHERE_PATH", "OCAMLOPT", "OPAM_SWITCH_PREFIX"] {
            cargo.env_remove(variable);
        }
        for (variable, value) in variables {
            cargo.env(variable, value);
        }
        let output = cargo.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Build {
            succeeded: output.status.success(),
            output: String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// Cargo's last message about this crate with this `reason`, as a line of JSON.
    fn message(&self, reason: &str) -> &str {
        let is_wanted = |line: &&str| {
            line.contains(&format!("\"reason\":\"{reason}\""))
                && line.contains("ocaml-boxroot-sys#")
        };
        assert!(self.succeeded, "{}", self.output);
        self.output.lines().rfind(is_wanted).unwrap_or_else(|| panic!("{}", self.output))
    }

    fn has_c_library(&self) -> bool {
        self.message("build-script-executed").contains("static=boxroot")
    }

    fn was_fresh(&self) -> bool {
        self.message("compiler-artifact").contains("\"fresh\":true")
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The folder for tests that do not depend on the files of earlier builds.
fn shared() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared")
}

fn ocamlopt() -> PathBuf {
    std::env::var_os("OCAMLOPT").unwrap_or("ocamlopt".into()).into()
}

/// OCaml's folder.
fn where_path() -> PathBuf {
    let output = Command::new(ocamlopt()).arg("-where").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().into()
}

/// PATH, preceded by commands that fail and leave a file `was_run` in `folder`.
fn path_with_broken_commands(folder: &Path) -> PathBuf {
    for command in ["ocamlopt", "ocamlfind", "opam"] {
        let file = folder.join(command);
        fs::write(&file, format!("#!/bin/sh\ntouch '{}/was_run'\nexit 1\n", folder.display()))
            .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    with_folder_on_path(folder)
}

fn with_folder_on_path(folder: &Path) -> PathBuf {
    let mut path = folder.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    path.into()
}

#[test]
fn a_folder_is_enough() {
    let folder = folder("a_folder_is_enough");
    let path = path_with_broken_commands(&folder);
    let build = Build::run(&shared(), &[("PATH", &path), ("OCAML_WHERE_PATH", &where_path())]);
    assert!(build.has_c_library());
    assert!(!folder.join("was_run").exists(), "a compiler was run");
}

#[test]
fn windows() {
    let target = Path::new("x86_64-pc-windows-gnu");
    let build = Build::run(&shared(), &[("CARGO_BUILD_TARGET", target)]);
    assert!(
        !build.succeeded && build.output.contains("not supported on Windows"),
        "{}",
        build.output
    );
}

#[test]
fn no_ocaml() {
    let folder = folder("no_ocaml");
    let path = path_with_broken_commands(&folder);
    let build = Build::run(&shared(), &[("PATH", &path)]);
    assert!(!build.succeeded);
    for words in ["`opam exec -- ocamlopt -where`", "apt-get install", "OCAMLOPT"] {
        assert!(build.output.contains(words), "{}", build.output);
    }
    // That is enough to build the documentation.
    let build = Build::run(&shared(), &[("PATH", &path), ("DOCS_RS", "1".as_ref())]);
    assert!(!build.has_c_library());
}

#[test]
fn documentation_where_ocaml_is() {
    let build = Build::run(&shared(), &[("DOCS_RS", "1".as_ref()), ("OCAMLOPT", &ocamlopt())]);
    assert!(build.has_c_library());
}

#[test]
fn a_variable_that_does_not_work() {
    let folder = folder("a_variable_that_does_not_work");
    for variable in ["OCAMLOPT", "OCAML_WHERE_PATH"] {
        let build = Build::run(&shared(), &[(variable, &folder.join("nothing"))]);
        assert!(!build.succeeded);
        assert!(build.output.contains("nothing"), "{}", build.output);
    }
}

#[test]
fn too_old() {
    let folder = folder("too_old");
    fs::create_dir(folder.join("caml")).unwrap();
    let header = "#define OCAML_VERSION_STRING \"4.12.1\"\n";
    fs::write(folder.join("caml/version.h"), header).unwrap();
    let build = Build::run(&shared(), &[("OCAML_WHERE_PATH", &folder)]);
    assert!(!build.succeeded);
    assert!(build.output.contains("OCaml 4.12.1"), "{}", build.output);
    assert!(build.output.contains("4.13 or later"), "{}", build.output);
}

/// A change of PATH causes no new build, because build tools change PATH for each sandbox. A change
/// of a variable that names OCaml, or of OCaml itself, causes a new build.
#[test]
fn what_makes_it_compile_again() {
    let folder = folder("what_makes_it_compile_again");
    let target = folder.join("target");
    let copy = folder.join("ocaml");
    fs::create_dir_all(copy.join("caml")).unwrap();
    for header in fs::read_dir(where_path().join("caml")).unwrap() {
        let header = header.unwrap();
        fs::copy(header.path(), copy.join("caml").join(header.file_name())).unwrap();
    }
    let ocaml: (&str, &Path) = ("OCAML_WHERE_PATH", &copy);
    assert!(!Build::run(&target, &[ocaml]).was_fresh());
    let path = with_folder_on_path(&folder);
    assert!(Build::run(&target, &[ocaml, ("PATH", &path)]).was_fresh());
    let switch: (&str, &Path) = ("OPAM_SWITCH_PREFIX", &folder);
    assert!(!Build::run(&target, &[ocaml, switch]).was_fresh());
    assert!(Build::run(&target, &[ocaml, switch]).was_fresh());
    let header = File::options().append(true).open(copy.join("caml/version.h")).unwrap();
    header.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
    assert!(!Build::run(&target, &[ocaml, switch]).was_fresh());
}
