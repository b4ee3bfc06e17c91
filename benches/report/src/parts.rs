//! What is measured.

use crate::harness::{list, median, Counted, Result, LAYOUTS};
use std::ops::Range;

/// A table or a plot.
#[derive(Default)]
pub struct Part {
    pub name: &'static str,
    pub title: &'static str,
    /// The figures that the tables show.
    pub figures: &'static [&'static str],
    pub points: Vec<Point>,
    /// Those whose `parts` in `benches/implementations/list.toml` name this part.
    pub implementations: Vec<String>,
    /// Pairs of one of our implementations and another: the first table compares their figures, except counts.
    pub compared: &'static [(&'static str, &'static str)],
    /// All run in the executable with the variants, so that its layout makes no difference between them.
    pub one_executable: bool,
    /// Every point is measured under every setting of the collector. Under one setting alone, a program that runs
    /// some fifteen major cycles changes by a tenth or more when it happens to run one more.
    pub over_the_grid: bool,
    /// The fastest run counts, not the median. For loops of some milliseconds, or tenths of a second, and where there
    /// are few runs of each setting: whatever else the machine does only ever adds to their time, and often doubles it.
    pub fastest: bool,
    /// Instructions are counted, by valgrind, and not time; once, whatever `times` says.
    pub counted: Option<Counted>,
    /// How often each point is run on each implementation, in all passes together.
    pub times: usize,
}

impl Part {
    pub fn compares(&self, implementation: &str) -> bool {
        self.compared.iter().any(|&(ours, other)| [ours, other].contains(&implementation))
    }

    /// What stands for these runs; None if there are none.
    pub fn figure(&self, runs: &[f64]) -> Option<f64> {
        match self.fastest {
            true => runs.iter().copied().reduce(f64::min),
            false => (!runs.is_empty()).then(|| median(runs.to_vec())),
        }
    }

    /// The points, each under every setting of the collector if the part says so.
    pub fn all_points(&self) -> Vec<Point> {
        let under = |point: &Point, setting: &str| {
            let mut settings = point.settings.clone();
            settings.push(("OCAMLRUNPARAM", setting.to_string()));
            Point { settings, ..point.clone() }
        };
        let of = |point: &Point| match self.over_the_grid {
            true => GRID.iter().map(|setting| under(point, setting)).collect(),
            false => vec![point.clone()],
        };
        self.points.iter().flat_map(of).collect()
    }
}

/// A program, and the settings with which it is started.
#[derive(Clone)]
pub struct Point {
    pub program: &'static str,
    pub settings: Vec<(&'static str, String)>,
    /// How many runs there are instead of one, each time: the shorter a program, the more often it is disturbed as a
    /// whole.
    pub runs: usize,
}

impl Point {
    fn with_runs(self, runs: usize) -> Point {
        Point { runs, ..self }
    }
}

fn point<const N: usize>(program: &'static str, settings: [(&'static str, usize); N]) -> Point {
    let settings = settings.map(|(name, value)| (name, value.to_string())).into();
    Point { program, settings, runs: 1 }
}

/// How often a report goes over all parts, each time with a share of the runs, and with executables of another layout.
/// Machines that are shared are slower at one time than at another, and so are some programs more than others; and the
/// layout alone makes one program faster and another slower. A ratio is the geometric mean of those of the passes, and
/// its spread is theirs.
pub const PASSES: usize = LAYOUTS.len();

/// Which of so many runs are those of a pass.
pub fn of_pass(runs: usize, pass: usize) -> Range<usize> {
    runs * pass / PASSES..runs * (pass + 1) / PASSES
}

const OURS_AND_PEER: &[(&str, &str)] = &[("boxroot", "peer")];

/// What `OCAMLRUNPARAM` says in turn: `o` is how much the heap may grow before a major cycle, in percent,
/// and `s` the size of the minor heap, in words.
pub const GRID: [&str; 9] = [
    "o=80,s=64k",
    "o=80,s=256k",
    "o=80,s=1M",
    "o=120,s=64k",
    "o=120,s=256k",
    "o=120,s=1M",
    "o=200,s=64k",
    "o=200,s=256k",
    "o=200,s=1M",
];

pub fn named<'a>(parts: &'a [Part], name: &str) -> Option<&'a Part> {
    parts.iter().find(|part| part.name == name)
}

/// All parts, with their implementations. A list that names a part that does not exist is an error.
pub fn all(quick: bool) -> Result<Vec<Part>> {
    let mut parts = without_implementations(quick);
    for implementation in list::read()? {
        for name in implementation.parts {
            let part = parts.iter_mut().find(|part| part.name == name);
            let part = part.ok_or_else(|| {
                format!("list.toml: {} is in {name}, which is no part", implementation.name)
            })?;
            part.implementations.push(implementation.name.clone());
        }
    }
    Ok(parts)
}

fn without_implementations(quick: bool) -> Vec<Part> {
    // The size of a single run, or a small one.
    let size = |full: usize| if quick { full / 50 } else { full };
    let n = |full: usize| if quick { full - 3 } else { full };
    let times = |full: usize| if quick { 2 } else { full };

    let perm_count = |full: usize, choice: &str| {
        let mut point = point("perm_count", [("N", n(full))]);
        point.settings.push(("CHOICE", choice.to_string()));
        point
    };
    let globroots = |full: usize| point("globroots", [("SIZE", size(full))]);
    let programs = |globroots: Point| {
        vec![
            perm_count(10, "persistent"),
            perm_count(10, "ephemeral"),
            point("synthetic", [("N", n(6))]),
            globroots,
        ]
    };
    let par_perm_count = |doms| point("par_perm_count", [("DOMS", doms), ("N", n(9))]);
    let prodcons = |doms| point("prodcons", [("DOMS", doms), ("SIZE", size(5_000_000))]);
    let chains = [1, 2, 3, 5, 7, 10, 30, 100, 300, 1000];
    let chains = || chains.map(|n| point("local_roots", [("N", n), ("SIZE", size(10_000_000))]));
    let roots = [10_000, 100_000, 1_000_000, 10_000_000].map(size);
    let doms = [1, 2, 4];
    let micro = |program| {
        let full = match program {
            "pair" => 10_000_000,
            "batch" | "get" | "modify_young" | "modify_old" => 10_000,
            _ => 1_000_000,
        };
        point(program, [("SIZE", size(full))])
    };
    let time = &["seconds", "creates", "minor_collections", "major_collections", "peak_resident"];
    vec![
        Part {
            name: "grid",
            title: "Over a grid of settings of the collector",
            figures: &["user_seconds", "major_collections"],
            points: programs(globroots(100_000).with_runs(3))
                .into_iter()
                .chain([par_perm_count(2).with_runs(2)])
                .chain(doms.map(|doms| prodcons(doms).with_runs(3)))
                .collect(),
            compared: &[("boxroot", "peer"), ("boxroot", "ocaml"), ("boxroot", "calls")],
            over_the_grid: true,
            fastest: true,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "programs",
            title: "Programs that use global roots",
            figures: time,
            points: programs(globroots(500_000)),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "program_instructions",
            title: "Instructions of whole programs",
            figures: &["instructions"],
            points: vec![
                perm_count(9, "persistent"),
                perm_count(9, "ephemeral"),
                point("synthetic", [("N", n(6))]),
                globroots(100_000),
                point("prodcons", [("DOMS", 1), ("SIZE", size(1_000_000))]),
                point("mark_and_delete_old", [("SIZE", size(100_000))]),
            ],
            compared: OURS_AND_PEER,
            counted: Some(Counted::Program),
            ..Part::default()
        },
        Part {
            name: "loop_instructions",
            title: "Instructions of a million single operations",
            figures: &["instructions"],
            points: vec![
                point("pair", [("SIZE", size(1_000_000))]),
                point("batch", [("SIZE", size(1_000))]),
                point("get", [("SIZE", size(1_000))]),
                point("modify_young", [("SIZE", size(1_000))]),
                point("modify_old", [("SIZE", size(1_000))]),
                point("delete_old", [("SIZE", size(1_000_000))]),
                point("delete_shuffled", [("SIZE", size(1_000_000))]),
                point("delete_old_marking", [("SIZE", size(1_000_000))]),
            ],
            compared: OURS_AND_PEER,
            counted: Some(Counted::Loop),
            ..Part::default()
        },
        Part {
            name: "local_roots",
            title: "Local roots",
            figures: &["ns_per_call"],
            points: chains().into(),
            fastest: true,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "checks",
            title: "Local roots: the price of checks for threads, and of Rust",
            figures: &["ns_per_call"],
            points: chains().into(),
            one_executable: true,
            fastest: true,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "program_checks",
            title: "Programs that use global roots: the price of checks for threads",
            figures: &["seconds"],
            points: programs(globroots(500_000)),
            one_executable: true,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "micro",
            title: "Single operations",
            figures: &["ns_per_operation"],
            points: vec![
                micro("pair"),
                micro("batch"),
                micro("get"),
                micro("modify_young"),
                micro("modify_old"),
                micro("delete_old"),
                micro("delete_shuffled"),
                micro("delete_old_marking"),
                micro("mark_and_delete_old"),
            ],
            compared: OURS_AND_PEER,
            fastest: true,
            times: times(16),
            ..Part::default()
        },
        Part {
            name: "levels",
            title: "Single operations, by level of the interface",
            figures: &["ns_per_operation"],
            points: ["pair", "batch", "get", "modify_young", "delete_shuffled"].map(micro).into(),
            one_executable: true,
            fastest: true,
            times: times(16),
            ..Part::default()
        },
        Part {
            name: "batches",
            title: "Batches of a thousand roots: one by one, under a token, and in one call",
            figures: &["ns_per_operation"],
            points: vec![micro("batch")],
            compared: &[("unsafe", "peer"), ("bulk", "peer")],
            fastest: true,
            times: times(16),
            ..Part::default()
        },
        Part {
            name: "rust",
            title: "Single operations from Rust",
            figures: &["ns_per_operation"],
            points: ["pair", "batch"].map(micro).into(),
            compared: &[
                ("rust_raw", "peer_rust_raw"),
                ("rust_token", "peer_rust_raw"),
                ("rust_drop", "peer_rust_raw"),
            ],
            fastest: true,
            times: times(16),
            ..Part::default()
        },
        Part {
            name: "attach",
            title: "Taking the lock of a thread that OCaml knows, and releasing it",
            figures: &["seconds"],
            points: vec![point("attach", [("SIZE", size(10_000_000))])],
            compared: &[("rust_token", "runtime")],
            one_executable: true,
            fastest: true,
            times: times(16),
            ..Part::default()
        },
        Part {
            name: "delete_pause",
            title: "Pauses after many deletes while the collector marks",
            figures: &["longest_major_hook", "longest_minor"],
            points: vec![point("delete_pause", [("SIZE", size(10_000_000))])],
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "pause",
            title: "Pauses with many live roots",
            figures: &["longest_pause", "longest_major_hook", "longest_minor", "ten_majors"],
            // The longest of some microseconds is one of a few values, by where memory happens to be; few runs, or few
            // cycles, draw another median each time.
            points: roots
                .map(|n| {
                    let (cycles, runs) = if n < 1_000_000 { (20, 10) } else { (2, 1) };
                    point("pause", [("SIZE", n), ("CYCLES", cycles)]).with_runs(runs)
                })
                .into(),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "cache",
            title: "A cache that lives long: pauses while it changes",
            figures: &[
                "longest_pause",
                "longest_major_hook",
                "ns_per_step",
                "major_collections",
                "peak_resident",
            ],
            points: vec![point("cache", [("SIZE", size(10_000_000))])],
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "churn",
            title: "Roots that live long and are replaced: what piles up",
            figures: &[
                "peak_resident",
                "user_ns_per_step",
                "minors_per_cycle",
                "longest_pause",
                "longest",
            ],
            // A cycle of the many takes as long as all sixty of the few.
            points: [(10_000, 60), (200_000, 60), (3_000_000, 12)]
                .map(|(n, cycles)| point("churn", [("SIZE", size(n)), ("CYCLES", cycles)]))
                .into(),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "server",
            title: "The shape of a server: how long a task takes",
            figures: &[
                "seconds",
                "p50",
                "p90",
                "p99",
                "p99.9",
                "p99.99",
                "longest",
                "peak_resident",
            ],
            points: [1, 2, 4]
                .map(|w| point("server", [("WORKERS", w), ("SIZE", size(1_000_000))]).with_runs(4))
                .into(),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "memory",
            title: "Memory of many live roots",
            figures: &["bytes_per_root", "kept", "growth_after_refill"],
            points: roots.map(|n| point("memory", [("SIZE", n)])).into(),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "pools",
            title: "Pools of ours",
            figures: &["pools"],
            points: roots[..3].iter().map(|&n| point("memory", [("SIZE", n)])).collect(),
            one_executable: true,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "domains",
            title: "Several domains",
            figures: &["seconds", "creates", "peak_resident"],
            points: doms.map(par_perm_count).into_iter().chain(doms.map(prodcons)).collect(),
            compared: OURS_AND_PEER,
            times: times(4),
            ..Part::default()
        },
        Part {
            name: "lockless",
            title: "Deletes from threads that never hold a lock",
            figures: &["seconds", "creates", "peak_resident"],
            points: doms
                .map(|t| point("lockless", [("THREADS", t), ("SIZE", size(10_000_000))]))
                .into(),
            compared: OURS_AND_PEER,
            times: times(20), // threads that race crash in few runs, if they do
            ..Part::default()
        },
    ]
}
