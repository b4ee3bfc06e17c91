//! The tables, as one Markdown file for a version of OCaml.

use crate::border::{self, Border};
use crate::data::{Measured, Report, Series};
use crate::harness::statistics::{geometric_mean, median};
use crate::harness::{COUNTS, GRID};
use crate::names::shown;
use crate::parts::{Part, PASSES};
use crate::ratios::{Comparison, OverTheGrid, Ratio};
use std::fmt::Write;

pub fn all(version: &str, parts: &[Part], report: &Report) -> String {
    let mut text = format!("# Benchmarks on OCaml {version}\n\n");
    text += "Made by `make report OCAML=";
    text += version;
    text +=
        "`; what it all means is in [README.md](README.md). Cells are medians, with the smallest\n\
             and the largest run; for single operations and local roots the fastest run, with the\n\
             median and the slowest. Only ratios within one table mean something.\n";
    text += &compared(parts, report);
    for part in parts {
        if let Some(measured) = report.parts.get(&part.name) {
            let _ = write!(
                text,
                "\n## {}\n\n{}.{}\n",
                part.title,
                measured.machine,
                took(measured.seconds)
            );
            text += &if part.over_the_grid {
                over_the_grid(part, measured)
            } else if part.figures.len() == 1 {
                matrix(part, &measured.series)
            } else {
                one_by_one(part, &measured.series)
            };
            text += &crashes(&measured.series);
        }
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

/// A table with points in rows, and implementations in columns.
fn matrix(part: &Part, all: &[Series]) -> String {
    let columns = in_order(all.iter().map(|s| s.implementation.clone()));
    let names: Vec<_> = columns.iter().map(|name| shown(name)).collect();
    let figure = &part.figures[0];
    let mut text = format!("\n`{figure}`:\n\n| | {} |\n|---|", names.join(" | "));
    text += &"---|".repeat(columns.len());
    text += "\n";
    for point in in_order(all.iter().map(Series::point)) {
        let _ = write!(text, "| {point} |");
        for column in &columns {
            let series = all.iter().find(|s| s.implementation == *column && s.point() == point);
            let _ = write!(text, " {} |", series.map_or(String::new(), |s| cell(part, figure, s)));
        }
        text += "\n";
    }
    text
}

/// A table for each point: implementations in rows, figures in columns. The last column compares the first
/// figure with ours.
fn one_by_one(part: &Part, all: &[Series]) -> String {
    let mut text = String::new();
    let figures = &part.figures;
    for point in in_order(all.iter().map(Series::point)) {
        let rows: Vec<&Series> = all.iter().filter(|s| s.point() == point).collect();
        let ours = rows.iter().find(|s| s.implementation == "boxroot");
        let _ = write!(text, "\n### {point}\n\n| | {} | of ours |\n|---|", figures.join(" | "));
        text += &"---|".repeat(figures.len() + 1);
        text += "\n";
        for row in &rows {
            let _ = write!(text, "| {} |", shown(&row.implementation));
            for figure in figures {
                let _ = write!(text, " {} |", cell(part, figure, row));
            }
            let first = |series: &Series| series.figure(part, &figures[0]);
            let ratio = ours.and_then(|ours| Some(first(row)? / first(ours)?));
            let _ = writeln!(text, " {} |", ratio.map_or(String::new(), |r| format!("{r:.2}")));
        }
    }
    text
}

/// A line for each series of which runs crashed.
fn crashes(all: &[Series]) -> String {
    let crashed = all.iter().filter(|series| series.crashes() > 0);
    let lines = crashed.map(|series| {
        let (point, crashes, runs) = (series.point(), series.crashes(), series.runs.len());
        let name = shown(&series.implementation);
        format!("\n{point}: **{crashes} of {runs} runs of {name} crashed**.\n")
    });
    lines.collect()
}

/// The ratios of ours to others.
fn compared(parts: &[Part], report: &Report) -> String {
    let mut text = format!(
        "\n## Ours against others\n\n\
         Ratios: below 1, ours takes less. boxroot 0.4.0 is the registry crate `ocaml-boxroot-sys` 0.4.0.\n\
         `user_seconds` are over the grid. A report goes over everything {PASSES} times, each time in another layout of\n\
         the executables: the ratio is the geometric mean of these times, and the spread is theirs.\n\n\
         | program | figure | which two | ratio | spread |\n|---|---|---|---|---|\n"
    );
    for part in parts {
        let Some(measured) = report.parts.get(&part.name) else { continue };
        for Comparison { point, figure, ours, other, ratio } in measured.compare(part) {
            let (ours, other, Ratio { mean, low, high }) = (shown(&ours), shown(&other), ratio);
            let _ = writeln!(
                text,
                "| {point} | {figure} | {ours} / {other} | {mean:.3} | {low:.3}–{high:.3} |"
            );
        }
    }
    text
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

fn cell(part: &Part, figure: &str, series: &Series) -> String {
    let Some(main) = series.figure(part, figure) else { return String::new() };
    let (low, high) = series.spread(figure);
    let low = if part.fastest { median(series.all(figure)) } else { low };
    let [main, low, high] = [main, low, high].map(|x| format(figure, x));
    if main == low && low == high {
        main
    } else {
        format!("{main} ({low}–{high})")
    }
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
