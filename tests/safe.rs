//! The safe crate on a real runtime: its rules, and what breaks them elsewhere.

mod common;

use common::run_scenarios;
use ocaml_boxroot::{
    stats, sys, Boxroot, DomainLock, Error, Function, OCamlInt, OCamlString, Runtime, Value,
};
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
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
    shutdown_waits_for_nobody_but_says_so;
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

/// Allocates enough for several collections.
fn churn(lock: &mut DomainLock) {
    for i in 0..200_000 {
        lock.alloc_string(format!("garbage {i}")).unwrap();
    }
}

/// A function of testlib.ml.
fn function<Args, R>(lock: &DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: used with the types of testlib.ml.
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
    let mut runtime = start();
    let lock = runtime.lock();
    let roots: Vec<_> = (0..10_000).map(|i| string(lock, &i.to_string())).collect();
    churn(lock);
    for (i, root) in roots.iter().enumerate() {
        assert_eq!(root.get(lock).to_text(), i.to_string());
    }
    assert_eq!(stats().live_roots, 10_000);
    roots.into_iter().for_each(|root| root.delete_in(lock));
    assert_eq!(stats().live_roots, 0);
}

fn set_and_clone() {
    let mut runtime = start();
    let lock = runtime.lock();
    let mut a = string(lock, "a");
    churn(lock); // `a` is old now
    let b = a.clone_in(lock).unwrap();
    let (c, now) = lock.alloc_string("c").unwrap();
    a.set(now, c);
    churn(lock);
    assert_eq!((a.get(lock).to_text(), b.get(lock).to_text()), ("c".into(), "a".into()));
    let raw = a.into_raw();
    // SAFETY: just given up.
    let a: Boxroot<OCamlString> = unsafe { Boxroot::from_raw(raw) };
    assert_eq!(a.get(lock).to_text(), "c");
    drop((a, b));
    assert_eq!(stats().live_roots, 0);
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
    let mut runtime = start();
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
    runtime.lock().release(|| {
        assert!(!DomainLock::is_held());
        let nested = DomainLock::attach(|lock| {
            assert!(DomainLock::is_held());
            let inner = DomainLock::attach(|_| ());
            // Attaching works again while this token is lent to `release`.
            let released = lock.release(|| DomainLock::attach(|_| 3));
            (inner, released)
        });
        assert_eq!(nested, Ok((Err(Error::AlreadyHeld), Ok(3))));
    });
    assert!(DomainLock::is_held());
}

fn release_reacquires_after_a_panic() {
    let mut runtime = start();
    let root = string(runtime.lock(), "kept");
    let lock = runtime.lock();
    let result = catch_unwind(AssertUnwindSafe(|| lock.release(|| panic!("in release"))));
    assert!(result.is_err() && DomainLock::is_held());
    churn(runtime.lock());
    assert_eq!(root.get(runtime.lock()).to_text(), "kept");
}

fn attach_gives_back_after_a_panic() {
    let mut runtime = start();
    runtime.lock().release(|| {
        let panicked = thread::spawn(|| DomainLock::attach(|_| panic!("in attach"))).join();
        assert!(panicked.is_err());
        assert_eq!(DomainLock::attach(|_| ()), Ok(()), "the lock is free");
    });
}

fn shutdown_waits_for_nobody_but_says_so() {
    let mut runtime = start();
    let (to_thread, from_main) = mpsc::channel::<()>();
    let (to_main, from_thread) = mpsc::channel::<()>();
    let registered = thread::spawn(move || {
        DomainLock::attach(|_| ()).unwrap();
        to_main.send(()).unwrap();
        from_main.recv().unwrap();
    });
    runtime.lock().release(|| from_thread.recv().unwrap());
    let busy = runtime.shutdown().unwrap_err();
    assert_eq!(busy.error, Error::Busy { uses: 1 });
    let mut runtime = busy.runtime;
    to_thread.send(()).unwrap();
    // At its end the thread takes the lock to unregister.
    runtime.lock().release(|| registered.join().unwrap());
    runtime.shutdown().unwrap();
}

fn drop_anywhere() {
    thread_local! {
        static AT_EXIT: RefCell<Vec<Boxroot<OCamlString>>> = const { RefCell::new(Vec::new()) };
    }
    let mut runtime = start();
    let lock = runtime.lock();
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
    assert_eq!(roots[999].get(lock).to_text(), "999");
    std::mem::forget(roots.pop());
    drop(roots);
    assert_eq!(stats().live_roots, 1, "forgotten");
}

fn drop_after_shutdown() {
    let mut runtime = start();
    let lock = runtime.lock();
    let roots: Vec<_> = (0..5000).map(|i| string(lock, &i.to_string())).collect();
    let mut halves = roots;
    let other = halves.split_off(2500);
    runtime.shutdown().unwrap();
    drop(halves);
    thread::spawn(move || drop(other)).join().unwrap();
}

fn start_twice() {
    let runtime = start();
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
    drop(runtime);
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
}

fn calls_return_values_and_exceptions() {
    let mut runtime = start();
    let lock = runtime.lock();
    let to_string: Boxroot<Function<(OCamlInt,), OCamlString>> = function(lock, "string");
    let fail: Boxroot<Function<(OCamlString,), ()>> = function(lock, "fail");
    let number = Boxroot::new(lock, Value::int(-12));
    let (text, _) = to_string.call(lock, &number).unwrap();
    assert_eq!(text.to_text(), "-12");
    let message = string(lock, "as expected");
    let exception = fail.call(lock, &message).unwrap_err();
    assert_eq!(exception.to_string(), "OCaml exception: Failure(\"as expected\")");
    // SAFETY: there is no such name, so the type does not matter.
    assert!(unsafe { lock.named::<OCamlInt>("no such name") }.is_none());
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
        // SAFETY: called from OCaml through ocaml_boxroot_call_1.
        unsafe {
            DomainLock::enter(|lock| {
                let kept = string(lock, "dropped by the panic");
                churn(lock);
                panic!("argument {} and {}", argument >> 1, kept.get(lock).to_text())
            })
        }
    }
    let mut runtime = start();
    let lock = runtime.lock();
    let error = call_back(lock, body).unwrap_err();
    assert_eq!(error, "OCaml exception: Failure(\"argument 5 and dropped by the panic\")");
    assert_eq!(stats().live_roots, 0);
    assert_eq!(call_back(lock, body).unwrap_err(), error, "and again");
}

fn attach_in_a_callback_is_refused() {
    extern "C" fn body(_: sys::Value) -> sys::Value {
        assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
        // SAFETY: called from OCaml through ocaml_boxroot_call_1.
        unsafe {
            DomainLock::enter(|lock| {
                assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
                // But in a blocking section of the callback it works.
                lock.release(|| DomainLock::attach(churn)).unwrap();
                Value::int(0).raw()
            })
        }
    }
    let mut runtime = start();
    let kept = string(runtime.lock(), "kept");
    call_back(runtime.lock(), body).unwrap();
    assert_eq!(kept.get(runtime.lock()).to_text(), "kept");
}

fn strings_of_all_lengths() {
    let mut runtime = start();
    let lock = runtime.lock();
    for length in (0..40).chain([255 * 8, 256 * 8 - 1, 256 * 8, 256 * 8 + 1, 1_000_000]) {
        let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
        let (value, _) = lock.alloc_string(&bytes).unwrap();
        assert_eq!(value.to_bytes(), bytes);
    }
}

fn exhausted_stack_does_not_unwind_rust() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static ENTERED: AtomicUsize = AtomicUsize::new(0);
    static LEFT: AtomicUsize = AtomicUsize::new(0);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            LEFT.fetch_add(1, Ordering::SeqCst);
        }
    }
    // Called at every depth of a recursion, also where OCaml's stack has no room left.
    extern "C" fn body(_: sys::Value) -> sys::Value {
        // SAFETY: called from OCaml through ocaml_boxroot_call_1.
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
    let mut runtime = start();
    let lock = runtime.lock();
    let deep: Boxroot<Function<(OCamlInt, OCamlInt), OCamlInt>> = function(lock, "deep");
    let address = Boxroot::new(lock, Value::int(body as *const () as isize));
    let depth = Boxroot::new(lock, Value::int(9000));
    deep.call(lock, &address, &depth).unwrap();
    drop((deep, address, depth));
    assert_eq!(ENTERED.load(Ordering::SeqCst), LEFT.load(Ordering::SeqCst));
    assert_eq!(stats().live_roots, 0);
    runtime.shutdown().unwrap();
}

fn start_where_ocaml_runs_already() {
    common::start_runtime(); // stands for a program that OCaml started
    let elsewhere = || thread::spawn(|| Runtime::start().err()).join().unwrap();
    assert_eq!(elsewhere(), Some(Error::AlreadyStarted));
    assert_eq!(Runtime::start().err(), Some(Error::AlreadyStarted));
}

fn roots_are_shared_between_threads() {
    let mut runtime = start();
    let lock = runtime.lock();
    let roots: Vec<_> = (0..1000).map(|i| string(lock, &i.to_string())).collect();
    lock.release(|| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for (i, root) in roots.iter().enumerate().step_by(10) {
                        let text = DomainLock::attach(|lock| {
                            string(lock, "garbage");
                            root.get(lock).to_text()
                        });
                        assert_eq!(text, Ok(i.to_string()));
                    }
                });
            }
        })
    });
    assert_eq!(stats().live_roots, 1000);
}
