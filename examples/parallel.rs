//! Measures pools of OCaml's domains: how much faster two workers are than one, for OCaml code that
//! only computes and for code that allocates (`ocaml/parallel.ml`); how long an empty job takes;
//! and how long a minor collection takes while workers are idle. The pools run in turn, and the
//! best times count.
//!
//! Run it: `cargo run --release --example parallel`

use ocaml_boxroot::{
    ocaml_functions, AttachError, CallError, DomainLock, Domains, OCamlInt, Runtime,
};
use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

ocaml_functions! {
    // SAFETY: these are the types of the functions in parallel.ml.
    unsafe {
        /// `fib : int -> int`
        fn fib(n: OCamlInt as i64) -> OCamlInt as i64 = "parallel.fib";
        /// `allocate : int -> int`
        fn allocate(rounds: OCamlInt as i64) -> OCamlInt as i64 = "parallel.allocate";
        /// `collect : int -> unit` runs this number of minor collections
        fn collect(times: OCamlInt as i64) = "parallel.collect";
    }
}

const TASKS: usize = 16;

/// How long `f` takes.
fn time<R, E>(f: impl FnOnce() -> Result<R, E>) -> Result<Duration, E> {
    let start = Instant::now();
    f()?;
    Ok(start.elapsed())
}

/// The best time of each pool for the work.
fn best_times<const N: usize>(
    pools: [&Domains; N],
    work: impl Fn(&Domains) -> Result<(), CallError>,
) -> Result<[Duration; N], CallError> {
    let mut best = [Duration::MAX; N];
    for _ in 0..9 {
        for (best, pool) in best.iter_mut().zip(pools) {
            *best = time(|| work(pool))?.min(*best);
        }
    }
    Ok(best)
}

/// The time of an empty job, and the time of an answer from a thread on a channel. Both wake a
/// thread, and an idle processor may take long to wake up.
fn empty_jobs(pool: &Domains) -> Result<String, Box<dyn Error>> {
    const TIMES: u32 = 10_000;
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let thread = thread::spawn(move || asked.iter().try_for_each(|()| answer.send(())));
    let mut best = [Duration::MAX; 2];
    for _ in 0..9 {
        let jobs = || (0..TIMES).try_for_each(|_| pool.run(|_lock| Ok::<_, AttachError>(())));
        best[0] = time(jobs)?.min(best[0]);
        let answers = || -> Result<(), Box<dyn Error>> {
            for _ in 0..TIMES {
                ask.send(())?;
                answered.recv()?;
            }
            Ok(())
        };
        best[1] = time(answers)?.min(best[1]);
    }
    drop(ask);
    thread.join().map_err(|_| "a thread panicked")??;
    let [job, answer] = best.map(|all| all.as_secs_f64() * 1e6 / f64::from(TIMES));
    Ok(format!("an empty job takes {job:.1} µs; a round trip on channels between two threads takes {answer:.1} µs"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Runtime::start()?;
    let one = DomainLock::attach(|lock| Domains::new(lock, 1))?;
    let two = DomainLock::attach(|lock| Domains::new(lock, 2))?;

    type Work = fn(&mut DomainLock, i64) -> Result<i64, CallError>;
    let works: [(&str, Work, i64); 2] =
        [("fib", |lock, n| fib(lock, n), 29), ("allocating", |lock, n| allocate(lock, n), 60)];
    let mut report = Vec::new();
    for (name, work, size) in works {
        let expected = DomainLock::attach(|lock| work(lock, size))?;
        let [alone, together] = best_times([&one, &two], |pool| {
            let results = pool.map([size; TASKS], work)?;
            assert_eq!(results, [expected; TASKS]);
            Ok(())
        })?;
        let times = alone.as_secs_f64() / together.as_secs_f64();
        report.push(format!("{name}: {times:.2} times as fast with {} workers", two.workers()));
    }
    report.push(empty_jobs(&one)?);

    one.join()?;
    two.join()?;

    const COLLECTIONS: i64 = 1000;
    for workers in [1, 3, 7, 15] {
        let idle = DomainLock::attach(|lock| Domains::new(lock, workers))?;
        let collect = || DomainLock::attach(|lock| collect(lock, COLLECTIONS));
        let [all] = best_times([&idle], |_| collect())?;
        let each = all.as_secs_f64() * 1e6 / COLLECTIONS as f64;
        report
            .push(format!("a collection with {} idle workers takes {each:.1} µs", idle.workers()));
        idle.join()?;
    }
    runtime.shutdown()?;
    println!("{}", report.join("; "));
    Ok(())
}
