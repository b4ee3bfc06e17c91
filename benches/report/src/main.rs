//! Measures the benchmark programs side by side, and writes the tables, the plots and the raw data
//! of `docs/benchmarks/`; on OCaml 5 also the page `costs` of the guide.
//!
//! ```text
//! make report OCAML=5.3.0
//! make report OCAML=5.3.0 ONLY="pause memory"   # some parts; the others' data stay
//! make report OCAML=5.3.0 ONLY=pages            # only writes tables and plots, from the data
//! QUICK=1 make report OCAML=5.3.0               # small sizes; into target/report-quick/
//! ```
//!
//! A report measures all parts four times, with four layouts of the executables. Within a part,
//! implementations alternate: each is measured once, then each a second time, and so on.

#[path = "../../harness/mod.rs"]
mod harness;

mod border;
mod costs;
mod data;
mod draw;
mod machine;
mod measure;
mod names;
mod parts;
mod plots;
mod ratios;
mod tables;

use border::Border;
use data::{Measured, Report};
use harness::{Result, Suite, LAYOUTS};
use machine::Machine;
use parts::Part;
use std::env;
use std::path::Path;
use std::process::ExitCode;

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
    let quick = env::var("QUICK").is_ok_and(|text| !text.is_empty());
    let parts = parts::all(quick)?;
    let only = only(&parts)?;
    let chosen: Vec<&Part> = parts.iter().filter(|part| only.contains(&part.name)).collect();

    let layouts = if chosen.is_empty() { &LAYOUTS[..1] } else { &LAYOUTS };
    let suites: Vec<Suite> =
        layouts.iter().map(|&layout| Suite::build(&root, layout)).collect::<Result<_>>()?;
    let suite = &suites[0];
    let version = &suite.ocaml_version;
    let folder = root.join(if quick { "target/report-quick" } else { "docs/benchmarks" });
    std::fs::create_dir_all(&folder)?;
    let data = folder.join(format!("{version}.json"));
    let mut report = match std::fs::read(&data) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            format!("{}: {error}; remove it, and measure again", data.display())
        })?,
        Err(_) => Report::new(),
    };
    report.parts.retain(|name, _| parts.iter().any(|part| part.name == *name));
    measure_into(&mut report, &suites, &chosen)?;
    if only.iter().any(|name| name == border::NAME) {
        report.border = Some(Border::measure(&root, Machine::this(version)?, quick)?);
    }

    std::fs::write(&data, report.to_json()?)?;
    std::fs::write(folder.join(format!("{version}.md")), tables::all(version, &parts, &report))?;
    plots::all(&folder, version, &parts, &report)?;
    if !quick && version.starts_with("5.") {
        let page = root.join("docs/guide/costs.md");
        std::fs::write(page, costs::page(version, &parts, &report))?;
    }
    println!("{}", folder.join(format!("{version}.md")).display());
    match report.varying_counts(suite) {
        varying if varying.is_empty() => Ok(()),
        varying => Err(format!("counts that should not vary do:\n{}", varying.join("\n")).into()),
    }
}

/// The names of the parts in `ONLY`, or of all parts if it is empty. For `pages`, none.
fn only(parts: &[Part]) -> Result<Vec<String>> {
    let names = parts.iter().map(|part| part.name.as_str()).chain([border::NAME]);
    let all: Vec<String> = names.map(String::from).collect();
    let text = env::var("ONLY").unwrap_or_default();
    let wanted: Vec<String> = text.split_whitespace().map(String::from).collect();
    match wanted.iter().find(|name| !all.contains(name)) {
        None if wanted.is_empty() => Ok(all),
        None => Ok(wanted),
        Some(_) if wanted == ["pages"] => Ok(vec![]),
        Some(unknown) => {
            Err(format!("ONLY={unknown}: choose pages, or some of {}", all.join(" ")).into())
        }
    }
}

/// Measures these parts, and replaces their data in the report.
fn measure_into(report: &mut Report, suites: &[Suite], parts: &[&Part]) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let last = parts.iter().map(|part| report.parts.get(&part.name)?.seconds);
    let expected = match last.sum::<Option<f64>>() {
        Some(seconds) => {
            format!("the last report took {:.0} minutes for them", (seconds / 60.).ceil())
        }
        None => "all parts together take half an hour at most, on a machine that does nothing else"
            .to_string(),
    };
    println!("report: {} parts; {expected}", parts.len());
    let machine = Machine::this(&suites[0].ocaml_version)?;
    for (part, (series, seconds)) in parts.iter().zip(measure::all(suites, parts)?) {
        if series.is_empty() {
            continue; // not on this version of OCaml
        }
        let measured = Measured { machine: machine.clone(), seconds: Some(seconds), series };
        report.parts.insert(part.name.clone(), measured);
    }
    Ok(())
}
