//! The plots of a report. Each answers one question, and shows the implementations for it.

use crate::data::{Report, Series};
use crate::draw::{curves, dots, Line, Point, Title};
use crate::harness::Result;
use crate::parts::{named, Part};
use std::path::Path;

/// The implementations that plots show: their labels and colours.
const SHOWN: [(&str, &str, &str); 6] = [
    ("boxroot", "this library", "#b71c1c"),
    ("peer", "ocaml-boxroot-sys 0.4.0", "#1f5fa8"),
    ("generational", "generational global roots", "#1b7a3e"),
    ("global", "global roots", "#6a4aa0"),
    ("local", "OCaml's local roots", "#9a5200"),
    ("ocaml_ref", "no roots, OCaml only", "#7a5230"),
];

/// The points of these implementations. An implementation without points gets no line.
fn lines<P>(all: &[Series], chosen: &[&str], points: impl Fn(&Series) -> P) -> Vec<Line>
where
    P: IntoIterator<Item = Point>,
{
    let of = |&(name, label, colour): &(&str, &'static str, &'static str)| {
        let series = all.iter().filter(|s| s.implementation == name);
        let points: Vec<_> = series.flat_map(&points).filter(|p| p.spread.0 > 0.).collect();
        (chosen.contains(&name) && !points.is_empty()).then_some(Line { label, colour, points })
    };
    SHOWN.iter().filter_map(of).collect()
}

/// Draws the plots of one version of OCaml, except plots without data.
pub fn all(folder: &Path, version: &str, parts: &[Part], report: &Report) -> Result<()> {
    let file = |name: &str| folder.join(format!("{version}-{name}.svg"));
    let note = "less is better; thin lines: all runs";

    let groups = groups(report.series("programs"));
    let programs = named(parts, "programs");
    let chosen = ["boxroot", "peer", "generational", "global", "ocaml_ref"];
    let relative = lines(report.series("programs"), &chosen, |s| {
        let x = groups.iter().position(|group| *group == group_name(s))? as f64;
        let mut all = report.series("programs").iter();
        let ours = all.find(|o| o.implementation == "boxroot" && group_name(o) == group_name(s))?;
        point(x, s, programs?, "seconds", 1. / ours.figure(programs?, "seconds")?)
    });
    let title = Title {
        question: "How long do programs take with each kind of root?",
        figures: &format!("OCaml {version}: time, relative to this library; {note}"),
    };
    if !relative.is_empty() {
        dots(&file("global-roots"), &title, &groups, &relative)?;
    }

    let curve = |name: &str, setting: &str, figure: &str, scale: f64, chosen: &[&str]| {
        let part = named(parts, name);
        lines(report.series(name), chosen, |s| point(s.setting(setting)?, s, part?, figure, scale))
    };
    let chosen = ["boxroot", "peer", "generational", "local"];
    let calls = curve("local_roots", "N", "ns_per_call", 1., &chosen);
    let title = Title {
        question: "What do roots cost in a chain of calls between C and OCaml?",
        figures: &format!("OCaml {version}: ns per call; {note}"),
    };
    if !calls.is_empty() {
        curves(&file("local-roots"), &title, "calls in the chain", &calls)?;
    }

    let chosen = ["boxroot", "peer", "generational", "ocaml_ref"];
    let pauses = curve("pause", "SIZE", "longest_pause", 1e3, &chosen);
    let title = Title {
        question: "How long does the collector stop a program with many roots?",
        figures: &format!("OCaml {version}: longest pause of a major cycle, ms; {note}"),
    };
    if !pauses.is_empty() {
        curves(&file("longest-pause"), &title, "live roots", &pauses)?;
    }
    Ok(())
}

/// A figure of a series, and its spread.
fn point(x: f64, series: &Series, part: &Part, figure: &str, scale: f64) -> Option<Point> {
    let y = series.figure(part, figure)? * scale;
    let (low, high) = series.spread(figure);
    Some(Point { x, y, spread: (low * scale, high * scale) })
}

/// The groups of dots, in the order of the data.
fn groups(all: &[Series]) -> Vec<String> {
    let mut groups: Vec<String> = all.iter().map(group_name).collect();
    groups.dedup();
    groups
}

fn group_name(series: &Series) -> String {
    match series.settings.get("CHOICE") {
        Some(choice) => format!("{} ({choice})", series.program),
        None => series.program.clone(),
    }
}
