//! The plots. They have no background, and middle tones, so that they can be read on white and on black.

use crate::data::{Report, Series};
use crate::harness::list::{self, Implementation};
use crate::harness::Result;
use crate::names::shown;
use crate::parts::{named, Part};
use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const GREY: RGBColor = RGBColor(128, 128, 128);

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
        P: IntoIterator<Item = (f64, f64)>,
    {
        let mut lines: Vec<Line> = Vec::new();
        for series in all {
            let mut points: Vec<_> = points(series).into_iter().filter(|(_, y)| *y > 0.).collect();
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

pub fn all(folder: &Path, version: &str, parts: &[Part], report: &Report) -> Result<()> {
    let colours = Colours::read()?;
    let file = |name: &str| folder.join(format!("{version}-{name}.svg"));
    let title = |text: &str| format!("{text}, OCaml {version}");

    let groups = |part: &str| -> Vec<String> {
        let all = report.series(part).iter().map(group_name);
        all.fold(Vec::new(), |mut known, name| {
            if !known.contains(&name) {
                known.push(name);
            }
            known
        })
    };
    let bars_of = |name: &str, relative: bool, figure: &str| -> Vec<Line> {
        let names = groups(name);
        let part = named(parts, name);
        colours.lines(report.series(name), |s| {
            let x = names.iter().position(|n| *n == group_name(s))? as f64;
            let ours =
                |o: &&Series| o.implementation == "boxroot" && group_name(o) == group_name(s);
            let unit = report.series(name).iter().find(ours)?.figure(part?, figure)?;
            Some((x, s.figure(part?, figure)? / if relative { unit } else { 1. }))
        })
    };
    bars(
        &file("global-roots"),
        &title("Programs that use global roots"),
        "time, ours = 1",
        &groups("programs"),
        &bars_of("programs", true, "seconds"),
        Scale::Logarithmic,
    )?;
    bars(
        &file("levels"),
        &title("Single operations by level of the interface"),
        "ns",
        &groups("levels"),
        &bars_of("levels", false, "ns_per_operation"),
        Scale::Linear,
    )?;

    let lines_of = |name: &str, setting: &str, figure: &str, scale: f64| -> Vec<Line> {
        let part = named(parts, name);
        colours.lines(report.series(name), |s| {
            Some((s.setting(setting)?, s.figure(part?, figure)? * scale))
        })
    };
    for (name, part, text) in [
        ("local-roots", "local_roots", "Local roots: a chain of N calls"),
        ("checks", "checks", "Local roots: checks for threads, and Rust"),
    ] {
        let all = lines_of(part, "N", "ns_per_call", 1.);
        curves(&file(name), &title(text), ("N", "ns per call"), &all, Scale::Logarithmic)?;
    }

    for (name, figure, text) in [
        ("pause", "longest_major_hook", "Longest scan of the roots"),
        ("longest-pause", "longest_pause", "Longest pause of a major cycle"),
    ] {
        let all = lines_of("pause", "SIZE", figure, 1e3);
        curves(&file(name), &title(text), ("live roots", "ms"), &all, Scale::Logarithmic)?;
    }
    let all = colours.lines(report.series("cache"), |s| {
        let point = |i| {
            let (time, pause) = (format!("time_{i:02}"), format!("pause_{i:02}"));
            Some((s.median(&time)?, s.median(&pause)? * 1e3))
        };
        (0..100).filter_map(point).collect::<Vec<_>>()
    });
    let text = title(
        "A cache under churn: longest pause in each hundredth of the time (median of the runs)",
    );
    let axes = ("seconds", "ms");
    curves(&file("cache"), &text, axes, &all, Scale::LogarithmicHeight)?;

    let percentiles = ["p50", "p90", "p99", "p99.9", "p99.99", "longest"].map(String::from);
    let all = colours.lines(report.series("server"), |s| {
        let bar = |(i, figure): (usize, &String)| Some((i as f64, s.median(figure)? * 1e3));
        let of_two = (s.setting("WORKERS") == Some(2.)).then_some(&percentiles);
        of_two.into_iter().flatten().enumerate().filter_map(bar).collect::<Vec<_>>()
    });
    let text = title("A server with two workers: how long a task takes");
    bars(&file("server"), &text, "ms", &percentiles, &all, Scale::Logarithmic)?;

    let all = lines_of("memory", "SIZE", "bytes_per_root", 1.);
    let axes = ("live roots", "bytes per root");
    curves(&file("memory"), &title("Memory"), axes, &all, Scale::Logarithmic)?;

    for (name, part, program, doms, text) in [
        ("par-perm-count", "domains", "par_perm_count", "DOMS", "Each domain uses its own roots"),
        ("prodcons", "domains", "prodcons", "DOMS", "Created on one domain, deleted on another"),
        ("lockless", "lockless", "lockless", "THREADS", "Deleted by threads without a lock"),
    ] {
        let all = colours.lines(report.series(part), |s| {
            let per_second = s.median("creates")? / s.median("seconds")? / 1e6;
            (s.program == program).then_some((s.setting(doms)?, per_second))
        });
        let axes = (if doms == "DOMS" { "domains" } else { "threads" }, "million roots per second");
        curves(&file(name), &title(text), axes, &all, Scale::Linear)?;
    }
    Ok(())
}

/// What a bar or a curve shows of one implementation.
struct Line {
    name: String,
    colour: RGBColor,
    points: Vec<(f64, f64)>,
}

fn group_name(series: &Series) -> String {
    match series.settings.get("CHOICE") {
        Some(choice) => format!("{} ({choice})", series.program),
        None => series.program.clone(),
    }
}

enum Scale {
    Linear,
    Logarithmic,
    LogarithmicHeight,
}

/// The smallest and the largest value, with some space around them.
fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    (low * 0.9, values.fold(0., f64::max) * 1.1)
}

/// A logarithmic axis, with lines at 1, 2, 5, 10, 20, …, or only at the powers of ten if the range is 1000 or more.
fn logarithmic((low, high): (f64, f64)) -> WithKeyPoints<LogCoord<f64>> {
    let steps: &[f64] = if high / low < 1000. { &[1., 2., 5.] } else { &[1.] };
    let powers = low.log10().floor() as i32..=high.log10() as i32;
    let points = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
    (low..high).log_scale().with_key_points(points.filter(|p| (low..high).contains(p)).collect())
}

fn style(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&GREY)
}

/// Draws the legend, and returns the rest of the area.
fn legend<'a>(root: &Area<'a>, lines: &[Line]) -> Result<Area<'a>> {
    let (plot, legend) = root.split_horizontally(640);
    for (i, line) in lines.iter().enumerate() {
        let y = 60 + 22 * i as i32;
        let line_colour = line.colour.filled();
        legend.draw(&Rectangle::new([(4, y), (24, y + 8)], line_colour))?;
        legend.draw(&Text::new(shown(&line.name), (30, y - 3), style(14)))?;
    }
    Ok(plot)
}

fn curves(
    file: &Path,
    title: &str,
    axes: (&str, &str),
    lines: &[Line],
    scale: Scale,
) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let points = || lines.iter().flat_map(|line| &line.points);
    let (x, y) = (range(points().map(|p| p.0)), range(points().map(|p| p.1)));
    match scale {
        Scale::Linear => draw_curves(file, title, axes, lines, 0. ..x.1, 0. ..y.1, 5),
        Scale::Logarithmic => {
            draw_curves(file, title, axes, lines, logarithmic(x), logarithmic(y), 10)
        }
        Scale::LogarithmicHeight => {
            draw_curves(file, title, axes, lines, 0. ..x.1, logarithmic(y), 10)
        }
    }
}

fn draw_curves<X, Y>(
    file: &Path,
    title: &str,
    axes: (&str, &str),
    lines: &[Line],
    x: X,
    y: Y,
    x_labels: usize,
) -> Result<()>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let root = SVGBackend::new(file, (800, 420)).into_drawing_area();
    let plot = legend(&root, lines)?;
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, style(18))
        .margin(8)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .axis_style(GREY)
        .bold_line_style(GREY.mix(0.25))
        .light_line_style(TRANSPARENT)
        .label_style(style(13))
        .axis_desc_style(style(14))
        .x_labels(x_labels)
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .x_desc(axes.0)
        .y_desc(axes.1)
        .draw()?;
    for line in lines {
        let stroke = line.colour.stroke_width(if line.name == "boxroot" { 3 } else { 2 });
        chart.draw_series(LineSeries::new(line.points.iter().copied(), stroke))?;
        let dot = |point: &(f64, f64)| Circle::new(*point, 3, line.colour.filled());
        chart.draw_series(line.points.iter().map(dot))?;
    }
    root.present()?;
    Ok(())
}

/// Draws groups of bars. The x of a point is the number of its group.
fn bars(
    file: &Path,
    title: &str,
    y_title: &str,
    groups: &[String],
    lines: &[Line],
    scale: Scale,
) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let (low, high) = range(lines.iter().flat_map(|line| &line.points).map(|p| p.1));
    match scale {
        Scale::Linear => draw_bars(file, title, y_title, groups, lines, 0. ..high, 0.),
        Scale::Logarithmic | Scale::LogarithmicHeight => {
            draw_bars(file, title, y_title, groups, lines, logarithmic((low, high)), low)
        }
    }
}

fn draw_bars<Y>(
    file: &Path,
    title: &str,
    y_title: &str,
    groups: &[String],
    lines: &[Line],
    y: Y,
    bottom: f64,
) -> Result<()>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let root = SVGBackend::new(file, (800, 420)).into_drawing_area();
    let plot = legend(&root, lines)?;
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, style(18))
        .margin(8)
        .x_label_area_size(30)
        .y_label_area_size(64)
        .build_cartesian_2d(0. ..groups.len() as f64, y)?;
    chart
        .configure_mesh()
        .axis_style(GREY)
        .bold_line_style(GREY.mix(0.25))
        .light_line_style(TRANSPARENT)
        .label_style(style(13))
        .axis_desc_style(style(14))
        .disable_x_mesh()
        .x_labels(0)
        .y_label_formatter(&|y| number(*y))
        .y_desc(y_title)
        .draw()?;
    let width = 0.8 / lines.len() as f64;
    for (i, line) in lines.iter().enumerate() {
        chart.draw_series(line.points.iter().map(|&(group, y)| {
            let left = group + 0.1 + width * i as f64;
            Rectangle::new([(left, bottom), (left + width * 0.9, y)], line.colour.filled())
        }))?;
    }
    let width = chart.plotting_area().dim_in_pixel().0 as i32 / groups.len() as i32;
    for (i, group) in groups.iter().enumerate() {
        let x = 72 + width * i as i32 + width / 8;
        plot.draw(&Text::new(group.clone(), (x, 390), style(12)))?;
    }
    root.present()?;
    Ok(())
}

/// A number as a text, such as 1, 0.25 or 10 000.
fn number(x: f64) -> String {
    match x {
        _ if x >= 1e6 => format!("{}M", x / 1e6),
        _ if x >= 1e3 => format!("{}k", x / 1e3),
        _ => format!("{}", (x * 1e4).round() / 1e4),
    }
}
