//! The code that may get a token, and the code that may not.

use crate::support::exported::Run;
use crate::support::raw;
use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    AttachError, Boxroot, CallError, ConversionError, DomainLock, Error, OCamlInt, Runtime,
    StartError, ToOCaml, Value,
};
use ocaml_boxroot_sys as sys;
use ocaml_boxroot_sys::uses;
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

// `attach` returns the error of its closure, or its own error in the same type.
test!(errors_of_attach, forbid(unsafe_code), || {
    fn parse(text: &str) -> Result<isize, Box<dyn std::error::Error>> {
        let text = text.to_owned();
        DomainLock::attach(|lock| {
            let number: Boxroot<OCamlInt> = text.parse::<isize>()?.to_ocaml(lock)?;
            Ok(number.get(lock).to_int())
        })
    }
    let unset = parse("7").unwrap_err();
    assert_eq!(unset.downcast_ref(), Some(&AttachError::NotSetup));
    let _ocaml = start();
    assert_eq!(parse("7").unwrap(), 7);
    assert!(parse("seven").unwrap_err().is::<std::num::ParseIntError>());
    fn nested(lock: &mut DomainLock) -> Result<(), Error> {
        let held = DomainLock::attach(nested).unwrap_err();
        assert!(matches!(held, Error::Attach(AttachError::AlreadyHeld)));
        let kinds: [CallError; 2] = [
            DomainLock::attach(|_| Ok::<_, CallError>(())).unwrap_err(),
            DomainLock::attach(|_| Ok::<_, ConversionError>(())).unwrap_err().into(),
        ];
        for error in kinds {
            assert_eq!(error.to_string(), AttachError::AlreadyHeld.to_string());
            let debug = format!("{error:?}");
            assert!(debug.starts_with("AlreadyHeld: "), "{debug}");
        }
        lock.release(|| DomainLock::attach(|_| Ok::<_, Error>(())))
    }
    DomainLock::attach(nested).unwrap();
});

test!(attach_before_startup_and_after_shutdown, || {
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::NotSetup));
    assert!(!DomainLock::is_held());
    start().shutdown().unwrap();
    assert!(!DomainLock::is_held());
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    assert_eq!(
        thread::spawn(|| DomainLock::with(|_| ())).join().unwrap(),
        Err(AttachError::TornDown)
    );
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
});

test!(attach_twice, || {
    start();
    for _ in 0..2 {
        assert!(!DomainLock::is_held());
        let nested = DomainLock::with(|lock| {
            assert!(DomainLock::is_held());
            let inner = DomainLock::with(|_| ());
            // Attaching works again while this token is lent to `release`.
            let released = lock.release(|| DomainLock::with(|_| 3));
            assert!(DomainLock::is_held());
            (inner, released)
        });
        assert_eq!(nested, Ok((Err(AttachError::AlreadyHeld), Ok(3))));
    }
});

test!(release_reacquires_after_a_panic, || {
    with_ocaml(|lock| {
        let root = string(lock, "kept");
        let result = catch_unwind(AssertUnwindSafe(|| lock.release(|| panic!("in release"))));
        assert!(result.is_err() && DomainLock::is_held());
        churn(lock);
        assert_eq!(root.get(lock).to_string_lossy(), "kept");
    })
});

test!(attach_gives_back_after_a_panic, || {
    start();
    let panicked = thread::spawn(|| DomainLock::with(|_| panic!("in attach"))).join();
    assert!(panicked.is_err());
    assert_eq!(DomainLock::with(|_| ()), Ok(()), "the lock is free");
});

test!(attach_in_a_callback_is_refused, || {
    extern "C" fn body(_: sys::Value) -> sys::Value {
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::AlreadyHeld));
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                assert_eq!(DomainLock::with(|_| ()), Err(AttachError::AlreadyHeld));
                // But in a blocking section of the callback it works.
                lock.release(|| DomainLock::with(churn)).unwrap();
                Value::int(0).raw()
            })
        }
    }
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        call_back(lock, body).unwrap();
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
});

test!(break_in_a_blocking_section, || {
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        through_ocaml(lock, "catch_break", 1).unwrap();
        lock.release(|| {
            // SAFETY: OCaml's handler only records the signal.
            assert_eq!(unsafe { libc::raise(libc::SIGINT) }, 0);
        });
        // The exception is raised at the next call of OCaml, and is its result.
        let error = through_ocaml(lock, "allocate", 1_000_000).unwrap_err();
        assert!(error.contains("Break"), "{error}");
        assert_eq!(through_ocaml(lock, "allocate", 10), Ok(10), "once");
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
});

// On OCaml 4, this once ended the process, because the exception was raised when OCaml registered
// the thread.
test!(break_when_a_thread_attaches_first, || {
    with_ocaml(|lock| {
        through_ocaml(lock, "catch_break", 1).unwrap();
        lock.release(|| {
            // SAFETY: OCaml's handler only records the signal.
            assert_eq!(unsafe { libc::raise(libc::SIGINT) }, 0);
            let small = thread::Builder::new().stack_size(128 << 10);
            small.spawn(|| DomainLock::with(|lock| drop(string(lock, "kept")))).unwrap().join()
        })
        .unwrap()
        .unwrap();
        let error = through_ocaml(lock, "allocate", 1_000_000).unwrap_err();
        assert!(error.contains("Break"), "{error}");
        assert_eq!(through_ocaml(lock, "allocate", 10), Ok(10), "once");
    })
});

test!(assumed_lock, || {
    raw::start_runtime(); // some other library holds the lock
    fn assumed<R>(f: impl FnOnce(&mut DomainLock) -> R) -> R {
        // SAFETY: this thread started the runtime and holds its lock; there is no other token.
        unsafe { DomainLock::assume_held(f) }.unwrap()
    }
    let root = assumed(|lock| string(lock, "kept"));
    let panics = || assumed(|lock| panic!("under {lock:?}"));
    assert!(catch_unwind(panics).is_err());
    assumed(|lock| {
        churn(lock);
        assert_eq!(root.get(lock).to_string_lossy(), "kept");
        lock.release(|| DomainLock::with(churn)).unwrap();
        // SAFETY: this thread holds the lock, and the use that it ends.
        assert_eq!(unsafe { uses::begin() }, Ok(2), "nested in this one");
        unsafe { uses::end() };
    });
    // SAFETY: this thread holds the lock, and the use that it ends.
    assert_eq!(unsafe { uses::begin() }, Ok(1), "no use is left");
    unsafe { uses::end() };
});

test!(tokens_nest_and_panic, forbid(unsafe_code), || {
    static DEPTH: AtomicUsize = AtomicUsize::new(0);
    fn deeper(lock: &mut DomainLock, depth: usize) {
        DEPTH.fetch_max(depth, Ordering::SeqCst);
        assert!(depth < 100, "at the bottom");
        churn_a_little(lock);
        let root = string(lock, "kept");
        if depth % 2 == 0 {
            lock.release(|| DomainLock::with(|lock| deeper(lock, depth + 1))).unwrap();
        } else {
            let body: Run = |lock, n| {
                let depth = n.get(lock).to_int() as usize;
                deeper(lock, depth);
                Ok(())
            };
            let error = ocaml(lock, "run", depth as isize + 1, body).unwrap_err();
            assert_eq!(root.get(lock).to_string_lossy(), "kept");
            assert!(error.to_string().contains("Failure"));
            panic_any(error);
        }
    }
    let runtime = start();
    DomainLock::with(|lock| {
        let result = catch_unwind(AssertUnwindSafe(|| deeper(lock, 0)));
        assert!(result.is_err());
        drop(result);
        assert_eq!((DEPTH.load(Ordering::SeqCst), stats().live_roots), (100, 0));
        assert!(DomainLock::is_held());
    })
    .unwrap();
    runtime.shutdown().unwrap();
});
