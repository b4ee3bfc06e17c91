//! The tables, as one Markdown file for a version of OCaml.

use crate::border::{self, Border};
use crate::data::{Measured, Report, Series};
use crate::harness::statistics::geometric_mean;
use crate::harness::{COUNTS, GRID};
use crate::names::shown;
use crate::parts::{Part, PASSES};
use crate::ratios::{Comparison, OverTheGrid, Ratio};
use std::fmt::Write;

pub fn all(version: &str, parts: &[Part], report: &Report) -> String {
    let mut text = format!(
        "# Benchmarks on OCaml {version}\n\n\
         Made by `make report OCAML={version}`; what it all means is in [README.md](README.md).\n\n\
         Ratios: below 1, ours takes less. boxroot 0.4.0 is the registry crate `ocaml-boxroot-sys` 0.4.0.\n\
         A report goes over everything {PASSES} times, each time in another layout of the executables: the\n\
         ratio is the geometric mean of these times, and the spread is theirs. The figures of all runs are in\n\
         `{version}.json`.\n"
    );
    for part in parts {
        let Some(measured) = report.parts.get(&part.name) else { continue };
        if part.compared.is_empty() {
            continue;
        }
        let (machine, took) = (&measured.machine, took(measured.seconds));
        let _ = write!(text, "\n## {}\n\n{machine}.{took}\n", part.title);
        text += &if part.over_the_grid {
            over_the_grid(part, measured)
        } else {
            compared(part, measured)
        };
        text += &crashes(&measured.series);
    }
    if let Some(border) = &report.border {
        let Border { machine, seconds, .. } = border;
        let _ = write!(text, "\n## {}\n\n{machine}.{}\n\n", border::TITLE, took(Some(*seconds)));
        text += &border.text();
    }
    text
}

fn took(seconds: Option<f64>) -> String {
    seconds.map_or(String::new(), |seconds| format!(" This took {seconds} seconds."))
}

/// A row for each program and each other implementation, and the mean over the programs.
fn over_the_grid(part: &Part, measured: &Measured) -> String {
    let rows = measured.over_the_grid(part);
    let runs = measured.series.iter().map(|series| series.runs.len());
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let mut text = format!(
        "\nUser time, ours to the other's, under {} settings (`OCAMLRUNPARAM`, {} to {}); runs of each: {fewest} to {most},\n\
         in {PASSES} layouts of the executables; in each, the fastest counts. The geometric mean of the ratios, the smallest and\n\
         the largest of a setting, and how many major collections there were, ours and the other's.\n\n\
         | program | other | ratio | from – to | major collections |\n|---|---|---|---|---|\n",
        GRID.len(),
        GRID[0],
        GRID[GRID.len() - 1]
    );
    for OverTheGrid { point, other, mean, low, high, major_collections: [ours, others] } in &rows {
        let _ = writeln!(
            text,
            "| {point} | {} | **{mean:.3}** | {low:.3} – {high:.3} | {}–{}; {}–{} |",
            shown(other),
            ours.0,
            ours.1,
            others.0,
            others.1
        );
    }
    for other in in_order(rows.iter().map(|row| row.other.clone())) {
        let ratios: Vec<f64> = rows.iter().filter(|r| r.other == other).map(|r| r.mean).collect();
        let Some(mean) = geometric_mean(&ratios) else { continue };
        let _ = write!(
            text,
            "\nGeometric mean of these programs, against {}: **{mean:.3}**.\n",
            shown(&other)
        );
    }
    text
}

/// The ratios of ours to others.
fn compared(part: &Part, measured: &Measured) -> String {
    let mut text = String::from(
        "\n| program | figure | which two | ratio | spread |\n|---|---|---|---|---|\n",
    );
    for Comparison { point, figure, ours, other, ratio } in measured.compare(part) {
        let (ours, other, Ratio { mean, low, high }) = (shown(&ours), shown(&other), ratio);
        let _ = writeln!(
            text,
            "| {point} | {figure} | {ours} / {other} | {mean:.3} | {low:.3}–{high:.3} |"
        );
    }
    text
}

/// A line for each series with runs that crashed.
fn crashes(all: &[Series]) -> String {
    let crashed = all.iter().filter(|series| series.crashes() > 0);
    let lines = crashed.map(|series| {
        let (point, crashes, runs) = (series.point(), series.crashes(), series.runs.len());
        let name = shown(&series.implementation);
        format!("\n{point}: **{crashes} of {runs} runs of {name} crashed**.\n")
    });
    lines.collect()
}

fn in_order(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

pub fn format(figure: &str, x: f64) -> String {
    match figure {
        _ if COUNTS.contains(&figure) => format!("{x:.0}"),
        "peak_resident" => format!("{:.0} MiB", x / 1048576.),
        "bytes_per_root" | "kept" | "growth_after_refill" => format!("{x:.2}"),
        _ if figure.starts_with("ns_") => format!("{x:.1}"),
        _ if x >= 1. => format!("{x:.2} s"),
        _ if x >= 1e-3 => format!("{:.2} ms", x * 1e3),
        _ => format!("{:.1} µs", x * 1e6),
    }
}
