//! The machine and the time of a report.

use crate::harness::Result;
use serde::{Deserialize, Serialize};
use std::process::Command;

#[derive(Clone, Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    /// The commit of this repository.
    pub commit: Option<String>,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub ocaml: String,
    pub rustc: String,
    pub cc: String,
}

impl Machine {
    pub fn this(ocaml: &str) -> Result<Machine> {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let after = |text: &str, start: &str| -> Option<String> {
            let line = text.lines().find(|line| line.starts_with(start))?;
            Some(line.split_once([':', '='])?.1.trim().trim_matches('"').to_string())
        };
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let system = after(&release, "PRETTY_NAME").unwrap_or_default();
        // Processors of the same name may differ in these.
        let mut cpu = vec![after(&cpuinfo, "model name").unwrap_or("unknown CPU".to_string())];
        for key in ["cpu family", "model\t"] {
            cpu.extend(after(&cpuinfo, key).map(|number| format!("{} {number}", key.trim())));
        }
        for level in [2, 3] {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{level}/size");
            let size = std::fs::read_to_string(path);
            cpu.extend(size.ok().map(|size| format!("L{level} {}", size.trim())));
        }
        Ok(Machine {
            date: first_line("date", &["-u", "+%Y-%m-%d"])?,
            commit: first_line("git", &["describe", "--always", "--dirty", "--exclude", "*"])
                .ok()
                .filter(|commit| !commit.is_empty()),
            cpu: cpu.join(", "),
            cores: std::thread::available_parallelism()?.get(),
            system: format!("{system}, {os} {arch}"),
            ocaml: ocaml.to_string(),
            rustc: first_line("rustc", &["--version"])?,
            cc: first_line("cc", &["--version"])?,
        })
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Machine { date, commit, cpu, cores, system, ocaml, rustc, cc } = self;
        let commit = commit.as_ref().map_or(String::new(), |commit| format!(", commit {commit}"));
        write!(f, "{date}{commit}, {cpu}, {cores} cores, {system}, OCaml {ocaml}, {rustc}, {cc}")
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string())
}
