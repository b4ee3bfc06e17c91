//! Calls and conversions: `.ci/border.py` measures them with this crate and with others.

use crate::harness::Result;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Its name in `ONLY`.
pub const NAME: &str = "border";
pub const TITLE: &str = "Calls and conversions";

/// The meanings of the names in the table.
pub const LEGEND: &str = "\
`to` and `from` are conversions to OCaml and from it; `export` is a Rust function that OCaml calls in\n\
a loop. Lists, arrays and `records_1000` have a thousand elements; `1M` is a mebibyte. An empty cell\n\
means that the crate cannot do this. The last column is our time divided by the best time of another crate.\n";

#[derive(Serialize, Deserialize)]
pub struct Border {
    pub machine: Machine,
    pub seconds: f64,
    /// The lines of a table of nanoseconds.
    pub table: Vec<String>,
}

impl Border {
    /// `quick` measures calls only.
    pub fn measure(root: &Path, machine: Machine, quick: bool) -> Result<Border> {
        let start = Instant::now();
        let mut script = Command::new(root.join(".ci/border.py"));
        script.arg("times").env("FILTER", if quick { "call" } else { "" });
        let output = script.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(".ci/border.py failed: see above".into());
        }
        let table = String::from_utf8(output.stdout)?.lines().map(String::from).collect();
        Ok(Border { machine, seconds: start.elapsed().as_secs_f64().round(), table })
    }

    pub fn text(&self) -> String {
        format!("{LEGEND}\n{}\n", self.table.join("\n"))
    }
}
