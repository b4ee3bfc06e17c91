//! A random walk over the interface of `ocaml-boxroot`, with the raw one beside it: what
//! `boxroot-c/test/stress` does for the C interface. Actors create, read, change and delete roots of values
//! that they can check, on several threads and domains at once, with collections of every kind in between.
//! `make stress` runs it at length; `tests/programs.rs` runs a short walk.
//!
//! Settings come from the environment, as in `boxroot-c/Makefile`: `SEED`, `OPERATIONS` (calls of the
//! interface), `DOMAINS`, `THREADS` (more, in each domain), `LOCKLESS` (threads), `LIVES` (of threads and
//! domains), `ROOTS` (about how many). `LOSE=1` puts a fault in, which the walk must notice.

mod actor;
mod exported;
mod operations;
mod random;
mod roots;
mod shapes;
mod threads;

use actor::{Actor, CALLS, NOW};
use ocaml_boxroot::{stats, Boxroot, DomainLock, OCamlInt, Runtime, Value};
use roots::{kind, Kind};
use std::sync::atomic::Ordering;
use std::sync::OnceLock;
use std::{env, panic, process, thread};

pub struct Settings {
    pub seed: u64,
    pub operations: u64,
    pub domains: u64,
    pub threads: u64,
    pub lockless: u64,
    pub lives: u64,
    pub roots: u64,
    pub lose: bool,
}

impl Settings {
    pub fn get() -> &'static Settings {
        static SETTINGS: OnceLock<Settings> = OnceLock::new();
        SETTINGS.get_or_init(|| Settings {
            seed: setting("SEED", 1),
            operations: setting("OPERATIONS", 3_000_000),
            domains: setting("DOMAINS", 2).max(1),
            threads: setting("THREADS", 1),
            lockless: setting("LOCKLESS", 2),
            lives: setting("LIVES", 1000),
            roots: setting("ROOTS", 100_000),
            lose: setting("LOSE", 0) != 0,
        })
    }

    pub fn actors(&self) -> u64 {
        self.domains * (1 + self.threads)
    }
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The only function of this program that takes the lock.
pub fn with_lock<R>(f: impl FnOnce(&mut DomainLock) -> R) -> R {
    DomainLock::attach(f).expect("OCaml is running, and this thread does not hold the lock")
}

/// Any panic ends the process. Planned panics do not call this hook, because they are made by `resume_unwind`.
fn abort_at_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let (actor, operation) = NOW.get();
        report(info);
        eprintln!("walk: SEED={}: actor {actor}, {operation}: failed", Settings::get().seed);
        process::abort();
    }));
}

/// Calls a function of walk.ml.
fn ocaml(name: &str, a: u64, b: u64) {
    with_lock(|lock| {
        let [a, b] = [a, b].map(|n| Boxroot::<OCamlInt>::new(lock, Value::int(n as isize)));
        let f = shapes::function::<(OCamlInt, OCamlInt), ()>(lock, name);
        f.call(lock, &a, &b).expect("no exception");
    })
}

/// The whole walk of an actor on a Rust thread.
fn whole_walk(number: u32) {
    let mut actor = with_lock(|lock| Actor::new(number, Settings::get(), lock));
    while !actor.is_done() {
        with_lock(|lock| actor.walk(lock, 200));
    }
    with_lock(|lock| actor.end(lock));
}

/// Runs all actors. Those of the first domain are on Rust threads.
fn walk_all(settings: &Settings) {
    ocaml("walk.start", settings.domains, settings.threads);
    let start = |number| thread::spawn(move || whole_walk(number as u32));
    let threads: Vec<_> = (1..=settings.threads).map(start).collect();
    whole_walk(0);
    // Joining waits for the threads' thread-local destructors: after that they are not registered any more.
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    ocaml("walk.join", 0, 0);
}

/// Finalisers may need several collections.
fn collect_until(live: usize) {
    for _ in 0..100 {
        with_lock(|lock| operations::collect_now(lock, operations::FULL_MAJOR, 0));
        if with_lock(|_| stats().live_roots) == live {
            return;
        }
    }
    panic!("there are {live} roots, but the statistics say: {}", stats());
}

/// Drops all roots except some, which are returned for later.
fn end_well() -> Vec<roots::Entry> {
    let mut rest = threads::receive(usize::MAX);
    with_lock(|lock| rest.iter().for_each(|entry| entry.check(lock)));
    let mut later = rest.split_off(rest.len().saturating_sub(500));
    drop(rest);
    later.retain(|entry| kind(entry.id) != Kind::Held); // these hold roots themselves
    ocaml("walk.forget", 0, 0);
    collect_until(later.len());
    with_lock(|lock| later.iter().for_each(|entry| entry.check(lock)));
    with_lock(|_| operations::validate());
    later
}

fn main() {
    abort_at_panics();
    let settings = Settings::get();
    let runtime = Runtime::start().expect("OCaml starts");
    let lockless = threads::start_lockless(settings.seed, settings.lockless as usize);
    walk_all(settings);
    threads::end_lockless();
    lockless.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut later = end_well();
    println!("{}", stats());
    runtime.shutdown().expect("nobody uses it");
    // Roots may be dropped after that, on any thread.
    let elsewhere = later.split_off(later.len() / 2);
    drop(later);
    thread::spawn(move || drop(elsewhere)).join().expect("no panic");
    println!("walk: SEED={}: passed, {} calls", settings.seed, CALLS.load(Ordering::Relaxed));
}
