//! Builds the benchmark programs, runs them, and reads their output.

use super::list::{self, Implementation};
use super::{Figures, Result, Settings, LAYOUTS};
use std::error::Error;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program, and its facts: `fact` in `benches/runtime/program.ml`.
pub struct Program {
    pub name: String,
    /// The implementations that it runs on.
    implementations: Vec<String>,
    /// Two runs on the same implementation have the same counts, even if their times differ.
    pub deterministic: bool,
    /// The number of cells that it creates depends on the implementation.
    pub creates_vary: bool,
    /// The name of the program's main figure, if that is a time.
    pub about: Option<String>,
    /// `SIZE` for runs that are repeated many times.
    pub short: Option<String>,
}

/// One executable with all the programs.
struct Executable {
    path: PathBuf,
    /// In the order in which the executable lists them.
    programs: Vec<Program>,
}

impl Executable {
    fn implementations(&self, program: &str) -> &[String] {
        self.programs.iter().find(|p| p.name == program).map_or(&[], |p| &p.implementations)
    }
}

/// A signal ended a program.
#[derive(Debug)]
pub struct Crash(String);

impl std::fmt::Display for Crash {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Crash {}

/// All the executables: one with our crate, one with the registry crate, and one with our crate and
/// the implementations that the other two lack. The first two differ only in the crate. A suite has
/// only one layout, so compare only figures that were measured in all layouts.
pub struct Suite {
    pub ocaml_version: String,
    /// The list of implementations, in its order.
    pub list: Vec<Implementation>,
    ours: Executable,
    peer: Executable,
    variants: Executable,
}

impl Suite {
    /// Builds the executables of the repository at `root`, in one of the `LAYOUTS`.
    pub fn build(root: &Path, layout: usize) -> Result<Suite> {
        let build =
            |package, name, arguments: &[&str]| build(root, layout, package, name, arguments);
        let (ocaml_version, ours) = build("ours", "ours", &[])?;
        let (_, peer) = build("peer", "peer", &[])?;
        let (_, variants) = build("ours", "variants", &["--features", "variants"])?;
        Ok(Suite { ocaml_version, list: list::read()?, ours, peer, variants })
    }

    /// One suite for each of the `LAYOUTS`.
    pub fn build_all(root: &Path) -> Result<Vec<Suite>> {
        LAYOUTS.iter().map(|&layout| Suite::build(root, layout)).collect()
    }

    /// All programs, sorted by name.
    pub fn programs(&self) -> &[Program] {
        &self.ours.programs
    }

    /// Whether two runs of a program on the same implementation have the same counts.
    pub fn is_deterministic(&self, program: &str) -> bool {
        self.ours.programs.iter().any(|p| p.name == program && p.deterministic)
    }

    /// Whether a program creates more cells on some implementations than on others.
    pub fn creates_vary(&self, program: &str) -> bool {
        self.ours.programs.iter().any(|p| p.name == program && p.creates_vary)
    }

    /// The implementations of a program, in the order of the list. Empty if the program does not
    /// exist for this version of OCaml.
    pub fn implementations(&self, program: &str) -> Vec<&str> {
        let all = self.list.iter().map(|i| i.name.as_str());
        all.filter(|name| {
            let (executable, name) = self.executable(program, name);
            executable.implementations(program).iter().any(|i| i == name)
        })
        .collect()
    }

    /// The implementation's name in the executable with the registry crate, if it measures that
    /// crate, not code of this repository.
    pub fn peer_of(&self, implementation: &str) -> Option<&str> {
        self.list.iter().find(|i| i.name == implementation)?.peer_of.as_deref()
    }

    /// The executable that contains an implementation, and the implementation's name there.
    fn executable<'a>(
        &'a self,
        program: &str,
        implementation: &'a str,
    ) -> (&'a Executable, &'a str) {
        if let Some(name) = self.peer_of(implementation) {
            (&self.peer, name)
        } else if self.ours.implementations(program).iter().any(|i| i == implementation) {
            (&self.ours, implementation)
        } else {
            (&self.variants, implementation)
        }
    }

    /// Runs a program once, in its own process. The error is a `Crash` if the program crashed.
    pub fn run(&self, program: &str, implementation: &str, settings: &Settings) -> Result<Figures> {
        let (executable, name) = self.executable(program, implementation);
        run(&executable.path, program, name, settings)
    }

    /// Like `run`, in the executable with the variants.
    pub fn run_in_variants(
        &self,
        program: &str,
        implementation: &str,
        settings: &Settings,
    ) -> Result<Figures> {
        run(&self.variants.path, program, implementation, settings)
    }
}

fn run(path: &Path, program: &str, implementation: &str, settings: &Settings) -> Result<Figures> {
    let parse = |line: &str| -> Option<(String, f64)> {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.trim().parse().ok()?))
    };
    let output = output(&mut Command::new(path), program, implementation, settings)?;
    Ok(String::from_utf8(output.stdout)?.lines().filter_map(parse).collect())
}

fn output(
    command: &mut Command,
    program: &str,
    implementation: &str,
    settings: &Settings,
) -> Result<Output> {
    let output = command
        .env("BENCH", program)
        .env("IMPL", implementation)
        .envs(settings.iter().map(|(name, value)| (name, value)))
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let status = output.status;
        let error = format!("{command:?}: {status}: {}", message.trim());
        return Err(if status.signal().is_some() { Crash(error).into() } else { error.into() });
    }
    Ok(output)
}

fn build(
    root: &Path,
    layout: usize,
    package: &str,
    name: &str,
    arguments: &[&str],
) -> Result<(String, Executable)> {
    let target = root.join("target/programs").join(name);
    let status = Command::new(std::env::var("CARGO").unwrap_or("cargo".into()))
        .env("BENCH_LAYOUT", layout.to_string())
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(root.join("benches/executables").join(package).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .args(arguments)
        .status()?;
    if !status.success() {
        return Err(format!(
            "the programs could not be built ({name}). An implementation that needs our library has `variant = true` in list.toml"
        )
        .into());
    }
    // The next layout is built in the same place. All paths have the same length: OCaml's heap
    // contains the path, and the work of `synthetic` depends on how full the minor heap is.
    let path = target.join(format!("layout-{layout:02}"));
    std::fs::copy(target.join("release/boxroot-programs"), &path)?;
    let list = output(&mut Command::new(&path), "list", "", &[])?;
    let (version, programs) = programs(&String::from_utf8(list.stdout)?)?;
    Ok((version, Executable { path, programs }))
}

/// The version of OCaml, and the programs, from the output of `BENCH=list`.
fn programs(list: &str) -> Result<(String, Vec<Program>)> {
    let mut version = String::new();
    let mut programs: Vec<Program> = Vec::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words.as_slice(), programs.last_mut()) {
            (["ocaml", text], _) => version = text.to_string(),
            (["program", name, implementations @ ..], _) => programs.push(Program {
                name: name.to_string(),
                implementations: implementations.iter().map(|i| i.to_string()).collect(),
                deterministic: false,
                creates_vary: false,
                about: Some("seconds".to_string()),
                short: None,
            }),
            (["fact", name, fact @ ..], Some(program)) if program.name == *name => match fact {
                ["deterministic"] => program.deterministic = true,
                ["creates_vary"] => program.creates_vary = true,
                ["about", figure] => program.about = Some(figure.to_string()),
                ["untimed"] => program.about = None,
                ["short", size] => program.short = Some(size.to_string()),
                _ => return Err(format!("BENCH=list: {line}").into()),
            },
            _ => return Err(format!("BENCH=list: {line}").into()),
        }
    }
    Ok((version, programs))
}
