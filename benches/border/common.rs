//! Code that the three programs share: samples, checks, and the command line.

use std::process::ExitCode;

/// The number of elements of long lists and arrays.
pub const MANY: usize = 1000;
pub const MEBIBYTE: usize = 1 << 20;
/// The first word of `MMMM…`.
pub const MMMM: isize = isize::from_ne_bytes([b'm'; size_of::<isize>()]);
pub const TEXT: &str = "a short text";
/// The message of failures. Panics with this message are part of the measure, and are not printed.
pub const REFUSED: &str = "refused";

/// A name, and a function that runs the measure a number of times. It panics if a result is wrong.
pub type Measure = (&'static str, fn(usize));

/// A table of measures. Each is run with the argument that `$enter` provides and a number; the last
/// one with only a number.
macro_rules! measures {
    ($enter:ident |$context:ident, $n:ident| { $($name:ident: $run:expr,)* } $($alone:ident)?) => {
        &[$((stringify!($name), |$n| $enter(|$context| $run)),)* $((stringify!($alone), $alone))?]
    };
}

/// Items and shapes, of types with these names, that equal those in `border.ml`.
macro_rules! samples {
    () => {
        fn item(i: usize) -> Item {
            Item { id: i as _, name: format!("item {i}"), price: i as f64 / 2.0, known: i % 2 == 1 }
        }

        fn items() -> Vec<Item> {
            (0..common::MANY).map(item).collect()
        }

        fn shapes() -> [Shape; 4] {
            use Shape::{Circle, Empty, Named, Rectangle};
            [Empty, Circle(1.5), Rectangle(2, 3), Named("heptagon".to_string())]
        }
    };
}
pub(crate) use {measures, samples};

/// `PROGRAM MEASURE N` runs a measure N times; `PROGRAM --list` lists the measures.
pub fn main(measures: &[Measure]) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        if panic.payload().downcast_ref() != Some(&REFUSED) {
            eprintln!("{panic}");
        }
    }));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => measures.iter().for_each(|(name, _)| println!("{name}")),
        [name, n] => match (measures.iter().find(|measure| measure.0 == *name), n.parse()) {
            (Some((_, run)), Ok(n)) => run(n),
            _ => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: PROGRAM MEASURE N, or PROGRAM --list, which lists the measures");
    ExitCode::FAILURE
}

/// For calls by OCaml, which catches this panic.
pub fn refuse() -> i64 {
    panic!("refused")
}

pub fn ints<T: TryFrom<usize, Error: std::fmt::Debug>>() -> Vec<T> {
    (0..MANY).map(|i| i.try_into().expect("small")).collect()
}

pub fn floats() -> Vec<f64> {
    (0..MANY).map(|i| i as f64 / 2.0).collect()
}

pub fn mebibyte() -> String {
    "m".repeat(MEBIBYTE)
}

/// An OCaml integer as OCaml represents it.
pub fn tagged(n: usize) -> isize {
    (n as isize) << 1 | 1
}

/// The first word of an OCaml block: a quick check of a result, the same for all crates.
///
/// # Safety
///
/// `block` is an OCaml block that is not empty, and the lock is held.
pub unsafe fn word(block: isize) -> isize {
    // SAFETY: a word of the block, as the caller promises; no other code changes it.
    unsafe { *(block as *const isize) }
}
