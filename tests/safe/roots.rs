//! Roots: they keep values, and may be dropped anywhere.

use crate::support::exported::HANDED_OVER;
use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::{
    Boxroot, DomainLock, Function, OCamlInt, OCamlString, RootRef, Runtime, StartError, Value,
};
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

test!(sizes, || {
    assert_eq!(size_of::<Boxroot<OCamlInt>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Boxroot<OCamlInt>>>(), size_of::<usize>());
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Boxroot<OCamlString>>();
    send_and_sync::<Boxroot<Function<(OCamlInt,), OCamlInt>>>();
});

test!(roots_survive_collections, || {
    with_ocaml(|lock| {
        let roots = strings(lock, 10_000);
        let scans = stats().minor_scans;
        churn(lock);
        assert!(stats().minor_scans >= scans + 3, "`churn` collects");
        check(lock, &roots);
        assert_eq!(stats().live_roots, 10_000);
        roots.into_iter().for_each(|root| root.delete_in(lock));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(set_and_clone, || {
    with_ocaml(|lock| {
        let mut a = string(lock, "a");
        churn(lock); // `a` is old now
        let b = a.clone_in(lock).unwrap();
        let (c, now) = lock.alloc_string("c").unwrap();
        a.set(now, c);
        churn(lock);
        assert_eq!(
            (a.get(lock).to_string_lossy(), b.get(lock).to_string_lossy()),
            ("c".into(), "a".into())
        );
        let raw = a.into_raw();
        // SAFETY: `into_raw` has just returned this root, and it has this type.
        let a: Boxroot<OCamlString> = unsafe { Boxroot::from_raw(raw) };
        assert_eq!(a.get(lock).to_string_lossy(), "c");
        drop((a, b));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(drop_anywhere, || {
    thread_local! {
        static AT_EXIT: RefCell<Vec<Boxroot<OCamlString>>> = const { RefCell::new(Vec::new()) };
    }
    with_ocaml(|lock| {
        let mut roots = strings(lock, 3000);
        let elsewhere = roots.split_off(2000);
        let in_release = roots.split_off(1000);
        lock.release(|| {
            drop(in_release);
            let in_tls =
                thread::spawn(move || AT_EXIT.with(|at_exit| *at_exit.borrow_mut() = elsewhere));
            in_tls.join().unwrap();
        });
        assert_eq!(stats().live_roots, 1000);
        churn(lock);
        assert_eq!(roots[999].get(lock).to_string_lossy(), "999");
        std::mem::forget(roots.pop());
        drop(roots);
        assert_eq!(stats().live_roots, 1, "forgotten");
    })
});

test!(drop_in_a_finaliser_of_ocaml, || {
    with_ocaml(|lock| {
        *HANDED_OVER.lock().unwrap() = strings(lock, 100);
        through_ocaml(lock, "drop_roots_in_a_finaliser", 0).unwrap();
        assert_eq!(stats().live_roots, 0);
    })
});

test!(forgotten_things, || {
    let root = with_ocaml(|lock| {
        let root = string(lock, "kept");
        std::mem::forget(root.clone_in(lock));
        assert_eq!(root.get(lock).to_string_lossy(), "kept");
        root
    });
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
    drop(root);
    DomainLock::with(|_| assert_eq!(stats().live_roots, 1, "the forgotten one")).unwrap();
});

test!(a_function_that_needs_no_local_roots, || {
    /// Allocates between two uses of its argument, which its caller keeps rooted.
    fn twice(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> String {
        let before = text.get(lock).to_string_lossy();
        churn(lock);
        before + &text.get(lock).to_string_lossy()
    }
    with_ocaml(|lock| {
        let root = string(lock, "ab");
        assert_eq!(twice(lock, &root), "abab");
        assert_eq!(stats().live_roots, 1);
    })
});

test!(a_panic_unwinds_past_roots, || {
    with_ocaml(|lock| {
        fn panic_past(lock: &DomainLock, depth: isize) {
            let root = Boxroot::<OCamlInt>::new(lock, Value::int(depth));
            if depth == 0 {
                panic!("unwinding");
            }
            panic_past(lock, depth - 1);
            drop(root);
        }
        let result = catch_unwind(AssertUnwindSafe(|| panic_past(lock, 100)));
        assert!(result.is_err());
        assert_eq!(stats().live_roots, 0);
    })
});
