//! The process, or the runtime's handle, ends while threads use OCaml. (Rows 43, 44 and 45 of the table of
//! situations.)

use crate::common::exported::{churn, with_ocaml};
use crate::ocaml;
use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlString, Runtime, ToOCaml};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::{process, thread};

type Strings = Vec<Boxroot<OCamlString>>;

thread_local! {
    static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
}

fn strings(lock: &mut DomainLock, n: usize) -> Strings {
    (0..n).map(|i| i.to_string().to_ocaml(lock).unwrap()).collect()
}

/// Attaches again and again, as long as `go_on` returns true.
fn work(go_on: impl Fn(usize) -> bool) {
    for n in 0.. {
        if !go_on(n) {
            break;
        }
        DomainLock::attach(|lock| drop(strings(lock, 100))).unwrap();
    }
}

pub fn a_worker_exits_while_another_thread_holds_the_lock() {
    Runtime::start().unwrap();
    let (registered, is_registered) = mpsc::channel();
    let (held, is_held) = mpsc::channel();
    let worker = thread::spawn(move || {
        ROOTS.set(DomainLock::attach(|lock| strings(lock, 1000)).unwrap());
        registered.send(()).unwrap();
        is_held.recv().unwrap();
        process::exit(0);
    });
    is_registered.recv().unwrap();
    DomainLock::attach(|_| {
        held.send(()).unwrap();
        worker.join().unwrap();
    })
    .unwrap();
}

pub fn main_ends_while_workers_use_ocaml() {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    Runtime::start().unwrap();
    for _ in 0..4 {
        thread::spawn(|| {
            work(|n| {
                STARTED.fetch_add(usize::from(n == 1), Ordering::SeqCst);
                true
            })
        });
    }
    while STARTED.load(Ordering::SeqCst) < 4 {
        thread::yield_now();
    }
}

pub fn the_handle_is_dropped_while_workers_use_ocaml() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let runtime = Box::new(Runtime::start().unwrap());
    let worker = || thread::spawn(|| work(|n| n < 10 || !STOP.load(Ordering::SeqCst)));
    let workers = [(); 4].map(|()| worker());
    drop(runtime);
    STOP.store(true, Ordering::SeqCst);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    DomainLock::attach(churn).unwrap();
}

pub fn the_handle_is_lost_by_an_error_in_a_scope() {
    fn fails() -> Result<(), Box<dyn std::error::Error>> {
        let runtime = Runtime::start()?;
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| work(|n| n < 20));
            }
            let _number: usize = "none".parse()?;
            Ok::<(), std::num::ParseIntError>(())
        })?;
        runtime.shutdown()?;
        Ok(())
    }
    fails().unwrap_err();
    DomainLock::attach(churn).unwrap();
}

/// Attaches when it is dropped, and drops a root.
struct Last(#[allow(dead_code)] Option<Boxroot<OCamlString>>);

impl Drop for Last {
    fn drop(&mut self) {
        assert_eq!(DomainLock::attach(churn), Err(Error::AlreadyHeld));
    }
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last(None)) };
}

pub fn exit_of_ocaml_with_cleanup() {
    with_ocaml(|lock| {
        ROOTS.set(strings(lock, 100_000));
        LAST.set(Last(strings(lock, 1).pop()));
        churn(lock);
        ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap()
    });
}

pub fn exit_of_ocaml_with_cleanup_while_threads_drop() {
    let (ready, is_ready) = mpsc::channel();
    with_ocaml(|lock| {
        for _ in 0..4 {
            let mut roots = strings(lock, 100_000);
            let ready = ready.clone();
            thread::spawn(move || {
                roots.truncate(90_000);
                ready.send(()).unwrap();
                roots.clear();
                ROOTS.set(roots);
                DomainLock::attach(|_| unreachable!("the process ends under the lock")).unwrap()
            });
        }
        (0..4).for_each(|_| is_ready.recv().unwrap());
        ROOTS.set(strings(lock, 100_000));
        ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap()
    });
}

pub fn shutdown_with_cleanup() {
    static RAN: AtomicBool = AtomicBool::new(false);
    let runtime = Runtime::start().unwrap();
    ROOTS.set(DomainLock::attach(|lock| strings(lock, 10_000)).unwrap());
    let at_exit = |lock: &mut DomainLock| {
        ocaml(lock, "run_at_exit", 0, |_, _| {
            RAN.store(true, Ordering::SeqCst);
            Ok(())
        })
        .unwrap()
    };
    DomainLock::attach(at_exit).unwrap();
    // Memory of the runtime, as domains that have just ended use it: it must not be freed under them.
    // SAFETY: the name is a C string, and no other thread uses OCaml 4's table of names.
    let cell = unsafe { ocaml_sys::caml_named_value(c"run_at_exit".as_ptr()) };
    // SAFETY: the cell lives as long as the runtime.
    let before = unsafe { *cell };
    runtime.shutdown().unwrap();
    // SAFETY: shutting down leaves the cell alone, as this test checks.
    assert_eq!(unsafe { *cell }, before);
    assert!(RAN.load(Ordering::SeqCst));
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
}
