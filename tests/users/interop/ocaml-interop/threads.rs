//! OCaml and Rust threads, domains, and roots that are used or dropped without the lock.

use crate::{call_int, check_numbered, library, minor, numbered, ocaml_side, stress};
use ocaml_interop::{BoxRoot, DynBox, OCaml, OCamlInt, OCamlRuntime, ToOCaml};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::panic::catch_unwind;
use std::thread;

/// Rounds of creating, keeping and dropping. The lock is released in between.
fn work(cr: &mut OCamlRuntime, id: usize) {
    let mut old: Vec<BoxRoot<String>> = Vec::new();
    for round in 0..10 {
        let first = 1_000_000 * id + 1000 * round;
        let mut roots = numbered(cr, first, 500);
        let dropped = numbered(cr, 0, 500);
        cr.releasing_runtime(|| {
            drop(dropped);
            thread::yield_now();
        });
        minor(cr);
        check_numbered(cr, &roots, first);
        if let Some(root) = roots.pop() {
            old.push(root);
        }
    }
    for (round, root) in old.iter().enumerate() {
        let n = 1_000_000 * id + 1000 * round + 499;
        assert_eq!(root.to_rust::<String>(cr), n.to_string());
    }
}

/// Returns its argument on success. A panic becomes an OCaml exception.
#[ocaml_interop::export]
fn rust_work(cr: &mut OCamlRuntime, id: OCaml<OCamlInt>) -> OCaml<OCamlInt> {
    let id = id.to_i64();
    work(cr, id as usize);
    id.to_ocaml(cr)
}

pub fn of_ocaml(cr: &mut OCamlRuntime) {
    let kept = numbered(cr, 0, 1000);
    assert_eq!(call_int(cr, ocaml_side::in_threads, 8), 28);
    check_numbered(cr, &kept, 0);
    assert_eq!(call_int(cr, ocaml_side::in_domains, 3), 3);
    check_numbered(cr, &kept, 0);
}

#[ocaml_interop::export]
fn rust_box(cr: &mut OCamlRuntime, string: BoxRoot<String>) -> OCaml<DynBox<BoxRoot<String>>> {
    OCaml::box_value(cr, string)
}

#[ocaml_interop::export]
fn rust_unbox(cr: &mut OCamlRuntime, boxed: OCaml<DynBox<BoxRoot<String>>>) -> OCaml<String> {
    let root: &BoxRoot<String> = boxed.borrow();
    root.get(cr)
}

/// OCaml owns Rust values that own roots. So the collector drops roots, even those of a domain that
/// has ended. A drop-in replacement need not support roots of ended domains: with the published
/// crate, this often crashes on OCaml 5.3.0.
pub fn finalisers(cr: &mut OCamlRuntime) {
    assert!(ocaml_side::boxes(cr, &OCaml::of_i32(1000)).to_rust::<bool>(cr));
}

thread_local! {
    static UNTIL_THE_END: RefCell<Vec<BoxRoot<String>>> = const { RefCell::new(Vec::new()) };
}

/// Threads that OCaml does not know until they ask for the lock.
pub fn of_rust() {
    let start = |id| {
        thread::spawn(move || {
            let roots = OCamlRuntime::with_domain_lock(|cr| {
                work(cr, id);
                // These are dropped when the thread ends, before or after it is unregistered with
                // OCaml.
                let roots = numbered(cr, 0, 100);
                UNTIL_THE_END.with(|kept| kept.replace(roots));
                numbered(cr, 0, 1000)
            });
            // In between, other threads collect garbage.
            OCamlRuntime::with_domain_lock(|cr| {
                stress(cr);
                check_numbered(cr, &roots, 0);
            });
            // Dropped here, without the lock.
        })
    };
    let threads: Vec<_> = (0..6).map(start).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    OCamlRuntime::with_domain_lock(|cr| {
        stress(cr);
        assert_eq!(library::live_roots(), 0);
    });
}

/// Dropping needs no lock. Creating needs it, and its error says so.
pub fn without_the_lock() {
    let roots = OCamlRuntime::with_domain_lock(|cr| numbered(cr, 0, 20_000));
    drop(roots);
    let create = || {
        let panic = catch_unwind(|| drop(BoxRoot::new(OCaml::unit()))).expect_err("a panic");
        let text = panic.downcast_ref::<String>().expect("a message").clone();
        assert!(text.contains("boxroot_error_string"), "{text}");
    };
    create();
    thread::spawn(create).join().expect("no other panic");
    OCamlRuntime::with_domain_lock(|cr| {
        stress(cr);
        assert_eq!(library::live_roots(), 0);
    });
}
