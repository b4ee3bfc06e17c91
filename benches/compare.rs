//! `cargo bench`: runs the programs on the implementations of a cell.
//!
//! ```text
//! cargo bench -- perm_count/boxroot         # one program on one implementation, under criterion
//! cargo bench -- perm_count                 # on all, in turn (without a name: for hours)
//! cargo bench -- perm_count/boxroot,peer    # two or more in turn, for a minute (DURATION)
//! cargo bench -- border/call_int            # calls and conversions (benches/border), three crates
//! N=8 cargo bench -- perm_count             # parameters, see docs/benchmarks/README.md
//! ```
//!
//! The filter is the first argument (benches/harness/filter.rs). Options of criterion come after
//! it, as in `cargo bench --bench compare -- perm_count --save-baseline before`. Each measurement
//! is a separate process, which prints how long it took.

mod border;
mod harness;
mod in_turn;

use criterion::{Criterion, SamplingMode};
use harness::filter::{self, choose, Chosen};
use harness::{Result, Suite, LAYOUTS};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The least number of samples of a benchmark, of one run each, and the least time that it takes.
const SAMPLES: u32 = 10;
const AT_LEAST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let filter = std::env::args().nth(1).filter(|first| !first.starts_with('-'));
    // The filter has already chosen the measures.
    let mut criterion = Criterion::default().configure_from_args().with_filter("");
    if let Some(("border", name)) = filter.as_deref().map(filter::split) {
        border::bench(&mut criterion, root, name)?;
        criterion.final_summary();
        return Ok(());
    }
    let suite = Suite::build(root, LAYOUTS[0])?;
    let all = choose(&suite, filter.as_deref())?;
    if let [chosen @ Chosen { implementations, .. }] = &all[..] {
        if filter.is_some_and(|filter| filter.contains('/')) && implementations.len() > 1 {
            return in_turn::compare(&Suite::build_all(root)?, chosen);
        }
    }
    if all.len() > 1 {
        let benchmarks: usize = all.iter().map(|chosen| chosen.implementations.len()).sum();
        println!("bench: {} programs, {benchmarks} benchmarks, for hours", all.len());
    }
    for chosen in &all {
        bench(&mut criterion, &suite, chosen)?;
    }
    criterion.final_summary();
    Ok(())
}

/// One program on its implementations, one after the other.
fn bench(criterion: &mut Criterion, suite: &Suite, chosen: &Chosen) -> Result<()> {
    let Chosen { program, figure, implementations } = chosen;
    let settings = program.short_settings();
    let time = |implementation: &str| -> Result<Duration> {
        Ok(Duration::from_secs_f64(suite.run(&program.name, implementation, &settings)?[*figure]))
    };
    let mut expected = Vec::new();
    for implementation in implementations {
        let start = Instant::now();
        time(implementation)?;
        // Criterion runs it once more to warm up.
        expected.push((start.elapsed() * (SAMPLES + 1)).max(AT_LEAST));
    }
    println!(
        "bench: {} on {}, about {} s",
        program.name,
        implementations.join(" "),
        expected.iter().sum::<Duration>().as_secs() + 1
    );
    let mut group = criterion.benchmark_group(&program.name);
    group.sample_size(SAMPLES as usize).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(1));
    for (implementation, expected) in implementations.iter().zip(expected) {
        group.measurement_time(expected).bench_function(*implementation, |bencher| {
            let time = || match time(implementation) {
                Ok(time) => time,
                Err(error) => {
                    eprintln!("bench: {error}");
                    std::process::exit(1)
                }
            };
            bencher.iter_custom(|times| (0..times).map(|_| time()).sum())
        });
    }
    group.finish();
    Ok(())
}
