//! `cargo bench`: every program on every implementation, under criterion.
//!
//! ```text
//! cargo bench                            # everything, which takes long
//! cargo bench -- perm_count/boxroot      # a filter
//! N=8 cargo bench -- perm_count          # parameters, see docs/benchmarks/README.md
//! ```
//!
//! Each measurement is a process of its own, which says how long it took.

mod harness;

use criterion::{Criterion, SamplingMode};
use harness::{Settings, Suite};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The figures that may be what a program is about; the first it has counts.
const FIGURES: [&str; 4] = ["seconds", "longest_pause", "longest_minor", "ten_majors"];

/// What is not about time: the test, and memory.
const NOT_TIMED: [&str; 2] = ["check", "memory"];

/// Sizes that replace the programs' own, which are for single runs.
const SIZES: [(&str, &str); 12] = [
    ("local_roots", "10000000"),
    ("pair", "10000000"),
    ("batch", "10000"),
    ("get", "10000"),
    ("modify_young", "10000"),
    ("modify_old", "10000"),
    ("pause", "1000000"),
    ("delete_pause", "1000000"),
    ("delete_old", "1000000"),
    ("delete_shuffled", "1000000"),
    ("delete_old_marking", "1000000"),
    ("mark_and_delete_old", "1000000"),
];

fn main() -> ExitCode {
    match Suite::build(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(suite) => {
            bench(&suite);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(suite: &Suite) {
    let mut criterion = Criterion::default().configure_from_args();
    for program in suite.programs().filter(|p| !NOT_TIMED.contains(p)) {
        let mut settings = Vec::new();
        let size = SIZES.iter().find(|s| s.0 == program);
        if let (Some((_, size)), Err(_)) = (size, std::env::var("SIZE")) {
            settings.push(("SIZE", size.to_string()));
        }
        let mut group = criterion.benchmark_group(program);
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(1));
        for implementation in suite.implementations(program) {
            group.bench_function(implementation, |bencher| {
                bencher.iter_custom(|times| {
                    (0..times).map(|_| time(suite, program, implementation, &settings)).sum()
                })
            });
        }
        group.finish();
    }
    criterion.final_summary();
}

fn time(suite: &Suite, program: &str, implementation: &str, settings: &Settings) -> Duration {
    match suite.run(program, implementation, settings) {
        Ok(figures) => {
            let seconds = FIGURES.iter().find_map(|name| figures.get(*name));
            Duration::from_secs_f64(*seconds.expect("a program prints one of its figures"))
        }
        Err(error) => {
            eprintln!("bench: {error}");
            std::process::exit(1)
        }
    }
}
