//! Starts of the runtime, and threads that act meanwhile.

use crate::support::exported::{Run, RUN};
use crate::support::process::{command, this_program};
use crate::support::raw;
use crate::support::safe::*;
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{AttachError, DomainLock, Runtime, StartError};
use ocaml_boxroot_sys as sys;
use std::os::unix::process::ExitStatusExt;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

test!(start_twice, || {
    let runtime = start();
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
    assert_eq!(DomainLock::with(|_| ()), Ok(()));
    runtime.shutdown().unwrap();
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
});

test!(start_where_ocaml_runs_already, || {
    raw::start_runtime(); // stands for a program that OCaml started
    let elsewhere = || thread::spawn(|| Runtime::start().err()).join().unwrap();
    assert_eq!(elsewhere(), Some(StartError::AlreadyStarted));
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
});

// The first thread that attaches finds out, without the lock, whether the program has the Thread
// module. Meanwhile OCaml may be registering names.
test!(attach_where_another_library_has_set_boxroot_up, || {
    raw::start_runtime();
    // SAFETY: this thread holds the lock of a runtime that was started.
    assert!(unsafe { sys::boxroot_setup() });
    let threads = [(); 4].map(|()| {
        thread::spawn(|| {
            assert_eq!(Runtime::start().map(drop), Err(StartError::AlreadyStarted));
            DomainLock::with(churn)
        })
    });
    raw::ocaml("register_names", &[raw::int(10_000)]);
    raw::without_lock(|| threads.map(|thread| assert_eq!(thread.join().unwrap(), Ok(()))));
});

// The runtime runs, so the error does not say to start one.
test!(attach_where_ocaml_has_not_called_rust_yet, || {
    assert_eq!(attach_on_another_thread(), Err(AttachError::NotSetup));
    raw::start_runtime(); // stands for a program that OCaml started
    raw::without_lock(|| {
        assert_eq!(attach_on_another_thread(), Err(AttachError::NotReady));
        assert_eq!(Runtime::get_or_start().map(drop), Err(AttachError::NotReady.into()));
    });
    *RUN.lock().unwrap() = Some(|_, _| Ok(()));
    raw::ocaml("run", &[raw::int(0)]);
    raw::without_lock(|| {
        assert_eq!(attach_on_another_thread(), Ok(()));
        assert_eq!(Runtime::get_or_start().map(drop), Ok(()));
    });
});

// On OCaml 4, yielding calls no hook, so the library does not see that a thread that yields now
// takes the lock again.
test!(set_up_while_a_thread_yields, || {
    raw::start_runtime();
    let run: Run = |lock, n| {
        let kept = strings(lock, 100);
        churn(lock);
        check(lock, &kept);
        assert!(n.get(lock).to_int() >= 7);
        Ok(())
    };
    *RUN.lock().unwrap() = Some(run);
    assert_eq!(raw::ocaml("run_beside_a_yield", &[raw::int(7)]), raw::int(8));
});

test!(start_on_many_threads, || {
    let together = Barrier::new(8);
    let start = || {
        together.wait();
        Runtime::start().map(drop)
    };
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let refused = Err(StartError::AlreadyStarted);
    assert!(results.iter().all(|result| result.is_ok() || *result == refused), "{results:?}");
    DomainLock::with(churn).unwrap();
});

// The first calls of several domains set the library up. With this setting they also keep the heap
// alive, through an extra start of the runtime, which is counted here.
test!(first_calls_of_many_domains, ocaml = 5, environment = &[("OCAMLRUNPARAM", "c")], || {
    const DOMAINS: usize = 16;
    static HERE: Barrier = Barrier::new(DOMAINS);
    static READY: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn first_call(_: sys::Value) -> sys::Value {
        raw::without_lock(|| HERE.wait());
        READY.fetch_add(1, Ordering::SeqCst);
        while READY.load(Ordering::SeqCst) < DOMAINS {
            thread::yield_now();
        }
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                let kept = strings(lock, 1000);
                check(lock, &kept);
                ran(1);
                raw::UNIT
            })
        }
    }
    raw::start_runtime(); // stands for a program that OCaml started
    for _ in 0..DOMAINS {
        raw::call_rust("spawn", first_call, 0);
    }
    raw::ocaml("join_all", &[raw::UNIT]);
    assert_eq!(RAN.load(Ordering::SeqCst), DOMAINS);
    // There were two starts, so only the second shutdown has an effect. It ends here, because
    // freeing the heap while threads of domains end is a race in OCaml.
    static SHUTDOWNS: AtomicUsize = AtomicUsize::new(0);
    let at_exit: Run = |_, _| process::exit(i32::from(SHUTDOWNS.load(Ordering::SeqCst) != 2));
    *RUN.lock().unwrap() = Some(at_exit);
    raw::ocaml("run_at_exit", &[raw::int(0)]);
    for shutdowns in 1..=2 {
        SHUTDOWNS.store(shutdowns, Ordering::SeqCst);
        // SAFETY: this thread holds the lock. The runtime is not used after its shutdown, which
        // does not return.
        unsafe { raw::caml_shutdown() };
    }
    panic!("the runtime was started more than twice");
});

static RAN: AtomicUsize = AtomicUsize::new(0);

/// Starts OCaml with these arguments. If an argument is "run", the initialisation of exported.ml
/// calls `body` with the number of arguments. If an argument is "raise", it raises an exception.
fn start_with(arguments: &[&str], body: Run) -> Result<Runtime, StartError> {
    *RUN.lock().unwrap() = Some(body);
    Runtime::builder().args(arguments.iter().copied()).start()
}

fn ran(n: isize) {
    RAN.fetch_add(n as usize, Ordering::SeqCst);
}

fn attach_on_another_thread() -> Result<(), AttachError> {
    thread::spawn(|| DomainLock::with(churn)).join().unwrap()
}

test!(arguments, || {
    assert_eq!(start_with(&["a\0b"], |_, _| Ok(())).err(), Some(StartError::NulInArgument(0)));
    let body: Run = |lock, n| {
        ran(n.get(lock).to_int());
        Ok(())
    };
    start_with(&["name", "run", "Grüße"], body).unwrap();
    assert_eq!(RAN.load(Ordering::SeqCst), 3);
});

fn uses_threads(lock: &mut DomainLock) {
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::AlreadyHeld));
    lock.release(|| {
        assert_eq!(attach_on_another_thread(), Ok(()));
        assert_eq!(DomainLock::with(churn), Ok(()));
    });
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
    ran(1);
}

test!(export_during_initialisation, || {
    let body: Run = |lock, _| {
        uses_threads(lock);
        Ok(())
    };
    let runtime = start_with(&["name", "run"], body).unwrap();
    assert_eq!(RAN.load(Ordering::SeqCst), 1);
    assert_eq!(attach_on_another_thread(), Ok(()));
    runtime.shutdown().unwrap();
});

test!(start_fails_after_an_export, || {
    let body: Run = |lock, _| {
        uses_threads(lock);
        Ok(())
    };
    let error = start_with(&["name", "run", "raise"], body).unwrap_err();
    assert_eq!(error, StartError::Exception("Failure(\"config file missing\")".to_string()));
    assert!(error.to_string().contains("config file missing"));
    assert_eq!(RAN.load(Ordering::SeqCst), 1);
    // Modules that were initialised before can be used, on all threads.
    assert_eq!(attach_on_another_thread(), Ok(()));
    let same = |lock: &mut DomainLock| ocaml(lock, "run", 5, |_, _| Ok(())).unwrap();
    assert_eq!(DomainLock::with(same), Ok(5));
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
});

test!(get_or_start_where_a_start_failed, || {
    let error = start_with(&["name", "raise"], |_, _| Ok(())).unwrap_err();
    assert!(matches!(error, StartError::Exception(_)));
    assert_eq!(Runtime::get_or_start().map(|_| ()), Err(error));
});

test!(get_or_start_on_many_threads, || {
    let together = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                together.wait();
                Runtime::get_or_start().unwrap();
                DomainLock::with(churn).unwrap();
            });
        }
    });
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
    let runtime: &'static Runtime = Runtime::get_or_start().unwrap();
    assert_eq!(format!("{runtime:?}"), "Runtime(())");
});

test!(get_or_start_during_initialisation, || {
    let body: Run = |lock, _| {
        // An exported function is running, so OCaml can be used.
        Runtime::get_or_start().unwrap();
        lock.release(|| {
            let other = || Runtime::get_or_start().and_then(|_| Ok(DomainLock::with(churn)?));
            thread::spawn(other).join().unwrap().unwrap();
        });
        ran(1);
        Ok(())
    };
    start_with(&["name", "run"], body).unwrap();
    assert_eq!(RAN.load(Ordering::SeqCst), 1);
});

test!(the_starting_thread_ends, || {
    let runtime = thread::spawn(|| {
        let runtime = Runtime::start().unwrap();
        DomainLock::with(churn).unwrap();
        runtime
    })
    .join()
    .unwrap();
    for _ in 0..10 {
        assert_eq!(attach_on_another_thread(), Ok(()));
        DomainLock::with(churn).unwrap();
    }
    thread::spawn(|| runtime.shutdown().unwrap()).join().unwrap();
});

test!(rust_handles_stack_overflows_again, || {
    // SAFETY: the functions only read settings. All zeros is a valid value of the structs, which
    // they fill.
    let handlers = || unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut stack: libc::stack_t = std::mem::zeroed();
        assert_eq!(libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut action), 0);
        assert_eq!(libc::sigaltstack(std::ptr::null(), &mut stack), 0);
        ((action.sa_sigaction, action.sa_flags), (stack.ss_sp as usize, stack.ss_flags))
    };
    let (action, stack) = handlers();
    Runtime::start().unwrap();
    let (action_after, stack_after) = handlers();
    assert_eq!(action_after, action);
    assert!(action.0 != libc::SIG_DFL && stack.0 != 0);
    // On OCaml 5 the stack is not Rust's, because a worker that calls `exit` would remove Rust's.
    assert_eq!(stack_after.1, 0);
    assert_eq!(stack_after.0 == stack.0, cfg!(not(ocaml5)));
});

// On OCaml 4 the process ends with a message, as it does when Rust code overflows the stack. OCaml
// 5 has its own stacks, and raises an exception.
test!(stack_overflow_in_ocaml, environment = &[("OCAMLRUNPARAM", "l=1M")], || {
    const INNER: &str = "BOXROOT_OVERFLOW";
    let overflow = || {
        let too_deep = |lock: &mut DomainLock| ocaml(lock, "depth", isize::MAX >> 1, |_, _| Ok(()));
        let exception = DomainLock::with(too_deep).unwrap().unwrap_err();
        assert!(exception.to_string().contains("Stack_overflow"));
    };
    match std::env::var(INNER) {
        Ok(place) => {
            Runtime::start().unwrap();
            match &*place {
                "main" => overflow(),
                _ => thread::spawn(overflow).join().unwrap(),
            }
        }
        Err(_) => {
            for place in ["main", "thread"] {
                let output = this_program().env(INNER, place).output().unwrap();
                let text = String::from_utf8_lossy(&output.stderr);
                if cfg!(ocaml5) {
                    assert!(output.status.success(), "{place}: {} {text}", output.status);
                } else {
                    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{place}: {text}");
                    assert!(text.contains("has overflowed its stack"), "{place}: {text}");
                }
            }
        }
    }
});

test!(threads_initialised_after_setup, || {
    let program = command(env!("CARGO_BIN_EXE_late_threads")).status();
    assert!(program.unwrap().success());
});
