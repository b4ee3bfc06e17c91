//! Roots of constants.

use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::markers::OCamlRef;
use ocaml_boxroot::{
    cached_root, ConversionError, ConversionErrorKind, DomainLock, OCamlInt, OCamlString, RootRef,
    ToOCaml,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

/// What the macro must not take for its own.
const VALUE: &str = "ours";

fn text(lock: &mut DomainLock) -> Result<&'static RootRef<OCamlString>, ConversionError> {
    cached_root!(lock, VALUE)
}

test!(cached_roots, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let first = text(lock).unwrap();
        churn(lock);
        assert!(std::ptr::eq(first, text(lock).unwrap()));
        assert_eq!(first.get(lock).to_string_lossy(), "ours");
        let other = cached_root!(lock, VALUE).unwrap();
        assert!(!std::ptr::eq(first, other), "each place has its own");
        let mut tries = 0;
        for _ in 0..3 {
            let made = cached_root!(lock, OCamlRef<OCamlInt>, |lock| {
                tries += 1;
                match tries {
                    1 => Err(ConversionError::from(ConversionErrorKind::OutOfRange)),
                    _ => OCamlRef::new(lock, tries),
                }
            });
            assert_eq!(made.is_ok(), tries > 1);
        }
        assert_eq!((tries, stats().live_roots), (2, 3));
    });
});

/// How many threads made the root.
static MADE: AtomicUsize = AtomicUsize::new(0);

static MEETING: Barrier = Barrier::new(4);

fn contended(lock: &mut DomainLock) -> Result<&'static RootRef<OCamlString>, ConversionError> {
    cached_root!(lock, OCamlString, |lock| {
        MADE.fetch_add(1, Ordering::SeqCst);
        lock.release(|| MEETING.wait());
        "contended".to_ocaml(lock)
    })
}

test!(cached_roots_made_at_once, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let roots = lock.release(|| {
            let get = || DomainLock::attach(contended).unwrap();
            thread::scope(|scope| {
                [(); 4].map(|()| scope.spawn(get)).map(|thread| thread.join().unwrap())
            })
        });
        assert!(roots.iter().all(|root| std::ptr::eq(*root, roots[0])));
        full_major(lock);
        assert_eq!(roots[3].get(lock).to_string_lossy(), "contended");
        assert_eq!((MADE.load(Ordering::SeqCst), stats().live_roots), (4, 1));
    });
});
