//! What was measured, as it is kept in `docs/benchmarks/*.json`.

use crate::harness::{median, Figures, Result, COUNTS};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::process::Command;

#[derive(Serialize, Deserialize)]
pub struct Report {
    pub parts: BTreeMap<String, Measured>,
}

#[derive(Serialize, Deserialize)]
pub struct Measured {
    pub machine: Machine,
    pub series: Vec<Series>,
    /// By point, what `against_peer` was in the run before.
    #[serde(default)]
    pub before: BTreeMap<String, f64>,
}

/// Ours to the registry crate's, in seconds; the spread is that of neighbouring runs.
pub struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// Where and when.
#[derive(Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub ocaml: String,
    pub rustc: String,
    pub cc: String,
}

/// The runs of one program on one implementation.
#[derive(Serialize, Deserialize)]
pub struct Series {
    pub program: String,
    pub implementation: String,
    pub settings: BTreeMap<String, String>,
    pub runs: Vec<Figures>,
}

/// Programs that do the same in every run, whatever the time.
const DETERMINISTIC: [&str; 4] = ["perm_count", "synthetic", "globroots", "local_roots"];

impl Report {
    pub fn new() -> Report {
        Report { parts: BTreeMap::new() }
    }

    pub fn series(&self, part: &str) -> &[Series] {
        self.parts.get(part).map_or(&[], |measured| &measured.series)
    }

    /// Counts that differ between two runs of a deterministic program, and creates and pools that
    /// differ between two runs of any.
    pub fn varying_counts(&self) -> Vec<String> {
        let mut varying = Vec::new();
        for series in self.parts.values().flat_map(|measured| &measured.series) {
            let deterministic = DETERMINISTIC.contains(&series.program.as_str());
            let never_vary = ["creates", "pools"];
            for count in COUNTS.iter().filter(|c| deterministic || never_vary.contains(c)) {
                let values: Vec<f64> = series.all(count);
                if values.windows(2).any(|pair| pair[0] != pair[1]) {
                    let Series { program, implementation, .. } = series;
                    varying.push(format!("{count} of {program} on {implementation}: {values:?}"));
                }
            }
        }
        varying
    }
}

impl Measured {
    /// By point: what is measured in seconds on both. The chains of local_roots have a table and a
    /// plot of their own.
    pub fn against_peer(&self) -> Vec<(String, Ratio)> {
        let of = |name: &'static str| {
            let timed = |s: &&Series| !s.all("seconds").is_empty() && s.program != "local_roots";
            self.series.iter().filter(move |s| s.implementation == name).filter(timed)
        };
        let ratio = |ours: &Series, peer: &Series| {
            let (a, b) = (ours.all("seconds"), peer.all("seconds"));
            let pairs = || a.iter().zip(&b).map(|(a, b)| a / b);
            let low = pairs().fold(f64::INFINITY, f64::min);
            let high = pairs().fold(0., f64::max);
            Ratio { median: median(a.clone()) / median(b.clone()), low, high }
        };
        of("boxroot")
            .filter_map(|ours| {
                let peer = of("peer").find(|peer| peer.point() == ours.point())?;
                Some((ours.point(), ratio(ours, peer)))
            })
            .collect()
    }
}

impl Series {
    /// The program and its settings.
    pub fn point(&self) -> String {
        let settings: Vec<_> = self.settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
        format!("{} {}", self.program, settings.join(" "))
    }

    /// A figure of every run.
    pub fn all(&self, figure: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.get(figure).copied()).collect()
    }

    pub fn median(&self, figure: &str) -> Option<f64> {
        let all = self.all(figure);
        (!all.is_empty()).then(|| median(all))
    }

    /// The smallest and the largest.
    pub fn spread(&self, figure: &str) -> (f64, f64) {
        let all = self.all(figure);
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        (low, all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    pub fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name)?.parse().ok()
    }
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
        Ok(Machine {
            date: first_line("date", &["-u", "+%Y-%m-%d"])?,
            cpu: after(&cpuinfo, "model name").unwrap_or_else(|| "unknown CPU".to_string()),
            cores: std::thread::available_parallelism()?.get(),
            system: format!("{system}, {os} {arch}"),
            ocaml: ocaml.to_string(),
            rustc: first_line("rustc", &["--version"])?,
            cc: first_line("cc", &["--version"])?,
        })
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string())
}
