//! The tables, as one Markdown file for a version of OCaml.

use crate::data::{Measured, Report, Series};
use crate::harness::{median, COUNTS};
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
    for point in in_order(all.iter().map(point_name)) {
        let _ = write!(text, "| {point} |");
        for column in &columns {
            let series = all.iter().find(|s| s.implementation == *column && point_name(s) == point);
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
    for point in in_order(all.iter().map(point_name)) {
        let rows: Vec<&Series> = all.iter().filter(|s| point_name(s) == point).collect();
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
    text += "Below 1, ours takes less. The spread is that of neighbouring runs.\n\n";
    text += "| program | ratio | spread |\n|---|---|---|\n";
    let mut ratios = Vec::new();
    for (part, measured) in &report.parts {
        let is = |s: &&Series, name: &str| s.implementation == name;
        for ours in measured.series.iter().filter(|s| is(s, "boxroot") && !is_chain(s)) {
            let point = point_name(ours);
            let mut others = measured.series.iter().filter(|s| is(s, "peer"));
            let Some(peer) = others.find(|s| point_name(s) == point) else { continue };
            let (a, b) = (ours.all("seconds"), peer.all("seconds"));
            if a.is_empty() || b.is_empty() {
                continue;
            }
            let pairs = || a.iter().zip(&b).map(|(a, b)| a / b);
            let low = pairs().fold(f64::INFINITY, f64::min);
            let high = pairs().fold(0., f64::max);
            let ratio = median(a.clone()) / median(b.clone());
            let _ = writeln!(text, "| {point} | {ratio:.3} | {low:.3}–{high:.3} |");
            if ["programs", "domains"].contains(&part.as_str()) {
                ratios.push(ratio);
            }
        }
    }
    if !ratios.is_empty() {
        let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
        let _ = write!(
            text,
            "\nGeometric mean of perm_count, synthetic, globroots, par_perm_count and prodcons, as\n\
             far as there are: **{:.3}**.\n",
            mean.exp()
        );
    }
    text
}

/// The chains of local_roots have a table and a plot of their own.
fn is_chain(series: &Series) -> bool {
    series.program == "local_roots"
}

fn point_name(series: &Series) -> String {
    let settings: Vec<String> = series.settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
    format!("{} {}", series.program, settings.join(" "))
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
