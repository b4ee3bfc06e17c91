//! Measures every benchmark program on every implementation, and writes the tables, the plots and
//! the raw data of `docs/benchmarks/`.
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
//! Implementations alternate: each is measured once, then each a second time, and so on.

#[path = "../../harness/mod.rs"]
mod harness;

mod data;
mod names;
mod parts;
mod plots;
mod tables;

use data::{Machine, Measured, Report, Series};
use harness::{chosen, number, Result, Suite};
use indicatif::{ProgressBar, ProgressStyle};
use parts::Part;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A run that takes longer than this is not repeated.
const SLOW: Duration = Duration::from_secs(12);

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
        parts.retain(|part| !part.compared.is_empty());
    }
    let names: Vec<&str> = parts.iter().map(|p| p.name).chain(["plots"]).collect();
    let only = chosen("ONLY", &names)?;
    let times = number("TIMES", 0.)? as usize;

    if parts.iter().any(|part| part.counted && only.contains(&part.name)) {
        let version = Command::new("valgrind").arg("--version").output();
        version.map_err(|_| {
            "valgrind is missing, which counts instructions: apt-get install valgrind"
        })?;
    }
    let suite = Suite::build(&root)?;
    if look {
        return take_a_look(&suite, parts, &only, times);
    }
    let folder = root.join(if quick { "target/report-quick" } else { "docs/benchmarks" });
    std::fs::create_dir_all(&folder)?;
    let data = folder.join(format!("{}.json", suite.ocaml_version));
    let mut report = match std::fs::read(&data) {
        Ok(text) => serde_json::from_slice(&text)?,
        Err(_) => Report::new(),
    };
    for part in parts.iter().filter(|p| only.contains(&p.name)) {
        let times = if times > 0 { times } else { part.times };
        let series = measure(&suite, part, times)?;
        if series.is_empty() {
            continue; // not on this version of OCaml
        }
        let before = report.parts.get(part.name).map_or_else(Default::default, |measured| {
            let all = measured.compare(part).into_iter();
            all.map(|comparison| (comparison.key(), comparison.ratio)).collect()
        });
        let machine = Machine::this(&suite.ocaml_version)?;
        let measured = Measured { machine, series, before };
        report.parts.insert(part.name.to_string(), measured);
        std::fs::write(&data, report.to_json()?)?;
    }
    let version = &suite.ocaml_version;
    std::fs::write(folder.join(format!("{version}.md")), tables::all(version, &parts, &report))?;
    plots::all(&folder, version, &parts, &report)?;
    println!("{}", folder.join(format!("{version}.md")).display());
    match report.varying_counts(&suite) {
        varying if varying.is_empty() => Ok(()),
        varying => Err(format!("counts that should not vary do:\n{}", varying.join("\n")).into()),
    }
}

/// Measures what is compared, and prints it.
fn take_a_look(suite: &Suite, mut parts: Vec<Part>, only: &[&str], times: usize) -> Result<()> {
    parts.retain(|part| only.contains(&part.name));
    let mut report = Report::new();
    for part in &mut parts {
        part.implementations
            .retain(|name| part.compared.iter().any(|(ours, other)| name == ours || name == other));
        let series = measure(suite, part, if times > 0 { times } else { part.times })?;
        let machine = Machine::this(&suite.ocaml_version)?;
        let measured = Measured { machine, series, before: Default::default() };
        report.parts.insert(part.name.to_string(), measured);
    }
    println!("OCaml {}\n{}", suite.ocaml_version, tables::compared(&parts, &report));
    Ok(())
}

/// Every point of a part, on every implementation, `times` times in turn.
fn measure(suite: &Suite, part: &Part, times: usize) -> Result<Vec<Series>> {
    let times = if part.counted { 1 } else { times }; // counts are exact
    let mut all = Vec::new();
    let points = part.all_points();
    let runs: usize = points.iter().map(|p| implementations(suite, part, p.program).len()).sum();
    let bar = ProgressBar::new((runs * times) as u64);
    bar.set_style(ProgressStyle::with_template(
        "{prefix:12} {bar:30} {pos}/{len} {elapsed}, {eta} left: {msg}",
    )?);
    bar.set_prefix(part.name);
    for point in &points {
        let mut series: Vec<Series> = implementations(suite, part, point.program)
            .into_iter()
            .map(|implementation| Series {
                program: point.program.to_string(),
                implementation: implementation.to_string(),
                settings: point.settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect(),
                runs: Vec::new(),
            })
            .collect();
        let mut slow = vec![false; series.len()];
        for _ in 0..times {
            for (series, slow) in series.iter_mut().zip(&mut slow) {
                bar.inc(1);
                if *slow {
                    continue;
                }
                bar.set_message(format!("{} of {}", series.program, series.implementation));
                let start = Instant::now();
                let run = match part {
                    Part { counted: true, .. } => Suite::count_instructions,
                    Part { one_executable: true, .. } => Suite::run_in_variants,
                    _ => Suite::run,
                };
                let figures = run(suite, point.program, &series.implementation, &point.settings)?;
                series.runs.push(figures);
                *slow = start.elapsed() > SLOW;
            }
        }
        all.append(&mut series);
    }
    bar.finish_with_message("done");
    Ok(all)
}

/// The implementations of the part that the program runs on with this version of OCaml.
fn implementations<'a>(suite: &'a Suite, part: &Part, program: &str) -> Vec<&'a str> {
    let mut all = suite.implementations(program);
    all.retain(|name| part.implementations.iter().any(|i| i == name));
    all
}
