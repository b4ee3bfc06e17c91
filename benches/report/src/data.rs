//! The data of a report, as `docs/benchmarks/*.json` holds them.

use crate::harness::{median, Figures, Result, Suite, COUNTS};
use crate::parts::{of_pass, Part, PASSES};
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
    /// The ratios of the report before this one, by `Comparison::key`, and where they were measured.
    pub before: BTreeMap<String, Ratio>,
    #[serde(default)]
    pub machine_before: Option<Machine>,
}

/// One figure of one program: our implementation compared with another.
pub struct Comparison {
    pub point: String,
    pub figure: &'static str,
    pub pair: String,
    pub ratio: Ratio,
}

/// The ratio of two figures of a part, each of a series of runs.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ratio {
    /// The geometric mean over the passes, and, over the grid, its settings.
    pub mean: f64,
    /// The smallest and the largest of a pass.
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// Whether the two spreads have a value in common, in the three digits that the tables show.
    pub fn agrees_with(&self, other: &Ratio) -> bool {
        let shown = |x: f64| (x * 1e3).round();
        shown(self.low) <= shown(other.high) && shown(other.low) <= shown(self.high)
    }
}

impl Comparison {
    /// The key under which the ratio is kept for the next report.
    pub fn key(&self) -> String {
        format!("{} {} {}", self.point, self.figure, self.pair)
    }
}

/// Where and when it was measured.
#[derive(Clone, Serialize, Deserialize)]
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
    /// A run that crashed has no figures. There is none of what this repository has the code of: a crash of that ends the
    /// report.
    pub runs: Vec<Figures>,
}

/// The variable that the points of the grid set.
const GRID_SETTING: &str = "OCAMLRUNPARAM";

/// One program on two implementations, over the grid.
pub struct OverTheGrid {
    pub point: String,
    pub other: String,
    /// Ratios of our user time to the other's: the geometric mean, the smallest and the largest.
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// The least and the most major collections in a run, of ours and of the other.
    pub major_collections: [(f64, f64); 2],
}

impl Report {
    pub fn new() -> Report {
        Report { parts: BTreeMap::new() }
    }

    /// One series on each line, so that differences between versions of the file can be read.
    pub fn to_json(&self) -> Result<String> {
        let mut parts = Vec::new();
        for (name, Measured { machine, series, before, machine_before }) in &self.parts {
            let series: serde_json::Result<Vec<String>> =
                series.iter().map(serde_json::to_string).collect();
            parts.push(format!(
                "{}: {{\n\"machine\": {},\n\"machine_before\": {},\n\"before\": {},\n\"series\": [\n{}\n]}}",
                serde_json::to_string(name)?,
                serde_json::to_string(machine)?,
                serde_json::to_string(machine_before)?,
                serde_json::to_string(before)?,
                series?.join(",\n"),
            ));
        }
        Ok(format!("{{\"parts\": {{\n{}\n}}}}\n", parts.join(",\n")))
    }

    pub fn series(&self, part: &str) -> &[Series] {
        self.parts.get(part).map_or(&[], |measured| &measured.series)
    }

    /// Counts that differ between two runs of a deterministic program; and numbers of creates and of pools that
    /// differ between two runs of any program. But not those of the registry crate on OCaml 4 in a program whose creates
    /// depend on the implementation: there they also depend on where the system places memory, which it draws at random.
    pub fn varying_counts(&self, suite: &Suite) -> Vec<String> {
        let mut varying = Vec::new();
        let is_ocaml4 = suite.ocaml_version.starts_with("4.");
        for series in self.parts.values().flat_map(|measured| &measured.series) {
            let is_peer = suite.peer_of(&series.implementation).is_some();
            if is_ocaml4 && is_peer && suite.creates_vary(&series.program) {
                continue;
            }
            let deterministic = suite.is_deterministic(&series.program);
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
    /// The processor on which the ratios before were measured, if it is known and was another one.
    pub fn other_cpu_before(&self) -> Option<&str> {
        let before = self.machine_before.as_ref()?;
        (before.cpu != self.machine.cpu).then_some(before.cpu.as_str())
    }

    /// The ratios of ours to another, in all of the part's figures that are not counts.
    pub fn compare(&self, part: &Part) -> Vec<Comparison> {
        let mut all = Vec::new();
        for &(ours, other) in part.compared {
            for (point, pairs) in self.pairs(ours, other) {
                for figure in part.figures.iter().filter(|figure| !COUNTS.contains(figure)) {
                    let of_passes: Vec<f64> = (0..PASSES)
                        .filter_map(|pass| geometric_mean(&ratios(&pairs, part, figure, pass)))
                        .collect();
                    let Some(mean) = geometric_mean(&of_passes) else { continue };
                    let (low, high) = smallest_and_largest(of_passes.into_iter());
                    let ratio = Ratio { mean, low, high };
                    let (point, pair) = (point.clone(), format!("{ours} / {other}"));
                    all.push(Comparison { point, figure, pair, ratio });
                }
            }
        }
        all
    }

    /// One element for each program and other implementation, if this part is measured over the grid.
    pub fn over_the_grid(&self, part: &Part) -> Vec<OverTheGrid> {
        let mut all = Vec::new();
        for &(ours, other) in part.compared {
            for (point, pairs) in self.pairs(ours, other) {
                let of_passes = |pair| {
                    let of_pass = |pass| ratios(&[pair], part, "user_seconds", pass);
                    geometric_mean(&(0..PASSES).flat_map(of_pass).collect::<Vec<_>>())
                };
                let ratios: Vec<f64> = pairs.iter().filter_map(|&pair| of_passes(pair)).collect();
                let Some(mean) = geometric_mean(&ratios) else { continue };
                let majors = |of: fn(&(&Series, &Series)) -> Vec<f64>| {
                    smallest_and_largest(pairs.iter().flat_map(of))
                };
                let (low, high) = smallest_and_largest(ratios.iter().copied());
                all.push(OverTheGrid {
                    point,
                    other: other.to_string(),
                    mean,
                    low,
                    high,
                    major_collections: [
                        majors(|(ours, _)| ours.all("major_collections")),
                        majors(|(_, other)| other.all("major_collections")),
                    ],
                });
            }
        }
        all
    }

    /// The points that both implementations have, each with the two series; over the grid, those of each setting.
    fn pairs(&self, ours: &str, other: &str) -> Vec<(String, Vec<(&Series, &Series)>)> {
        let mut all: Vec<(String, Vec<_>)> = Vec::new();
        for a in self.series.iter().filter(|s| s.implementation == ours) {
            let is_other = |s: &&Series| s.implementation == other && s.point() == a.point();
            let Some(b) = self.series.iter().find(is_other) else { continue };
            let point = a.point_but_for(GRID_SETTING);
            match all.iter_mut().find(|(known, _)| *known == point) {
                Some((_, pairs)) => pairs.push((a, b)),
                None => all.push((point, vec![(a, b)])),
            }
        }
        all
    }
}

/// The ratios of a figure in one pass, of those pairs of which both have it.
fn ratios(pairs: &[(&Series, &Series)], part: &Part, figure: &str, pass: usize) -> Vec<f64> {
    let of = |series: &Series| part.figure(&series.in_pass(figure, pass));
    pairs.iter().filter_map(|(a, b)| Some(of(a)? / of(b)?)).collect()
}

pub fn geometric_mean(all: &[f64]) -> Option<f64> {
    let logarithms = all.iter().map(|x| x.ln()).sum::<f64>();
    (!all.is_empty()).then(|| (logarithms / all.len() as f64).exp())
}

fn smallest_and_largest(all: impl Iterator<Item = f64>) -> (f64, f64) {
    all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

impl Series {
    /// The program and its settings.
    pub fn point(&self) -> String {
        self.point_but_for("")
    }

    fn point_but_for(&self, left_out: &str) -> String {
        let settings = self.settings.iter().filter(|(name, _)| *name != left_out);
        let settings: Vec<_> = settings.map(|(n, v)| format!("{n}={v}")).collect();
        format!("{} {}", self.program, settings.join(" "))
    }

    pub fn crashes(&self) -> usize {
        self.runs.iter().filter(|run| run.is_empty()).count()
    }

    /// The values of a figure in all runs.
    pub fn all(&self, figure: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.get(figure).copied()).collect()
    }

    /// Those of the runs of one pass.
    fn in_pass(&self, figure: &str, pass: usize) -> Vec<f64> {
        let runs = &self.runs[of_pass(self.runs.len(), pass)];
        runs.iter().filter_map(|run| run.get(figure).copied()).collect()
    }

    /// What stands for a figure in a part, if there are runs that have it.
    pub fn figure(&self, part: &Part, figure: &str) -> Option<f64> {
        part.figure(&self.all(figure))
    }

    pub fn median(&self, figure: &str) -> Option<f64> {
        let all = self.all(figure);
        (!all.is_empty()).then(|| median(all))
    }

    /// The smallest and the largest value of a figure.
    pub fn spread(&self, figure: &str) -> (f64, f64) {
        smallest_and_largest(self.all(figure).into_iter())
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
        // Processors of one name may differ in these.
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
            cpu: cpu.join(", "),
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
