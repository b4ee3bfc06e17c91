//! The safe crate on a real runtime: tests of its rules.

#[path = "../support/mod.rs"]
mod common;

use common::exported::{churn, with_ocaml, HANDED_OVER, LEVELS};
use common::run_scenarios;
use ocaml_boxroot::sys::uses;
use ocaml_boxroot::{
    stats, sys, trim, Boxroot, DomainLock, Error, FromOCaml, Function, OCamlArray, OCamlBytes,
    OCamlFloat, OCamlInt, OCamlList, OCamlString, RootRef, Runtime, ToOCaml, Value,
};
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

scenarios!(
    SCENARIOS:
    sizes;
    roots_survive_collections;
    set_and_clone;
    attach_before_startup_and_after_shutdown;
    attach_twice;
    release_reacquires_after_a_panic;
    attach_gives_back_after_a_panic;
    shutdown_with_idle_threads_around;
    shutdown_under_a_token;
    drop_anywhere;
    drop_after_shutdown;
    start_twice;
    calls_return_values_and_exceptions;
    panics_become_exceptions;
    attach_in_a_callback_is_refused;
    strings_of_all_lengths;
    roots_are_shared_between_threads;
    exhausted_stack_does_not_unwind_rust, environment = [("OCAMLRUNPARAM", "l=4k")];
    start_where_ocaml_runs_already;
    conversions_there_and_back;
    conversions_agree_with_ocaml;
    large_arrays_and_long_lists;
    exported_functions;
    exported_functions_fail_as_exceptions;
    a_hundred_levels_of_callbacks;
    calls_with_many_arguments;
    break_in_a_blocking_section;
    drop_in_another_domain, ocaml5 = true;
    drop_in_a_finaliser_of_ocaml;
    forgotten_things;
    a_function_that_needs_no_local_roots;
    assumed_lock;
    trimming;
    statistics_without_the_lock;
    statistics_after_shutdown;
);

fn main() {
    run_scenarios(SCENARIOS)
}

fn start() -> Runtime {
    Runtime::start().unwrap()
}

fn string(lock: &mut DomainLock, text: &str) -> Boxroot<OCamlString> {
    let (value, lock) = lock.alloc_string(text).unwrap();
    Boxroot::new(lock, value)
}

/// A function of testlib.ml.
fn function<Args, R>(lock: &DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: each caller uses the types that the function has in testlib.ml.
    unsafe { lock.named(name) }.unwrap()
}

fn sizes() {
    assert_eq!(size_of::<Boxroot<OCamlInt>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Boxroot<OCamlInt>>>(), size_of::<usize>());
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Boxroot<OCamlString>>();
    send_and_sync::<Boxroot<Function<(OCamlInt,), OCamlInt>>>();
}

fn roots_survive_collections() {
    with_ocaml(|lock| {
        let roots: Vec<_> = (0..10_000).map(|i| string(lock, &i.to_string())).collect();
        churn(lock);
        for (i, root) in roots.iter().enumerate() {
            assert_eq!(root.get(lock).to_string_lossy(), i.to_string());
        }
        assert_eq!(stats().live_roots, 10_000);
        roots.into_iter().for_each(|root| root.delete_in(lock));
        assert_eq!(stats().live_roots, 0);
    })
}

fn set_and_clone() {
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
        // SAFETY: `into_raw` has just given this root up, and it is of this type.
        let a: Boxroot<OCamlString> = unsafe { Boxroot::from_raw(raw) };
        assert_eq!(a.get(lock).to_string_lossy(), "c");
        drop((a, b));
        assert_eq!(stats().live_roots, 0);
    })
}

fn attach_before_startup_and_after_shutdown() {
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::NotSetup));
    assert!(!DomainLock::is_held());
    start().shutdown().unwrap();
    assert!(!DomainLock::is_held());
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
    assert_eq!(thread::spawn(|| DomainLock::attach(|_| ())).join().unwrap(), Err(Error::TornDown));
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
}

fn attach_twice() {
    start();
    for _ in 0..2 {
        assert!(!DomainLock::is_held());
        let nested = DomainLock::attach(|lock| {
            assert!(DomainLock::is_held());
            let inner = DomainLock::attach(|_| ());
            // Attaching works again while this token is lent to `release`.
            let released = lock.release(|| DomainLock::attach(|_| 3));
            assert!(DomainLock::is_held());
            (inner, released)
        });
        assert_eq!(nested, Ok((Err(Error::AlreadyHeld), Ok(3))));
    }
}

fn release_reacquires_after_a_panic() {
    with_ocaml(|lock| {
        let root = string(lock, "kept");
        let result = catch_unwind(AssertUnwindSafe(|| lock.release(|| panic!("in release"))));
        assert!(result.is_err() && DomainLock::is_held());
        churn(lock);
        assert_eq!(root.get(lock).to_string_lossy(), "kept");
    })
}

fn attach_gives_back_after_a_panic() {
    start();
    let panicked = thread::spawn(|| DomainLock::attach(|_| panic!("in attach"))).join();
    assert!(panicked.is_err());
    assert_eq!(DomainLock::attach(|_| ()), Ok(()), "the lock is free");
}

fn shutdown_with_idle_threads_around() {
    let runtime = start();
    let (to_thread, from_main) = mpsc::channel::<()>();
    let (to_main, from_thread) = mpsc::channel::<()>();
    let registered = thread::spawn(move || {
        DomainLock::attach(|_| ()).unwrap();
        to_main.send(()).unwrap();
        from_main.recv().unwrap();
        DomainLock::attach(|_| ())
    });
    from_thread.recv().unwrap();
    thread::spawn(|| runtime.shutdown().unwrap()).join().unwrap();
    to_thread.send(()).unwrap();
    assert_eq!(registered.join().unwrap(), Err(Error::TornDown));
}

fn shutdown_under_a_token() {
    fn is_an_error<T: std::error::Error + Send + Sync + 'static>(_: &T) {}
    let runtime = start();
    let busy = DomainLock::attach(|_| runtime.shutdown().unwrap_err()).unwrap();
    is_an_error(&busy);
    assert_eq!(busy.error, Error::AlreadyHeld);
    // The token is lent, not gone.
    let busy = DomainLock::attach(|lock| lock.release(|| busy.runtime.shutdown().unwrap_err()));
    let busy = busy.unwrap();
    assert_eq!(busy.error, Error::Busy { uses: 1 });
    let other = thread::spawn(|| {
        DomainLock::attach(|lock| lock.release(|| busy.runtime.shutdown().unwrap_err())).unwrap()
    });
    let busy = other.join().unwrap();
    assert_eq!(busy.error, Error::Busy { uses: 1 });
    busy.runtime.shutdown().unwrap();
}

fn drop_anywhere() {
    thread_local! {
        static AT_EXIT: RefCell<Vec<Boxroot<OCamlString>>> = const { RefCell::new(Vec::new()) };
    }
    with_ocaml(|lock| {
        let mut roots: Vec<_> = (0..3000).map(|i| string(lock, &i.to_string())).collect();
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
}

fn drop_after_shutdown() {
    let runtime = start();
    let strings = |lock: &mut DomainLock| (0..5000).map(|i| string(lock, &i.to_string())).collect();
    let mut halves: Vec<_> = DomainLock::attach(strings).unwrap();
    let other = halves.split_off(2500);
    runtime.shutdown().unwrap();
    drop(halves);
    thread::spawn(move || drop(other)).join().unwrap();
}

fn start_twice() {
    let runtime = start();
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
    assert_eq!(DomainLock::attach(|_| ()), Ok(()));
    runtime.shutdown().unwrap();
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
}

fn calls_return_values_and_exceptions() {
    with_ocaml(|lock| {
        let to_string: Boxroot<Function<(OCamlInt,), OCamlString>> = function(lock, "string");
        let fail: Boxroot<Function<(OCamlString,), ()>> = function(lock, "fail");
        let number = Boxroot::new(lock, Value::int(-12));
        let (text, _) = to_string.call(lock, &number).unwrap();
        assert_eq!(text.to_string_lossy(), "-12");
        let message = string(lock, "as expected");
        let exception = fail.call(lock, &message).unwrap_err();
        assert_eq!(exception.to_string(), "OCaml exception: Failure(\"as expected\")");
        // SAFETY: there is no such name, so the type does not matter.
        assert!(unsafe { lock.named::<OCamlInt>("no such name") }.is_none());
    })
}

/// Calls `body` from OCaml, through a closure of testlib.ml.
fn call_back(
    lock: &mut DomainLock,
    body: extern "C" fn(sys::Value) -> sys::Value,
) -> Result<(), String> {
    let call: Boxroot<Function<(OCamlInt, OCamlInt), ()>> = function(lock, "call");
    let address = Boxroot::new(lock, Value::int(body as *const () as isize));
    let argument = Boxroot::new(lock, Value::int(5));
    call.call(lock, &address, &argument).map(|_| ()).map_err(|e| e.to_string())
}

fn panics_become_exceptions() {
    extern "C" fn body(argument: sys::Value) -> sys::Value {
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                let kept = string(lock, "dropped by the panic");
                churn(lock);
                panic!("argument {} and {}", argument >> 1, kept.get(lock).to_string_lossy())
            })
        }
    }
    with_ocaml(|lock| {
        let error = call_back(lock, body).unwrap_err();
        assert_eq!(error, "OCaml exception: Failure(\"argument 5 and dropped by the panic\")");
        assert_eq!(stats().live_roots, 0);
        assert_eq!(call_back(lock, body).unwrap_err(), error, "and again");
    })
}

fn attach_in_a_callback_is_refused() {
    extern "C" fn body(_: sys::Value) -> sys::Value {
        assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
                // But in a blocking section of the callback it works.
                lock.release(|| DomainLock::attach(churn)).unwrap();
                Value::int(0).raw()
            })
        }
    }
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        call_back(lock, body).unwrap();
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
}

fn strings_of_all_lengths() {
    with_ocaml(|lock| {
        for length in (0..40).chain([255 * 8, 256 * 8 - 1, 256 * 8, 256 * 8 + 1, 1_000_000]) {
            let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let (value, _) = lock.alloc_string(&bytes).unwrap();
            assert_eq!(value.to_bytes(), bytes);
        }
    })
}

fn exhausted_stack_does_not_unwind_rust() {
    static ENTERED: AtomicUsize = AtomicUsize::new(0);
    static LEFT: AtomicUsize = AtomicUsize::new(0);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            LEFT.fetch_add(1, Ordering::SeqCst);
        }
    }
    // OCaml calls this at every depth of a recursion, also where OCaml's stack has no room left.
    extern "C" fn body(_: sys::Value) -> sys::Value {
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                ENTERED.fetch_add(1, Ordering::SeqCst);
                let _guard = Guard;
                let f: Boxroot<Function<(OCamlInt,), OCamlString>> = function(lock, "string");
                let n = Boxroot::new(lock, Value::int(1));
                let _ = f.call(lock, &n).is_ok();
                Value::int(0).raw()
            })
        }
    }
    let runtime = start();
    DomainLock::attach(|lock| {
        let deep: Boxroot<Function<(OCamlInt, OCamlInt), OCamlInt>> = function(lock, "deep");
        let address = Boxroot::new(lock, Value::int(body as *const () as isize));
        let depth = Boxroot::new(lock, Value::int(9000));
        deep.call(lock, &address, &depth).unwrap();
        drop((deep, address, depth));
        assert_eq!(ENTERED.load(Ordering::SeqCst), LEFT.load(Ordering::SeqCst));
        assert_eq!(stats().live_roots, 0);
    })
    .unwrap();
    runtime.shutdown().unwrap();
}

fn start_where_ocaml_runs_already() {
    common::start_runtime(); // stands for a program that OCaml started
    let elsewhere = || thread::spawn(|| Runtime::start().err()).join().unwrap();
    assert_eq!(elsewhere(), Some(Error::AlreadyStarted));
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
}

fn roots_are_shared_between_threads() {
    with_ocaml(|lock| {
        let roots: Vec<_> = (0..1000).map(|i| string(lock, &i.to_string())).collect();
        lock.release(|| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for (i, root) in roots.iter().enumerate().step_by(10) {
                            let text = DomainLock::attach(|lock| {
                                string(lock, "garbage");
                                root.get(lock).to_string_lossy()
                            });
                            assert_eq!(text, Ok(i.to_string()));
                        }
                    });
                }
            })
        });
        assert_eq!(stats().live_roots, 1000);
    })
}

/// `x`, copied to OCaml, through some collections, and back.
fn round_trip<T, R: ToOCaml<T> + FromOCaml<T>>(lock: &mut DomainLock, x: &R) -> R {
    let root: Boxroot<T> = x.to_ocaml(lock).unwrap();
    churn(lock);
    root.to_rust(lock).unwrap()
}

fn conversions_there_and_back() {
    with_ocaml(|lock| {
        round_trip::<(), ()>(lock, &());
        assert!(round_trip::<bool, _>(lock, &true) && !round_trip::<bool, _>(lock, &false));
        for n in [0, 1, -1, isize::MAX >> 1, isize::MIN >> 1] {
            assert_eq!(round_trip::<OCamlInt, _>(lock, &n), n);
        }
        for x in [0., -1.5, f64::INFINITY, f64::MIN_POSITIVE] {
            assert_eq!(round_trip::<OCamlFloat, _>(lock, &x), x);
        }
        assert_eq!(round_trip::<OCamlString, _>(lock, &"Grüße".to_string()), "Grüße");
        assert_eq!(round_trip::<Option<OCamlInt>, Option<isize>>(lock, &None), None);
        assert_eq!(
            round_trip::<Option<Option<OCamlInt>>, _>(lock, &Some(None)),
            Some(None::<isize>)
        );
        assert_eq!(round_trip::<(OCamlInt, OCamlFloat), _>(lock, &(3, 0.5)), (3, 0.5));
        let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        assert_eq!(round_trip::<OCamlList<OCamlString>, _>(lock, &words), words);
        assert_eq!(round_trip::<OCamlArray<OCamlString>, _>(lock, &words), words);
        let floats = vec![1., 2., 3.];
        assert_eq!(round_trip::<OCamlArray<OCamlFloat>, _>(lock, &floats), floats);
        assert_eq!(round_trip::<OCamlList<OCamlFloat>, _>(lock, &floats), floats);
        let empty: Vec<isize> = vec![];
        assert_eq!(round_trip::<OCamlArray<OCamlInt>, _>(lock, &empty), empty);
        let nested = vec![vec![Some((1, true)), None], vec![]];
        type Nested = OCamlList<OCamlArray<Option<(OCamlInt, bool)>>>;
        assert_eq!(round_trip::<Nested, Vec<Vec<Option<(isize, bool)>>>>(lock, &nested), nested);
        let bytes: Boxroot<OCamlBytes> = b"abc"[..].to_ocaml(lock).unwrap();
        assert_eq!(bytes.get(lock).to_bytes(), b"abc");
        drop(bytes);
        assert_eq!(stats().live_roots, 0);
    })
}

fn conversions_agree_with_ocaml() {
    with_ocaml(|lock| {
        type Everything =
            (OCamlList<(OCamlInt, OCamlString)>, (OCamlArray<OCamlFloat>, Option<OCamlBytes>));
        let describe: Boxroot<Function<(Everything,), OCamlString>> = function(lock, "describe");
        let list = vec![(1, "one".to_string()), (2, "two".to_string())];
        struct Bytes(&'static [u8]);
        impl ToOCaml<OCamlBytes> for Bytes {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBytes>, Error> {
                self.0.to_ocaml(lock)
            }
        }
        let everything: Boxroot<Everything> =
            (list, (vec![0.5, 1.5], Some(Bytes(b"xyz")))).to_ocaml(lock).unwrap();
        let (text, _) = describe.call(lock, &everything).unwrap();
        assert_eq!(text.to_string_lossy(), "1=one,2=two;0.5,1.5;xyz");
        let make: Boxroot<Function<(OCamlInt,), OCamlArray<OCamlFloat>>> = function(lock, "floats");
        let three = Boxroot::new(lock, Value::int(3));
        let (array, lock) = make.call(lock, &three).unwrap();
        assert_eq!((array.len(), array.get(0).is_none()), (3, true));
        assert_eq!(array.to_rust::<Vec<f64>>(lock), Ok(vec![0., 1., 2.]));
    })
}

fn large_arrays_and_long_lists() {
    with_ocaml(|lock| {
        for n in [255, 256, 257, 100_000] {
            let numbers: Vec<isize> = (0..n).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlInt>, _>(lock, &numbers), numbers);
            assert_eq!(round_trip::<OCamlList<OCamlInt>, _>(lock, &numbers), numbers);
            let floats: Vec<f64> = (0..n).map(|i| i as f64).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlFloat>, _>(lock, &floats), floats);
            let strings: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            assert_eq!(round_trip::<OCamlArray<OCamlString>, _>(lock, &strings), strings);
        }
        assert_eq!(stats().live_roots, 0);
    })
}

/// A function of testlib.ml that takes its functions from Rust.
fn through_ocaml(lock: &mut DomainLock, name: &str, n: isize) -> Result<isize, String> {
    let f: Boxroot<Function<(OCamlInt,), OCamlInt>> = function(lock, name);
    let n = Boxroot::new(lock, Value::int(n));
    f.call(lock, &n).map(|(result, _)| result.to_int()).map_err(|e| e.to_string())
}

fn exported_functions() {
    with_ocaml(|lock| {
        assert_eq!(through_ocaml(lock, "repeated_length", 5), Ok(15));
        assert_eq!(stats().live_roots, 0);
    })
}

fn exported_functions_fail_as_exceptions() {
    with_ocaml(|lock| {
        assert_eq!(
            through_ocaml(lock, "repeated_length", -2),
            Err("OCaml exception: Failure(\"-2 times\")".to_string())
        );
        assert_eq!(
            through_ocaml(lock, "descend", -1),
            Err("OCaml exception: Failure(\"at the bottom\")".to_string())
        );
        assert_eq!(LEVELS.load(Ordering::SeqCst), 0);
        assert_eq!(stats().live_roots, 0);
    })
}

fn a_hundred_levels_of_callbacks() {
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        // OCaml's `descend n` calls Rust's `safe_deeper`, which calls `descend (n - 1)`, …
        assert_eq!(through_ocaml(lock, "descend", 100), Ok(100));
        // An exception at the bottom is an error in Rust and an exception in OCaml at each level.
        assert_eq!(
            through_ocaml(lock, "descend_and_raise", 100),
            Err("OCaml exception: Failure(\"raised at the bottom\")".to_string())
        );
        // So is a panic.
        assert_eq!(
            through_ocaml(lock, "descend_and_panic", 100),
            Err("OCaml exception: Failure(\"at the bottom\")".to_string())
        );
        assert_eq!(LEVELS.load(Ordering::SeqCst), 0, "every level was left");
        assert_eq!(stats().live_roots, 1, "no level left a root");
        churn(lock);
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
}

fn calls_with_many_arguments() {
    with_ocaml(|lock| {
        type I = OCamlInt;
        type Eight = Function<(I, I, I, I, I, I, I, I), OCamlString>;
        let f: Boxroot<Eight> = function(lock, "eight");
        let [a, b, c, d, e, f1, g, h] =
            [1, 2, 3, 4, 5, 6, 7, 8].map(|n| Boxroot::<OCamlInt>::new(lock, Value::int(n)));
        let (text, _) = f.call(lock, &a, &b, &c, &d, &e, &f1, &g, &h).unwrap();
        assert_eq!(text.to_string_lossy(), "12345678");
    })
}

fn break_in_a_blocking_section() {
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        through_ocaml(lock, "catch_break", 1).unwrap();
        lock.release(|| {
            // SAFETY: OCaml handles the signal, by noting that it came.
            assert_eq!(unsafe { libc::raise(libc::SIGINT) }, 0);
        });
        // The exception is raised at the next call of OCaml, whose result it is.
        let error = through_ocaml(lock, "allocate", 1_000_000).unwrap_err();
        assert!(error.contains("Break"), "{error}");
        assert_eq!(through_ocaml(lock, "allocate", 10), Ok(10), "once");
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
}

fn drop_in_another_domain() {
    with_ocaml(|lock| {
        let mine: Vec<_> = (0..5000).map(|i| string(lock, &i.to_string())).collect();
        *HANDED_OVER.lock().unwrap() = (0..5000).map(|i| string(lock, &i.to_string())).collect();
        through_ocaml(lock, "drop_roots_in_a_domain", 0).unwrap();
        churn(lock);
        assert_eq!(stats().live_roots, 5000);
        for (i, root) in mine.iter().enumerate() {
            assert_eq!(root.get(lock).to_string_lossy(), i.to_string());
        }
    })
}

fn drop_in_a_finaliser_of_ocaml() {
    with_ocaml(|lock| {
        *HANDED_OVER.lock().unwrap() = (0..100).map(|i| string(lock, &i.to_string())).collect();
        through_ocaml(lock, "drop_roots_in_a_finaliser", 0).unwrap();
        assert_eq!(stats().live_roots, 0);
    })
}

fn forgotten_things() {
    let root = with_ocaml(|lock| {
        let root = string(lock, "kept");
        std::mem::forget(root.clone_in(lock));
        assert_eq!(root.get(lock).to_string_lossy(), "kept");
        root
    });
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
    drop(root);
    DomainLock::attach(|_| assert_eq!(stats().live_roots, 1, "the forgotten one")).unwrap();
}

fn a_function_that_needs_no_local_roots() {
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
}

fn assumed_lock() {
    common::start_runtime(); // some other library holds the lock
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
        lock.release(|| DomainLock::attach(churn)).unwrap();
        // SAFETY: this thread holds the lock, and the use that it ends.
        assert_eq!(unsafe { uses::begin() }, Ok(true), "nested in this one");
        unsafe { uses::end() };
    });
    // SAFETY: this thread holds the lock, and the use that it ends.
    assert_eq!(unsafe { uses::begin() }, Ok(false), "no use is left");
    unsafe { uses::end() };
}

fn trimming() {
    with_ocaml(|lock| {
        let roots: Vec<Boxroot<OCamlInt>> =
            (0..100_000).map(|i| Boxroot::new(lock, Value::int(i))).collect();
        let full = stats().bytes;
        roots.into_iter().for_each(|root| root.delete_in(lock));
        let given_back = trim(lock);
        assert!(given_back > 0 && stats().bytes == full - given_back);
    })
}

fn statistics_without_the_lock() {
    start();
    let roots: Vec<_> =
        DomainLock::attach(|lock| (0..10_000).map(|_| string(lock, "x")).collect()).unwrap();
    // Without the lock the statistics are those of the last major scan, and say so. Under the lock they are exact, on all
    // threads.
    assert!(!stats().is_exact && stats().to_string().contains("at the last major collection"));
    let elsewhere = thread::spawn(|| DomainLock::attach(|_| stats()).unwrap()).join().unwrap();
    assert!(elsewhere.is_exact);
    assert_eq!(elsewhere.live_roots, 10_000);
    drop(roots);
    let elsewhere = thread::spawn(|| DomainLock::attach(|_| stats()).unwrap()).join().unwrap();
    assert_eq!(elsewhere.live_roots, 0);
}

fn statistics_after_shutdown() {
    let runtime = start();
    let strings = |lock: &mut DomainLock| (0..10_002).map(|_| string(lock, "x")).collect();
    let mut roots: Vec<_> = DomainLock::attach(strings).unwrap();
    let before = DomainLock::attach(|_| stats()).unwrap();
    runtime.shutdown().unwrap();
    let after = stats();
    assert!(after.is_exact);
    assert_eq!((after.live_roots, before.live_roots), (10_002, 10_002));
    assert_eq!(after.pools, 10_002_usize.div_ceil(after.slots_per_pool));
    assert_eq!(after.pools_full + after.pools_partial, after.pools);
    let other = roots.split_off(5000);
    thread::spawn(move || drop(other)).join().unwrap();
    assert_eq!(stats().live_roots, 5000);
    assert_eq!(thread::spawn(|| stats().live_roots).join().unwrap(), 5000);
    drop(roots);
    assert_eq!(stats().live_roots, 0);
}
