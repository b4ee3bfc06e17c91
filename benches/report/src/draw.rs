//! Draws curves and bars. They have no background, and middle tones, so that they can be read on white and on black.

use crate::harness::Result;
use crate::names::shown;
use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub const GREY: RGBColor = RGBColor(128, 128, 128);

/// A figure, and the smallest and the largest of its runs, which are drawn as a thin line through it.
#[derive(Clone, Copy)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub spread: (f64, f64),
}

/// What a bar or a curve shows of one implementation.
pub struct Line {
    pub name: String,
    pub colour: RGBColor,
    pub points: Vec<Point>,
}

pub enum Scale {
    Linear,
    Logarithmic,
    /// From 0 to 100; the height is logarithmic.
    Percent,
}

/// The heights of all points and spreads.
fn heights(lines: &[Line]) -> impl Iterator<Item = f64> + Clone + '_ {
    lines.iter().flat_map(|line| &line.points).flat_map(|p| [p.spread.0, p.y, p.spread.1])
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

pub fn curves(
    file: &Path,
    title: &str,
    axes: (&str, &str),
    lines: &[Line],
    scale: Scale,
) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let x = range(lines.iter().flat_map(|line| &line.points).map(|p| p.x));
    let y = range(heights(lines));
    match scale {
        Scale::Linear => draw_curves(file, title, axes, lines, 0. ..x.1, 0. ..y.1, 5),
        Scale::Logarithmic => {
            draw_curves(file, title, axes, lines, logarithmic(x), logarithmic(y), 10)
        }
        Scale::Percent => draw_curves(file, title, axes, lines, 0. ..100., logarithmic(y), 10),
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
        chart.draw_series(LineSeries::new(line.points.iter().map(|p| (p.x, p.y)), stroke))?;
        let dot = |p: &Point| Circle::new((p.x, p.y), 3, line.colour.filled());
        chart.draw_series(line.points.iter().map(dot))?;
        let spread = |p: &Point| {
            PathElement::new([(p.x, p.spread.0), (p.x, p.spread.1)], line.colour.mix(0.5))
        };
        chart.draw_series(line.points.iter().map(spread))?;
    }
    root.present()?;
    Ok(())
}

/// Draws groups of bars, each with its spread. The x of a point is the number of its group.
pub fn bars(
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
    let (low, high) = range(heights(lines));
    match scale {
        Scale::Linear => draw_bars(file, title, y_title, groups, lines, 0. ..high, 0.),
        Scale::Logarithmic | Scale::Percent => {
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
        let left = |p: &Point| p.x + 0.1 + width * i as f64;
        chart.draw_series(line.points.iter().map(|p| {
            let corners = [(left(p), bottom), (left(p) + width * 0.9, p.y)];
            Rectangle::new(corners, line.colour.filled())
        }))?;
        chart.draw_series(line.points.iter().map(|p| {
            let x = left(p) + width * 0.45;
            PathElement::new([(x, p.spread.0), (x, p.spread.1)], GREY.stroke_width(2))
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
