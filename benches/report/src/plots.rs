//! The plots of a report.

use crate::data::{Report, Series};
use crate::draw::{bars, curves, Line, Point, Scale, GREY};
use crate::harness::list::{self, Implementation};
use crate::harness::Result;
use crate::parts::{named, Part};
use plotters::style::RGBColor;
use std::path::Path;

/// The colours of the implementations, the same in all plots.
struct Colours(Vec<(String, RGBColor)>);

impl Colours {
    /// Reads them from the list, where they look like `#d64541`.
    fn read() -> Result<Colours> {
        let of = |i: Implementation| {
            let digits = i.colour.strip_prefix('#').filter(|digits| digits.len() == 6);
            let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let number = number
                .ok_or_else(|| format!("list.toml: {}: {} is no colour", i.name, i.colour))?;
            let [_, red, green, blue] = number.to_be_bytes();
            Ok((i.name, RGBColor(red, green, blue)))
        };
        list::read()?.into_iter().map(of).collect::<Result<_>>().map(Colours)
    }

    fn of(&self, implementation: &str) -> RGBColor {
        self.0.iter().find(|c| c.0 == implementation).map_or(GREY, |c| c.1)
    }

    /// The points of each implementation, in the order of the data. One without points gets no line.
    fn lines<P>(&self, all: &[Series], points: impl Fn(&Series) -> P) -> Vec<Line>
    where
        P: IntoIterator<Item = Point>,
    {
        let mut lines: Vec<Line> = Vec::new();
        for series in all {
            let mut points: Vec<_> =
                points(series).into_iter().filter(|p| p.spread.0 > 0.).collect();
            let name = &series.implementation;
            match lines.iter_mut().find(|l| l.name == *name) {
                _ if points.is_empty() => {}
                Some(line) => line.points.append(&mut points),
                None => lines.push(Line { name: name.clone(), colour: self.of(name), points }),
            }
        }
        lines
    }
}

/// The plots of one version of OCaml; one without data is not drawn.
pub fn all(folder: &Path, version: &str, parts: &[Part], report: &Report) -> Result<()> {
    let colours = Colours::read()?;
    let file = |name: &str| folder.join(format!("{version}-{name}.svg"));
    let title = |text: &str| format!("{text}, OCaml {version}");

    let groups = groups(report.series("programs"));
    let programs = named(parts, "programs");
    let relative = colours.lines(report.series("programs"), |s| {
        let x = groups.iter().position(|group| *group == group_name(s))? as f64;
        let mut all = report.series("programs").iter();
        let ours = all.find(|o| o.implementation == "boxroot" && group_name(o) == group_name(s))?;
        point(x, s, programs?, "seconds", 1. / ours.figure(programs?, "seconds")?)
    });
    let text = title("Programs that use global roots");
    bars(&file("global-roots"), &text, "time, ours = 1", &groups, &relative, Scale::Logarithmic)?;

    let lines_of = |name: &str, setting: &str, figure: &str, scale: f64| -> Vec<Line> {
        let part = named(parts, name);
        colours.lines(report.series(name), |s| point(s.setting(setting)?, s, part?, figure, scale))
    };
    let all = lines_of("local_roots", "N", "ns_per_call", 1.);
    let text = title("Local roots: a chain of N calls");
    curves(&file("local-roots"), &text, ("N", "ns per call"), &all, Scale::Logarithmic)?;

    let all = lines_of("pause", "SIZE", "longest_pause", 1e3);
    let text = title("Longest pause of a major cycle");
    curves(&file("longest-pause"), &text, ("live roots", "ms"), &all, Scale::Logarithmic)?;

    let cache = named(parts, "cache");
    let all = colours.lines(report.series("cache"), |s| {
        let pause = |i| point(i as f64 + 0.5, s, cache?, &format!("pause_{i:02}"), 1e3);
        (0..100).filter_map(pause).collect::<Vec<_>>()
    });
    let text = title("A changing cache: longest pause in each percent of a run");
    let axes = ("percent of the run", "ms");
    curves(&file("cache"), &text, axes, &all, Scale::Percent)?;

    let percentiles = ["p50", "p90", "p99", "p99.9", "p99.99", "longest"].map(String::from);
    let server = named(parts, "server");
    let all = colours.lines(report.series("server"), |s| {
        let bar = |(i, figure): (usize, &String)| point(i as f64, s, server?, figure, 1e3);
        let of_two = (s.setting("WORKERS") == Some(2.)).then_some(&percentiles);
        of_two.into_iter().flatten().enumerate().filter_map(bar).collect::<Vec<_>>()
    });
    let text = title("A server with two workers: how long a task takes");
    bars(&file("server"), &text, "ms", &percentiles, &all, Scale::Logarithmic)?;

    for (name, program, text) in [
        ("par-perm-count", "par_perm_count", "Each domain uses its own roots"),
        ("prodcons", "prodcons", "Created on one domain, deleted on another"),
    ] {
        let all = colours.lines(report.series("domains"), |s| {
            let creates = s.median("creates")? / 1e6;
            let (fastest, slowest) = s.spread("seconds");
            let spread = (creates / slowest, creates / fastest);
            let y = creates / s.median("seconds")?;
            (s.program == program).then_some(Point { x: s.setting("DOMS")?, y, spread })
        });
        let axes = ("domains", "million roots per second");
        curves(&file(name), &title(text), axes, &all, Scale::Linear)?;
    }
    Ok(())
}

/// A figure of a series, and its spread.
fn point(x: f64, series: &Series, part: &Part, figure: &str, scale: f64) -> Option<Point> {
    let y = series.figure(part, figure)? * scale;
    let (low, high) = series.spread(figure);
    Some(Point { x, y, spread: (low * scale, high * scale) })
}

/// The groups of bars, in the order of the data.
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
