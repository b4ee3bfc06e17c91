//! Draws curves and dots, with a label beside each series. Texts and lines have a contrast of 4.5
//! or more.

use crate::harness::Result;
use std::fmt::Write;
use std::path::Path;

const TEXT: &str = "#222";
const PALE: &str = "#555";
const GRID: &str = "#ddd";
const WIDTH: f64 = 760.;

/// A figure, and the smallest and the largest of its runs. These are drawn as a thin line through
/// it.
#[derive(Clone, Copy)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub spread: (f64, f64),
}

/// The line of one implementation in a plot.
pub struct Line {
    pub label: &'static str,
    pub colour: &'static str,
    pub points: Vec<Point>,
}

/// A question, and the unit of the figures.
pub struct Title<'a> {
    pub question: &'a str,
    pub figures: &'a str,
}

/// A logarithmic axis, from one pair of a figure and a position to another.
struct Axis {
    from: (f64, f64),
    to: (f64, f64),
}

impl Axis {
    fn new(all: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Axis {
        let low = all.clone().fold(f64::INFINITY, f64::min) * 0.9;
        Axis { from: (low, from), to: (all.fold(0., f64::max) * 1.1, to) }
    }

    fn place(&self, x: f64) -> f64 {
        let share = (x / self.from.0).ln() / (self.to.0 / self.from.0).ln();
        self.from.1 + share * (self.to.1 - self.from.1)
    }

    /// 1, 2, 5, 10, 20, …, or only the powers of ten if the range is 1000 or more.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = (self.from.0, self.to.0);
        let steps: &[f64] = if high / low < 1000. { &[1., 2., 5.] } else { &[1.] };
        let powers = low.log10().floor() as i32..=high.log10() as i32;
        let ticks = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        ticks.filter(|tick| (low..high).contains(tick)).collect()
    }
}

/// The text of a picture.
struct Svg(String);

impl Svg {
    fn new(height: f64, title: &Title) -> Svg {
        let mut svg = Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n",
            title.question
        ));
        svg.text(16., 24., "start", TEXT, "font-size=\"17\" font-weight=\"bold\" ", title.question);
        svg.text(16., 44., "start", PALE, "", title.figures);
        svg
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, colour: &str, more: &str, text: &str) {
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}fill=\"{colour}\">{text}</text>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let _ = writeln!(
            self.0,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn dot(&mut self, (x, y): (f64, f64), colour: &str) {
        let _ = writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
    }

    fn write(mut self, file: &Path) -> Result<()> {
        self.0 += "</svg>\n";
        Ok(std::fs::write(file, self.0)?)
    }
}

/// The heights of all points and spreads.
fn heights(lines: &[Line]) -> impl Iterator<Item = f64> + Clone + '_ {
    lines.iter().flat_map(|line| &line.points).flat_map(|p| [p.spread.0, p.y, p.spread.1])
}

/// A curve for each line, with its label after its last point.
pub fn curves(file: &Path, title: &Title, x_title: &str, lines: &[Line]) -> Result<()> {
    let (left, right, top, bottom) = (60., 540., 66., 360.);
    let x = Axis::new(lines.iter().flat_map(|l| &l.points).map(|p| p.x), left, right);
    let y = Axis::new(heights(lines), bottom, top);
    let mut svg = Svg::new(410., title);
    for tick in y.ticks() {
        svg.line((left, y.place(tick)), (right, y.place(tick)), GRID, 1.);
        svg.text(left - 8., y.place(tick) + 4.5, "end", PALE, "", &number(tick));
    }
    for tick in x.ticks() {
        svg.line((x.place(tick), bottom), (x.place(tick), bottom + 5.), PALE, 1.);
        svg.text(x.place(tick), bottom + 20., "middle", PALE, "", &number(tick));
    }
    svg.line((left, bottom), (right, bottom), PALE, 1.);
    svg.text((left + right) / 2., bottom + 40., "middle", PALE, "", x_title);
    for line in lines {
        let at = |p: &Point| (x.place(p.x), y.place(p.y));
        for pair in line.points.windows(2) {
            svg.line(at(&pair[0]), at(&pair[1]), line.colour, 2.);
        }
        for p in &line.points {
            let spread = (y.place(p.spread.0), y.place(p.spread.1));
            svg.line((at(p).0, spread.0), (at(p).0, spread.1), line.colour, 1.);
            svg.dot(at(p), line.colour);
        }
    }
    let mut labels: Vec<(f64, &Line)> = Vec::new();
    labels.extend(lines.iter().filter_map(|l| Some((y.place(l.points.last()?.y) + 4.5, l))));
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for i in 1..labels.len() {
        labels[i].0 = labels[i].0.max(labels[i - 1].0 + 17.);
    }
    for (place, line) in labels {
        svg.text(right + 4., place, "start", line.colour, "", line.label);
    }
    svg.write(file)
}

/// A dot for each line in each group, in a row with its label and its figure. The x of a point is
/// the number of its group.
pub fn dots(file: &Path, title: &Title, groups: &[String], lines: &[Line]) -> Result<()> {
    let (left, right, top) = (230., 700., 66.);
    let rows: usize = lines.iter().map(|line| line.points.len()).sum();
    let height = top + 20. * rows as f64 + 34. * groups.len() as f64 + 10.;
    let x = Axis::new(heights(lines).chain([1.]), left, right);
    let mut svg = Svg::new(height + 20., title);
    for tick in x.ticks() {
        let colour = if tick == 1. { PALE } else { GRID };
        svg.line((x.place(tick), top), (x.place(tick), height - 10.), colour, 1.);
        svg.text(x.place(tick), height + 8., "middle", PALE, "", &number(tick));
    }
    let mut place = top;
    for (i, group) in groups.iter().enumerate() {
        place += 24.;
        svg.text(16., place, "start", TEXT, "font-weight=\"bold\" ", group);
        for line in lines {
            for p in line.points.iter().filter(|p| p.x == i as f64) {
                place += 20.;
                svg.text(left - 14., place, "end", line.colour, "", line.label);
                let spread = (x.place(p.spread.0), x.place(p.spread.1));
                svg.line((spread.0, place - 4.5), (spread.1, place - 4.5), line.colour, 2.);
                svg.dot((x.place(p.y), place - 4.5), line.colour);
                let text = format!("{:.2}", p.y);
                svg.text(spread.1 + 8., place, "start", line.colour, "", &text);
            }
        }
        place += 10.;
    }
    svg.write(file)
}

/// A number as a text, such as 1, 0.25, 10k or 2M.
fn number(x: f64) -> String {
    match x {
        _ if x >= 1e6 => format!("{}M", x / 1e6),
        _ if x >= 1e3 => format!("{}k", x / 1e3),
        _ => format!("{}", (x * 1e4).round() / 1e4),
    }
}
