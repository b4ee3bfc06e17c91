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
use harness::{Suite, LAYOUTS};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    match Suite::build(Path::new(env!("CARGO_MANIFEST_DIR")), LAYOUTS[0]) {
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
    for program in suite.programs() {
        let Some(figure) = &program.about else { continue };
        let mut settings = Vec::new();
        if let (Some(size), Err(_)) = (&program.short, std::env::var("SIZE")) {
            settings.push(("SIZE", size.clone()));
        }
        let name = program.name.as_str();
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(1));
        for implementation in suite.implementations(name) {
            let time = || match suite.run(name, implementation, &settings) {
                Ok(figures) => Duration::from_secs_f64(figures[figure]),
                Err(error) => {
                    eprintln!("bench: {error}");
                    std::process::exit(1)
                }
            };
            group.bench_function(implementation, |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| time()).sum())
            });
        }
        group.finish();
    }
    criterion.final_summary();
}
