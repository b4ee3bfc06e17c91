//! The data of a report, as `docs/benchmarks/*.json` holds them.

use crate::border::Border;
use crate::harness::statistics::smallest_and_largest;
use crate::harness::{Figures, Result, Suite, COUNTS};
use crate::machine::Machine;
use crate::parts::{of_pass, Part};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub struct Report {
    pub parts: BTreeMap<String, Measured>,
    pub border: Option<Border>,
}

/// The measurements of a part.
#[derive(Serialize, Deserialize)]
pub struct Measured {
    pub machine: Machine,
    /// The time that it took, if the report has this time.
    pub seconds: Option<f64>,
    pub series: Vec<Series>,
}

/// The runs of one program on one implementation.
#[derive(Serialize, Deserialize)]
pub struct Series {
    pub program: String,
    pub implementation: String,
    pub settings: BTreeMap<String, String>,
    /// A run that crashed has no figures. Only code that is not in this repository may crash: any
    /// other crash ends the report.
    pub runs: Vec<Figures>,
}

impl Report {
    pub fn new() -> Report {
        Report { parts: BTreeMap::new(), border: None }
    }

    /// One series, or row of a table, on each line, so that diffs between versions of the file are
    /// readable.
    pub fn to_json(&self) -> Result<String> {
        let mut parts = Vec::new();
        for (name, Measured { machine, seconds, series }) in &self.parts {
            let series: serde_json::Result<Vec<String>> =
                series.iter().map(serde_json::to_string).collect();
            parts.push(format!(
                "{}: {{\n\"machine\": {},\n\"seconds\": {},\n\"series\": [\n{}\n]}}",
                serde_json::to_string(name)?,
                serde_json::to_string(machine)?,
                serde_json::to_string(seconds)?,
                series?.join(",\n"),
            ));
        }
        let mut text = format!("{{\"parts\": {{\n{}\n}}", parts.join(",\n"));
        if let Some(Border { machine, seconds, table }) = &self.border {
            let rows: serde_json::Result<Vec<String>> =
                table.iter().map(serde_json::to_string).collect();
            text += &format!(
                ",\n\"border\": {{\n\"machine\": {},\n\"seconds\": {},\n\"table\": [\n{}\n]}}",
                serde_json::to_string(machine)?,
                serde_json::to_string(seconds)?,
                rows?.join(",\n"),
            );
        }
        Ok(text + "}\n")
    }

    pub fn series(&self, part: &str) -> &[Series] {
        self.parts.get(part).map_or(&[], |measured| &measured.series)
    }

    /// Counts that differ between two runs of a deterministic program, and numbers of creates and
    /// of pools that differ between two runs of any program. The registry crate on OCaml 4 is an
    /// exception in programs whose creates depend on the implementation: its counts also depend on
    /// the addresses of memory, which are random.
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

impl Series {
    /// The program and its settings.
    pub fn point(&self) -> String {
        self.point_but_for("")
    }

    pub fn point_but_for(&self, left_out: &str) -> String {
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

    /// The values of a figure in the runs of one pass.
    pub fn in_pass(&self, figure: &str, pass: usize) -> Vec<f64> {
        let runs = &self.runs[of_pass(self.runs.len(), pass)];
        runs.iter().filter_map(|run| run.get(figure).copied()).collect()
    }

    /// The number that represents a figure in a part, if there are runs that have the figure.
    pub fn figure(&self, part: &Part, figure: &str) -> Option<f64> {
        part.figure(&self.all(figure))
    }

    /// The smallest and the largest value of a figure.
    pub fn spread(&self, figure: &str) -> (f64, f64) {
        smallest_and_largest(self.all(figure).into_iter())
    }

    pub fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name)?.parse().ok()
    }
}
