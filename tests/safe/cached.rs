//! Roots of constants.

#[cfg(unix)]
use crate::support::process::in_a_child;
use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::markers::OCamlRef;
use ocaml_boxroot::{
    cached_root, ConversionError, ConversionErrorKind, DomainLock, OCamlInt, OCamlString, RootRef,
    ToOCaml,
};
use std::error::Error;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

/// A name that the macro must not use by mistake.
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

/// The number of threads that made the root.
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

fn nested(
    lock: &mut DomainLock,
    depth: usize,
) -> Result<&'static RootRef<OCamlInt>, ConversionError> {
    cached_root!(lock, OCamlInt, |lock| {
        if depth > 0 {
            assert_eq!(nested(lock, depth - 1)?.to_rust::<usize>(lock)?, 0);
        }
        depth.to_ocaml(lock)
    })
}

fn panics(
    lock: &mut DomainLock,
    panics: bool,
) -> Result<&'static RootRef<OCamlString>, ConversionError> {
    cached_root!(lock, OCamlString, |lock| {
        let root = "made".to_ocaml(lock);
        assert!(!panics, "in the initialiser");
        root
    })
}

// The initialiser itself makes the same root, and the first root stays. After a panic, the next
// call makes the root, even on another thread.
test!(cached_roots_made_in_the_way, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let root = nested(lock, 3).unwrap();
        assert_eq!((root.to_rust(lock), stats().live_roots), (Ok(0), 1));
        std::panic::set_hook(Box::new(|_| ()));
        let other = || DomainLock::attach(|lock| panics(lock, true)).map(drop);
        assert!(lock.release(|| thread::spawn(other).join()).is_err());
        let here = AssertUnwindSafe(|| panics(lock, true).map(drop));
        assert!(catch_unwind(here).is_err());
        let _ = std::panic::take_hook();
        assert_eq!(stats().live_roots, 1);
        full_major(lock);
        assert_eq!(panics(lock, false).unwrap().get(lock).to_string_lossy(), "made");
        assert_eq!(stats().live_roots, 2);
    });
});

// OCaml code that the initialiser calls first ends with an exception, and then makes the root in a
// callback.
test!(cached_roots_made_by_ocaml, forbid(unsafe_code), || {
    fn number(lock: &mut DomainLock, n: isize) -> Result<isize, Box<dyn Error>> {
        let root = cached_root!(lock, OCamlInt, |lock| {
            ocaml(lock, "run", n, |lock, n| match n.to_rust::<isize>(lock)? {
                0 => Err("refused".into()),
                1 => number(lock, 2).map(drop),
                _ => Ok(()),
            })?;
            n.to_ocaml(lock).map_err(Box::<dyn Error>::from)
        })?;
        Ok(root.to_rust(lock)?)
    }
    with_ocaml(|lock| {
        assert!(number(lock, 0).unwrap_err().to_string().contains("refused"));
        assert_eq!(number(lock, 1).unwrap(), 2);
        assert_eq!(number(lock, 7).unwrap(), 2);
        assert_eq!(stats().live_roots, 1);
    });
});

// The child of a fork has the root, and makes the roots that it lacks.
#[cfg(unix)]
test!(cached_roots_in_a_child, || {
    with_ocaml(|lock| {
        let before = text(lock).unwrap();
        in_a_child(|| {
            assert!(std::ptr::eq(before, text(lock).unwrap()));
            full_major(lock);
            assert_eq!(before.get(lock).to_string_lossy(), "ours");
            assert_eq!(nested(lock, 1).unwrap().to_rust(lock), Ok(0));
        });
        assert_eq!(stats().live_roots, 1);
    });
});

// The roots still exist after the shutdown, but are never read.
test!(cached_roots_after_shutdown, forbid(unsafe_code), || {
    let runtime = start();
    DomainLock::attach(text).unwrap();
    runtime.shutdown().unwrap();
    assert!(DomainLock::attach(text).is_err());
});
