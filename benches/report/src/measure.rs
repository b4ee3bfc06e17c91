//! The runs of a report.

use crate::data::Series;
use crate::harness::{Crash, Figures, Result, Suite};
use crate::parts::{of_pass, Part, Point, PASSES};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Runs that take longer than this are repeated only if they are compared.
const SLOW: Duration = Duration::from_secs(4);

/// A part and its figures.
struct Table<'a> {
    part: &'a Part,
    rows: Vec<Row<'a>>,
    took: Duration,
}

/// A point of a part, and its series, one for each implementation.
struct Row<'a> {
    point: &'a Point,
    series: Vec<(Series, IsSlow)>,
}

type IsSlow = bool;

/// The series of each part, and the seconds that it took. `suites` has one suite for each pass.
pub fn all(suites: &[Suite], parts: &[&Part]) -> Result<Vec<(Vec<Series>, f64)>> {
    let empty = |part| Table { part, rows: empty_rows(&suites[0], part), took: Duration::ZERO };
    let mut tables: Vec<Table> = parts.iter().copied().map(empty).collect();
    for (pass, suite) in suites.iter().enumerate() {
        for table in &mut tables {
            let start = Instant::now();
            run(suite, table, pass)?;
            table.took += start.elapsed();
        }
    }
    let finished = |table: Table| {
        let series = table.rows.into_iter().flat_map(|row| row.series);
        (series.map(|(series, _)| series).collect(), table.took.as_secs_f64().round())
    };
    Ok(tables.into_iter().map(finished).collect())
}

fn empty_rows<'a>(suite: &Suite, part: &'a Part) -> Vec<Row<'a>> {
    let row = |point: &'a Point| {
        let empty = |implementation: &str| Series {
            program: point.program.clone(),
            implementation: implementation.to_string(),
            settings: point.settings.clone(),
            runs: Vec::new(),
        };
        // The implementations that the program runs on with this version of OCaml.
        let mut implementations = suite.implementations(&point.program);
        implementations.retain(|name| part.implementations.iter().any(|i| i == name));
        Row {
            point,
            series: implementations.into_iter().map(|name| (empty(name), false)).collect(),
        }
    };
    part.points.iter().map(row).collect()
}

/// Adds the runs of one pass to each series. Together, all passes add as many runs as the series's
/// point asks for. The series of a point alternate: each gets one run, then each a second one, and
/// so on.
fn run(suite: &Suite, table: &mut Table, pass: usize) -> Result<()> {
    let part = table.part;
    let runs_of = |point: &Point| of_pass(point.runs, pass).len();
    let runs: usize = table.rows.iter().map(|row| row.series.len() * runs_of(row.point)).sum();
    let bar = ProgressBar::new(runs as u64);
    bar.set_style(ProgressStyle::with_template(
        "{prefix:24} {bar:30} {pos}/{len} {elapsed}, {eta} left: {msg}",
    )?);
    bar.set_prefix(format!("{} {}/{PASSES}", part.name, pass + 1));
    for Row { point, series } in &mut table.rows {
        let settings: Vec<(&str, String)> =
            point.settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        for _ in 0..runs_of(point) {
            for (series, is_slow) in series.iter_mut() {
                bar.inc(1);
                if *is_slow && !part.compares(&series.implementation) {
                    continue;
                }
                bar.set_message(format!("{} of {}", series.program, series.implementation));
                let start = Instant::now();
                let figures = match part.one_executable {
                    true => {
                        suite.run_in_variants(&point.program, &series.implementation, &settings)
                    }
                    false => suite.run(&point.program, &series.implementation, &settings),
                };
                let is_peer = suite.peer_of(&series.implementation).is_some();
                match figures {
                    Ok(figures) => series.runs.push(figures),
                    Err(error) if error.is::<Crash>() && is_peer => {
                        bar.suspend(|| eprintln!("report: counted as a crash: {error}"));
                        series.runs.push(Figures::new());
                    }
                    Err(error) => return Err(error),
                }
                *is_slow = start.elapsed() > SLOW;
            }
        }
    }
    bar.finish_with_message("done");
    Ok(())
}
