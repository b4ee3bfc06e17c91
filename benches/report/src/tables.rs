//! The tables, as one Markdown file for a version of OCaml.

use crate::data::{Measured, Ratio, Report, Series};
use crate::harness::COUNTS;
use crate::parts::Part;
use std::fmt::Write;

pub fn all(version: &str, parts: &[Part], report: &Report) -> String {
    let mut text = format!("# Benchmarks on OCaml {version}\n\n");
    text += "Made by `make report OCAML=";
    text += version;
    text +=
        "`; what it all means is in [README.md](README.md). Cells are medians, with the smallest\n\
             and the largest run. Only ratios within one table mean something.\n";
    text += &against_peer(report);
    for part in parts {
        if let Some(measured) = report.parts.get(part.name) {
            let _ = write!(text, "\n## {}\n\n{}", part.title, machine(measured));
            text += &if part.figures.len() == 1 {
                matrix(part.figures[0], &measured.series)
            } else {
                one_by_one(part.figures, &measured.series)
            };
        }
    }
    text
}

fn machine(measured: &Measured) -> String {
    let m = &measured.machine;
    format!(
        "{}, {}, {} cores, {}, OCaml {}, {}, {}.\n",
        m.date, m.cpu, m.cores, m.system, m.ocaml, m.rustc, m.cc
    )
}

/// Points in rows, implementations in columns.
fn matrix(figure: &str, all: &[Series]) -> String {
    let columns = in_order(all.iter().map(|s| s.implementation.clone()));
    let mut text = format!("\n`{figure}`:\n\n| | {} |\n|---|", columns.join(" | "));
    text += &"---|".repeat(columns.len());
    text += "\n";
    for point in in_order(all.iter().map(Series::point)) {
        let _ = write!(text, "| {point} |");
        for column in &columns {
            let series = all.iter().find(|s| s.implementation == *column && s.point() == point);
            let _ = write!(text, " {} |", series.map_or(String::new(), |s| cell(figure, s)));
        }
        text += "\n";
    }
    text
}

/// A table for each point: implementations in rows, figures in columns. What is measured in
/// seconds first is compared with ours.
fn one_by_one(figures: &[&str], all: &[Series]) -> String {
    let mut text = String::new();
    for point in in_order(all.iter().map(Series::point)) {
        let rows: Vec<&Series> = all.iter().filter(|s| s.point() == point).collect();
        let ours = rows.iter().find(|s| s.implementation == "boxroot");
        let _ = write!(text, "\n### {point}\n\n| | {} | of ours |\n|---|", figures.join(" | "));
        text += &"---|".repeat(figures.len() + 1);
        text += "\n";
        for row in &rows {
            let _ = write!(text, "| {} |", row.implementation);
            for figure in figures {
                let _ = write!(text, " {} |", cell(figure, row));
            }
            let ours = ours.and_then(|ours| ours.median(figures[0]));
            let ratio = ours.and_then(|ours| Some(row.median(figures[0])? / ours));
            let _ = writeln!(text, " {} |", ratio.map_or(String::new(), |r| format!("{r:.2}")));
        }
    }
    text
}

/// The ratios of ours to the registry crate's, and their geometric mean over the programs.
fn against_peer(report: &Report) -> String {
    let mut text = String::from("\n## Ours against the registry crate\n\n");
    text += "Below 1, ours takes less. The spread is that of neighbouring runs. \"Before\" is the ratio when\n\
             the same was measured the last time.\n\n";
    text += "| program | ratio | spread | before |\n|---|---|---|---|\n";
    let (mut programs, mut programs_before) = (Vec::new(), Vec::new());
    let (mut known, mut agree) = (0, 0);
    for (part, measured) in &report.parts {
        for (point, Ratio { median, low, high }) in measured.against_peer() {
            let earlier = measured.before.get(&point);
            let cell = earlier.map_or(String::new(), |ratio| format!("{ratio:.3}"));
            let _ = writeln!(text, "| {point} | {median:.3} | {low:.3}–{high:.3} | {cell} |");
            known += earlier.is_some() as usize;
            agree += earlier.is_some_and(|ratio| (low..=high).contains(ratio)) as usize;
            if ["programs", "domains"].contains(&part.as_str()) {
                programs.push(median);
                programs_before.extend(earlier);
            }
        }
    }
    if known > 0 {
        let _ = write!(text, "\n{agree} of {known} ratios before are within the spread.\n");
    }
    if let Some(mean) = geometric_mean(&programs) {
        let before = geometric_mean(&programs_before).map(|mean| format!("; before, {mean:.3}"));
        let _ = write!(
            text,
            "\nGeometric mean of perm_count, synthetic, globroots, par_perm_count and prodcons, as\n\
             far as there are: **{mean:.3}**{}.\n",
            before.unwrap_or_default()
        );
    }
    text
}

fn geometric_mean(all: &[f64]) -> Option<f64> {
    let logarithms = all.iter().map(|x| x.ln()).sum::<f64>();
    (!all.is_empty()).then(|| (logarithms / all.len() as f64).exp())
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

fn cell(figure: &str, series: &Series) -> String {
    let Some(median) = series.median(figure) else { return String::new() };
    let (low, high) = series.spread(figure);
    let (low, high) = (format(figure, low), format(figure, high));
    let median = format(figure, median);
    if low == high {
        median
    } else {
        format!("{median} ({low}–{high})")
    }
}

fn format(figure: &str, x: f64) -> String {
    match figure {
        _ if COUNTS.contains(&figure) => format!("{x:.0}"),
        "peak_resident" => format!("{:.0} MiB", x / 1048576.),
        "bytes_per_root" | "given_back" | "growth_after_refill" => format!("{x:.2}"),
        _ if figure.starts_with("ns_") => format!("{x:.1}"),
        _ if x >= 1. => format!("{x:.2} s"),
        _ if x >= 1e-3 => format!("{:.2} ms", x * 1e3),
        _ => format!("{:.1} µs", x * 1e6),
    }
}
