//! The runs of a report.

use crate::data::Series;
use crate::harness::{Crash, Figures, Result, Settings, Suite};
use crate::parts::{of_pass, Part, Point, PASSES};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// What takes longer than this is not repeated, unless it is compared.
const SLOW: Duration = Duration::from_secs(4);

/// A point of a part, and its series, one for each implementation.
struct Row {
    point: Point,
    series: Vec<(Series, IsSlow)>,
}

type IsSlow = bool;

/// The series of each part. `suites` are one for each pass; `times` replaces how often each is run, unless it is 0.
pub fn all(suites: &[Suite], parts: &[&Part], times: usize) -> Result<Vec<Vec<Series>>> {
    let mut tables: Vec<Vec<Row>> = parts.iter().map(|part| empty_rows(&suites[0], part)).collect();
    for (pass, suite) in suites.iter().enumerate() {
        for (part, rows) in parts.iter().zip(&mut tables) {
            let times = match part.counted {
                Some(_) => 1, // counts are exact
                None if times > 0 => times,
                None => part.times,
            };
            run(suite, part, rows, times, pass)?;
        }
    }
    let series_of = |rows: Vec<Row>| {
        rows.into_iter().flat_map(|row| row.series).map(|(series, _)| series).collect()
    };
    Ok(tables.into_iter().map(series_of).collect())
}

fn empty_rows(suite: &Suite, part: &Part) -> Vec<Row> {
    let row = |point: Point| {
        let empty = |implementation: &str| Series {
            program: point.program.to_string(),
            implementation: implementation.to_string(),
            settings: point.settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect(),
            runs: Vec::new(),
        };
        let implementations = implementations(suite, part, point.program).into_iter();
        let series = implementations.map(|name| (empty(name), false)).collect();
        Row { point, series }
    };
    part.all_points().into_iter().map(row).collect()
}

/// Adds the runs of one pass to each series; of all passes, they are `times` as many as its point says. Of a point, each
/// series has one, then each a second, and so on.
fn run(suite: &Suite, part: &Part, rows: &mut [Row], times: usize, pass: usize) -> Result<()> {
    let runs_of = |point: &Point| of_pass(times * point.runs, pass).len();
    let runs: usize = rows.iter().map(|row| row.series.len() * runs_of(&row.point)).sum();
    let bar = ProgressBar::new(runs as u64);
    bar.set_style(ProgressStyle::with_template(
        "{prefix:24} {bar:30} {pos}/{len} {elapsed}, {eta} left: {msg}",
    )?);
    bar.set_prefix(format!("{} {}/{PASSES}", part.name, pass + 1));
    let run = |program: &str, implementation: &str, settings: &Settings| match part {
        Part { counted: Some(what), .. } => {
            suite.count_instructions(*what, program, implementation, settings)
        }
        Part { one_executable: true, .. } => {
            suite.run_in_variants(program, implementation, settings)
        }
        _ => suite.run(program, implementation, settings),
    };
    for Row { point, series } in rows {
        for _ in 0..runs_of(point) {
            for (series, is_slow) in series.iter_mut() {
                bar.inc(1);
                if *is_slow && !part.compares(&series.implementation) {
                    continue;
                }
                bar.set_message(format!("{} of {}", series.program, series.implementation));
                let start = Instant::now();
                match run(point.program, &series.implementation, &point.settings) {
                    Ok(figures) => series.runs.push(figures),
                    Err(error)
                        if error.is::<Crash>()
                            && suite.peer_of(&series.implementation).is_some() =>
                    {
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

/// The implementations of the part that the program runs on with this version of OCaml.
fn implementations<'a>(suite: &'a Suite, part: &Part, program: &str) -> Vec<&'a str> {
    let mut all = suite.implementations(program);
    all.retain(|name| part.implementations.iter().any(|i| i == name));
    all
}
