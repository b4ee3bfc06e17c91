//! Code that `cargo bench` and `make report` share.
#![allow(dead_code, unused_imports)] // each of them needs only a part

pub mod filter;
pub mod list;
pub mod statistics;
mod suite;

pub use suite::{Crash, Program, Suite};

use std::collections::BTreeMap;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The figures of one run: times in seconds, sizes in bytes, counts.
pub type Figures = BTreeMap<String, f64>;

/// Environment variables that a program reads.
pub type Settings<'a> = [(&'a str, String)];

/// Figures that are counts, not measurements.
pub const COUNTS: [&str; 4] = ["creates", "pools", "minor_collections", "major_collections"];

/// The numbers of bytes by which the code of an executable is shifted. Functions begin at multiples
/// of 16 bytes, and processors fetch lines of 64 bytes. So the same loop may take a tenth longer at
/// one address than at another. These are all the possible positions in a line.
pub const LAYOUTS: [usize; 4] = [0, 16, 32, 48];

/// The environment variable that the points of the grid set.
pub const GRID_SETTING: &str = "OCAMLRUNPARAM";

/// Its values: `o` is how much the heap may grow before a major cycle, in percent, and `s` is the
/// size of the minor heap, in words. Under a single setting, the time of a program with some
/// fifteen major cycles changes by a tenth or more if it happens to run one more.
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
