//! OCaml and Rust threads, and roots that are used or dropped without the lock.

use crate::{call, check_numbered, library, minor, numbered, stress};
use ocaml::{Int, Runtime, Value};
use std::ffi::c_int;
use std::thread;

extern "C" {
    fn caml_c_thread_register() -> c_int;
    fn caml_c_thread_unregister() -> c_int;
}

/// Releases the lock for a while.
fn without_lock<R>(f: impl FnOnce() -> R) -> R {
    ocaml::runtime::enter_blocking_section();
    let result = f();
    ocaml::runtime::leave_blocking_section();
    result
}

/// Rounds of creating, cloning and dropping. The lock is released in between.
fn work(gc: &Runtime, id: usize) {
    let mut old: Vec<Value> = Vec::new();
    for round in 0..10 {
        let first = 1_000_000 * id + 1000 * round;
        let roots = numbered(gc, first, 500);
        let dropped = numbered(gc, 0, 500);
        without_lock(|| {
            drop(dropped);
            thread::yield_now();
        });
        minor(gc);
        check_numbered(&roots, first);
        old.push(roots[499].clone());
    }
    for (round, root) in old.iter().enumerate() {
        check_numbered(std::slice::from_ref(root), 1_000_000 * id + 1000 * round + 499);
    }
}

/// Returns its argument on success.
#[ocaml::func(gc)]
pub fn rust_work(id: Int) -> Int {
    work(gc, id as usize);
    id
}

pub fn of_ocaml(gc: &Runtime) {
    let kept = numbered(gc, 0, 1000);
    assert_eq!(call!(in_threads(gc, 8)).expect("no exception"), 28);
    check_numbered(&kept, 0);
}

/// Threads that this test registers with OCaml, because the crate has no functions for it.
pub fn of_rust(_: &Runtime) {
    let start = |id| {
        thread::spawn(move || {
            // SAFETY: the runtime is running, and does not know this thread.
            assert_eq!(unsafe { caml_c_thread_register() }, 1);
            ocaml::runtime::leave_blocking_section();
            let gc = ocaml::init();
            work(&gc, id);
            let roots = numbered(&gc, 0, 1000);
            stress(&gc);
            check_numbered(&roots, 0);
            drop(gc);
            ocaml::runtime::enter_blocking_section();
            // SAFETY: the thread is registered and does not hold the lock.
            unsafe { caml_c_thread_unregister() };
            // The roots are dropped here, by a thread that is no longer registered.
        })
    };
    without_lock(|| {
        let threads: Vec<_> = (0..6).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

struct Roots(#[allow(dead_code)] Vec<Value>); // only dropped

// SAFETY: the other thread only drops them, which needs no lock.
unsafe impl Send for Roots {}

/// Dropping needs no lock. Creating needs it, and the crate can tell why it failed.
pub fn without_the_lock(gc: &Runtime) {
    let before = library::live_roots();
    let roots = numbered(gc, 0, 20_000);
    let create = || {
        // SAFETY: creating a root from an immediate value fails cleanly without the lock.
        drop(unsafe { Value::new(ocaml::sys::UNIT) });
    };
    let roots = Roots(roots);
    let outcome = without_lock(|| {
        thread::spawn(move || drop(roots)).join().expect("no panic");
        thread::spawn(create).join()
    });
    let panic = outcome.expect_err("a panic");
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains("without holding the domain lock"), "{text}");
    stress(gc);
    assert_eq!(library::live_roots(), before);
}
