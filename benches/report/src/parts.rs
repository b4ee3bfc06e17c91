//! The parts of a report: `benches/report/parts.toml`.

use crate::harness::statistics::median;
use crate::harness::{list, Result, GRID, GRID_SETTING, LAYOUTS};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    part: Vec<Part>,
}

/// A part: some tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub name: String,
    pub title: String,
    /// The figures that the tables show.
    pub figures: Vec<String>,
    /// Pairs of one of our implementations and another one. The first table compares their figures,
    /// except counts.
    #[serde(default)]
    pub compared: Vec<(String, String)>,
    /// All implementations run in the executable with the variants, so that its layout makes no
    /// difference between them.
    #[serde(default)]
    pub one_executable: bool,
    /// Every point is measured under every setting of the collector.
    #[serde(default)]
    pub over_the_grid: bool,
    /// The fastest run counts, not the median. For loops of some milliseconds or tenths of a
    /// second, and for settings with few runs: other work on the machine can only increase their
    /// time, and often doubles it.
    #[serde(default)]
    pub fastest: bool,
    program: Vec<Programs>,
    /// The implementations whose `parts` in `benches/implementations/list.toml` name this part.
    #[serde(skip)]
    pub implementations: Vec<String>,
    #[serde(skip)]
    pub points: Vec<Point>,
}

/// Programs that are started with the same settings; each setting may have several values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    name: OneOrMore<String>,
    settings: BTreeMap<String, OneOrMore<Value>>,
    /// Settings of a quick report; there, `SIZE` is a fiftieth.
    #[serde(default)]
    quick: BTreeMap<String, OneOrMore<Value>>,
    #[serde(default = "one_in_each_layout")]
    runs: usize,
}

fn one_in_each_layout() -> usize {
    PASSES
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T: Clone> OneOrMore<T> {
    fn all(&self) -> Vec<T> {
        match self {
            OneOrMore::One(one) => vec![one.clone()],
            OneOrMore::More(all) => all.clone(),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Value {
    Number(u64),
    Text(String),
}

/// A program, and the settings with which it is started.
#[derive(Clone)]
pub struct Point {
    pub program: String,
    pub settings: BTreeMap<String, String>,
    /// The number of runs of each implementation, in all passes together.
    pub runs: usize,
}

/// The number of passes: how often a report measures all parts, each time with a share of the runs,
/// and with executables of another layout. Shared machines are slower at some times, which affects
/// some programs more than others. The layout alone makes one program faster and another slower. A
/// ratio is the geometric mean of the ratios of the passes, and its spread is the spread of these.
pub const PASSES: usize = LAYOUTS.len();

/// The runs of a pass, if there are this many runs in all.
pub fn of_pass(runs: usize, pass: usize) -> Range<usize> {
    runs * pass / PASSES..runs * (pass + 1) / PASSES
}

pub fn named<'a>(parts: &'a [Part], name: &str) -> Option<&'a Part> {
    parts.iter().find(|part| part.name == name)
}

/// All parts, with their implementations and their points. Returns an error if the list of
/// implementations names a part that does not exist.
pub fn all(quick: bool) -> Result<Vec<Part>> {
    let Parts { part: mut parts } = toml::from_str(include_str!("../parts.toml"))?;
    for part in &mut parts {
        part.points = part.program.iter().flat_map(|programs| programs.points(quick)).collect();
        if part.over_the_grid {
            part.points = part.points.iter().flat_map(Point::over_the_grid).collect();
        }
    }
    for implementation in list::read()? {
        for name in implementation.parts {
            let part = parts.iter_mut().find(|part| part.name == name);
            let part = part.ok_or_else(|| {
                format!("list.toml: {} is in {name}, which is not a part", implementation.name)
            })?;
            part.implementations.push(implementation.name.clone());
        }
    }
    Ok(parts)
}

impl Programs {
    /// One for each program, and each combination of the values of its settings.
    fn points(&self, quick: bool) -> Vec<Point> {
        let runs = if quick { self.runs.min(2) } else { self.runs };
        let with = |program| Point { program, settings: BTreeMap::new(), runs };
        let mut points: Vec<Point> = self.name.all().into_iter().map(with).collect();
        for (name, values) in &self.settings {
            let quick_values = self.quick.get(name).filter(|_| quick);
            let values: Vec<String> = quick_values
                .unwrap_or(values)
                .all()
                .into_iter()
                .map(|value| match value {
                    Value::Number(size) if quick && name == "SIZE" => (size / 50).to_string(),
                    Value::Number(number) => number.to_string(),
                    Value::Text(text) => text,
                })
                .collect();
            let with_each =
                |point: Point| values.clone().into_iter().map(move |v| point.with(name, v));
            points = points.into_iter().flat_map(with_each).collect();
        }
        points
    }
}

impl Point {
    fn with(&self, name: &str, value: String) -> Point {
        let mut point = self.clone();
        point.settings.insert(name.to_string(), value);
        point
    }

    fn over_the_grid(&self) -> Vec<Point> {
        GRID.iter().map(|setting| self.with(GRID_SETTING, setting.to_string())).collect()
    }
}

impl Part {
    pub fn compares(&self, implementation: &str) -> bool {
        self.compared.iter().any(|(ours, other)| [ours, other].iter().any(|i| *i == implementation))
    }

    /// The number that represents these runs. Returns None if there are none.
    pub fn figure(&self, runs: &[f64]) -> Option<f64> {
        match self.fastest {
            true => runs.iter().copied().reduce(f64::min),
            false => (!runs.is_empty()).then(|| median(runs.to_vec())),
        }
    }
}
