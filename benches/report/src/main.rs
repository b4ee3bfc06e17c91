//! Measures every benchmark program on every implementation, and writes the tables, the plots and
//! the raw data of `docs/benchmarks/`; on OCaml 5 also the page `costs` of the guide.
//!
//! ```text
//! make report OCAML=5.3.0
//! make report OCAML=5.3.0 ONLY="pause memory"   # some parts; the others' data stay
//! make report OCAML=5.3.0 ONLY=plots            # draws again, from the data
//! QUICK=1 make report OCAML=5.3.0               # small sizes, for a first look; into target/report-quick/
//! TIMES=9 make report OCAML=5.3.0               # how often everything is measured
//! make bench-peer OCAML=5.3.0 ONLY="rust"       # LOOK=1: only what is compared with others; prints a table
//!                                               # on standard output, and writes no file
//! ```
//!
//! A report goes over all parts four times, with four layouts of the executables. In a part implementations alternate: each
//! is measured once, then each a second time, and so on.

#[path = "../../harness/mod.rs"]
mod harness;

mod costs;
mod data;
mod measure;
mod names;
mod parts;
mod plots;
mod tables;

use data::{Machine, Measured, Report};
use harness::{chosen, number, Result, Suite};
use parts::Part;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    match report() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let is_set = |name| std::env::var(name).is_ok_and(|text| !text.is_empty());
    let (quick, look) = (is_set("QUICK"), is_set("LOOK"));
    let mut parts = parts::all(quick)?;
    if look {
        parts.retain(|part| !part.compared.is_empty() && !part.over_the_grid);
    }
    let names: Vec<&str> = parts.iter().map(|p| p.name).chain(["plots"]).collect();
    let only = chosen("ONLY", &names)?;
    let times = number("TIMES", 0.)? as usize;

    if parts.iter().any(|part| part.counted.is_some() && only.contains(&part.name)) {
        let version = Command::new("valgrind").arg("--version").output();
        version.map_err(|_| {
            "valgrind is missing, which counts instructions: apt-get install valgrind"
        })?;
    }
    let suites = Suite::build_all(&root)?;
    let suite = &suites[0];
    if look {
        return take_a_look(&suites, parts, &only, times);
    }
    let folder = root.join(if quick { "target/report-quick" } else { "docs/benchmarks" });
    std::fs::create_dir_all(&folder)?;
    let data = folder.join(format!("{}.json", suite.ocaml_version));
    let mut report = match std::fs::read(&data) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            format!("{}: {error}; remove it, and measure again", data.display())
        })?,
        Err(_) => Report::new(),
    };
    let chosen: Vec<&Part> = parts.iter().filter(|part| only.contains(&part.name)).collect();
    measure_into(&mut report, &suites, &chosen, times)?;
    std::fs::write(&data, report.to_json()?)?;
    let version = &suite.ocaml_version;
    std::fs::write(folder.join(format!("{version}.md")), tables::all(version, &parts, &report))?;
    plots::all(&folder, version, &parts, &report)?;
    if !quick && version.starts_with("5.") {
        let page = root.join("ocaml-boxroot/src/guide/costs.md");
        std::fs::write(page, costs::page(version, &parts, &report))?;
    }
    println!("{}", folder.join(format!("{version}.md")).display());
    match report.varying_counts(suite) {
        varying if varying.is_empty() => Ok(()),
        varying => Err(format!("counts that should not vary do:\n{}", varying.join("\n")).into()),
    }
}

/// Measures these parts, and replaces what the report has of them.
fn measure_into(
    report: &mut Report,
    suites: &[Suite],
    parts: &[&Part],
    times: usize,
) -> Result<()> {
    let machine = Machine::this(&suites[0].ocaml_version)?;
    for (part, series) in parts.iter().zip(measure::all(suites, parts, times)?) {
        if series.is_empty() {
            continue; // not on this version of OCaml
        }
        let last = report.parts.remove(part.name);
        let before = last.as_ref().map_or_else(Default::default, |last| {
            let all = last.compare(part).into_iter();
            all.map(|comparison| (comparison.key(), comparison.ratio)).collect()
        });
        let machine_before = last.map(|last| last.machine);
        let measured = Measured { machine: machine.clone(), series, before, machine_before };
        report.parts.insert(part.name.to_string(), measured);
    }
    Ok(())
}

/// Measures what is compared, but for the grid, and prints it.
fn take_a_look(suites: &[Suite], mut parts: Vec<Part>, only: &[&str], times: usize) -> Result<()> {
    parts.retain(|part| only.contains(&part.name));
    let mut report = Report::new();
    for part in &mut parts {
        let all = std::mem::take(&mut part.implementations);
        part.implementations = all.into_iter().filter(|name| part.compares(name)).collect();
    }
    let all: Vec<&Part> = parts.iter().collect();
    measure_into(&mut report, suites, &all, times)?;
    println!("OCaml {}\n{}", suites[0].ocaml_version, tables::compared(&parts, &report));
    Ok(())
}
