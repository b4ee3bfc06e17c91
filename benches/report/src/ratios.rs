//! The figures of a report that are ratios of ours to others.

use crate::data::{Measured, Series};
use crate::harness::statistics::{geometric_mean, smallest_and_largest};
use crate::harness::{COUNTS, GRID_SETTING};
use crate::parts::{Part, PASSES};

/// One figure of one program: our implementation compared with another.
pub struct Comparison {
    pub point: String,
    pub figure: String,
    pub ours: String,
    pub other: String,
    pub ratio: Ratio,
}

/// The ratio of a part's figures in two series of runs.
pub struct Ratio {
    /// The geometric mean over the passes; over the grid, also over its settings.
    pub mean: f64,
    /// The smallest and the largest ratio of a pass.
    pub low: f64,
    pub high: f64,
}

/// One program on two implementations, over the grid.
pub struct OverTheGrid {
    pub point: String,
    pub other: String,
    /// Ratios of our user time to the other's: the geometric mean, the smallest and the largest.
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// The least and the greatest number of major collections in a run, for ours and for the other.
    pub major_collections: [(f64, f64); 2],
}

impl Measured {
    /// The ratios of ours to others, in all of the part's figures that are not counts.
    pub fn compare(&self, part: &Part) -> Vec<Comparison> {
        let mut all = Vec::new();
        for (ours, other) in &part.compared {
            for (point, pairs) in self.pairs(ours, other) {
                for figure in part.figures.iter().filter(|f| !COUNTS.contains(&f.as_str())) {
                    let of_passes: Vec<f64> = (0..PASSES)
                        .filter_map(|pass| geometric_mean(&ratios(&pairs, part, figure, pass)))
                        .collect();
                    let Some(mean) = geometric_mean(&of_passes) else { continue };
                    let (low, high) = smallest_and_largest(of_passes.into_iter());
                    let ratio = Ratio { mean, low, high };
                    all.push(Comparison {
                        point: point.clone(),
                        figure: figure.clone(),
                        ours: ours.clone(),
                        other: other.clone(),
                        ratio,
                    });
                }
            }
        }
        all
    }

    /// One element for each program and other implementation, if this part is measured over the
    /// grid.
    pub fn over_the_grid(&self, part: &Part) -> Vec<OverTheGrid> {
        let mut all = Vec::new();
        for (ours, other) in &part.compared {
            for (point, pairs) in self.pairs(ours, other) {
                let of_passes = |pair| {
                    let of_pass = |pass| ratios(&[pair], part, "user_seconds", pass);
                    geometric_mean(&(0..PASSES).flat_map(of_pass).collect::<Vec<_>>())
                };
                let ratios: Vec<f64> = pairs.iter().filter_map(|&pair| of_passes(pair)).collect();
                let Some(mean) = geometric_mean(&ratios) else { continue };
                let majors = |of: fn(&(&Series, &Series)) -> Vec<f64>| {
                    smallest_and_largest(pairs.iter().flat_map(of))
                };
                let (low, high) = smallest_and_largest(ratios.iter().copied());
                all.push(OverTheGrid {
                    point,
                    other: other.to_string(),
                    mean,
                    low,
                    high,
                    major_collections: [
                        majors(|(ours, _)| ours.all("major_collections")),
                        majors(|(_, other)| other.all("major_collections")),
                    ],
                });
            }
        }
        all
    }

    /// The points that both implementations have, each with the two series. For the grid, returns
    /// the points of each setting.
    fn pairs(&self, ours: &str, other: &str) -> Vec<(String, Vec<(&Series, &Series)>)> {
        let mut all: Vec<(String, Vec<_>)> = Vec::new();
        for a in self.series.iter().filter(|s| s.implementation == ours) {
            let is_other = |s: &&Series| s.implementation == other && s.point() == a.point();
            let Some(b) = self.series.iter().find(is_other) else { continue };
            let point = a.point_but_for(GRID_SETTING);
            match all.iter_mut().find(|(known, _)| *known == point) {
                Some((_, pairs)) => pairs.push((a, b)),
                None => all.push((point, vec![(a, b)])),
            }
        }
        all
    }
}

/// The ratios of a figure in one pass, for the pairs in which both series have the figure.
fn ratios(pairs: &[(&Series, &Series)], part: &Part, figure: &str, pass: usize) -> Vec<f64> {
    let of = |series: &Series| part.figure(&series.in_pass(figure, pass));
    pairs.iter().filter_map(|(a, b)| Some(of(a)? / of(b)?)).collect()
}
