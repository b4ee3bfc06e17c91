//! The end of the runtime and of the process, even while threads use OCaml.

use crate::support::exported::{Run, NOTED, RUN};
use crate::support::raw;
use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::runtime::Users;
use ocaml_boxroot::{
    AttachError, Boxroot, DomainLock, OCamlInt, OCamlString, RootRef, Runtime, ShutdownError,
    StartError, ToOCaml,
};
use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex};
use std::time::Duration;
use std::{process, thread};

test!(shutdown_with_idle_threads_around, || {
    let runtime = start();
    let (to_thread, from_main) = mpsc::channel::<()>();
    let (to_main, from_thread) = mpsc::channel::<()>();
    let registered = thread::spawn(move || {
        DomainLock::with(|_| ()).unwrap();
        to_main.send(()).unwrap();
        from_main.recv().unwrap();
        DomainLock::with(|_| ())
    });
    from_thread.recv().unwrap();
    thread::spawn(|| runtime.shutdown().unwrap()).join().unwrap();
    to_thread.send(()).unwrap();
    assert_eq!(registered.join().unwrap(), Err(AttachError::TornDown));
});

test!(shutdown_under_a_token, || {
    fn is_an_error<T: std::error::Error + Send + Sync + 'static>(_: &T) {}
    let runtime = start();
    let busy = DomainLock::with(|_| runtime.shutdown().unwrap_err()).unwrap();
    is_an_error(&busy);
    assert_eq!(busy.error, AttachError::AlreadyHeld.into());
    // The token is only lent.
    let busy = DomainLock::with(|lock| lock.release(|| busy.runtime.shutdown().unwrap_err()));
    let busy = busy.unwrap();
    assert_eq!(busy.error, ShutdownError::Busy(Users::ThisThread));
    assert!(busy.to_string().ends_with("in use by this thread, which is in DomainLock::release"));
    let other = thread::spawn(|| {
        DomainLock::with(|lock| lock.release(|| busy.runtime.shutdown().unwrap_err())).unwrap()
    });
    let busy = other.join().unwrap();
    assert_eq!(busy.error, ShutdownError::Busy(Users::ThisThread));
    busy.runtime.shutdown().unwrap();
});

/// Calls OCaml again and again until the runtime is shut down.
fn call_until_shutdown() {
    let call = |lock: &mut DomainLock| {
        lock.release(thread::yield_now);
        through_ocaml(lock, "repeated_length", 5).unwrap()
    };
    let error = loop {
        match DomainLock::with(call) {
            Ok(length) => assert_eq!(length, 15),
            Err(error) => break error,
        }
    };
    assert_eq!(error, AttachError::TornDown);
}

test!(shutdown_within_a_time_while_threads_call, || {
    let runtime = start();
    let threads = [(); 8].map(|()| thread::spawn(call_until_shutdown));
    runtime.shutdown_within(Duration::MAX).unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
});

// An attached thread waits for a thread that attaches in a loop. The second thread waits until the
// time limit, and goes on without an error.
// A thread that waits for the end of the call does not need more and more stack.
test!(shutdown_within_a_time_beside_a_small_stack, forbid(unsafe_code), || {
    let runtime = start();
    let (begin, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || {
            let wait = || (begin.send(()).unwrap(), ended.recv().unwrap());
            DomainLock::with(|lock| lock.release(wait)).unwrap()
        });
        begun.recv().unwrap();
        let attach_often = || {
            while !IS_OVER.load(Ordering::SeqCst) {
                DomainLock::with(|_| ()).unwrap();
            }
        };
        thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, attach_often).unwrap();
        let result = runtime.shutdown_within(Duration::from_secs(2));
        assert!(result.is_err(), "the runtime was in use");
        IS_OVER.store(true, Ordering::SeqCst);
        end.send(()).unwrap();
    });
});

test!(shutdown_within_a_time_that_is_too_short, || {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut runtime = start();
    let (attached, is_attached) = mpsc::channel();
    let waits = thread::spawn(move || {
        let attaches = move || {
            DomainLock::with(|_| attached.send(()).unwrap()).unwrap();
            work(|_| !STOP.load(Ordering::SeqCst));
        };
        let wait = || thread::spawn(attaches).join().unwrap();
        DomainLock::with(|lock| lock.release(wait)).unwrap();
    });
    is_attached.recv().unwrap();
    for milliseconds in [0, 1, 20] {
        let busy = runtime.shutdown_within(Duration::from_millis(milliseconds)).unwrap_err();
        assert!(matches!(busy.error, ShutdownError::Busy(Users::Threads(1 | 2))), "{busy}");
        runtime = busy.runtime;
    }
    STOP.store(true, Ordering::SeqCst);
    waits.join().unwrap();
    runtime.shutdown_within(Duration::ZERO).unwrap();
});

test!(shutdown_within_a_time_where_it_cannot_be, || {
    let runtime = start();
    let within = |runtime: Runtime| runtime.shutdown_within(Duration::MAX).unwrap_err();
    let busy = DomainLock::with(|_| within(runtime)).unwrap();
    assert_eq!(busy.error, AttachError::AlreadyHeld.into());
    let busy = DomainLock::with(|lock| lock.release(|| within(busy.runtime))).unwrap();
    assert_eq!(busy.error, ShutdownError::Busy(Users::ThisThread));
    busy.runtime.shutdown().unwrap();
});

// The `at_exit` function waits for a thread that attaches. From then on, attaching is an error.
test!(shutdown_within_a_time_while_at_exit_waits, || {
    let runtime = start();
    let at_exit: Run = |lock, _| {
        lock.release(|| thread::spawn(call_until_shutdown).join().unwrap());
        Ok(())
    };
    DomainLock::with(|lock| ocaml(lock, "run_at_exit", 0, at_exit)).unwrap().unwrap();
    runtime.shutdown_within(Duration::MAX).unwrap();
});

test!(drop_after_shutdown, || {
    let runtime = start();
    let mut halves = DomainLock::with(|lock| strings(lock, 5000)).unwrap();
    let other = halves.split_off(2500);
    runtime.shutdown().unwrap();
    drop(halves);
    thread::spawn(move || drop(other)).join().unwrap();
});

thread_local! {
    static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
}

/// Attaches again and again, as long as `go_on` returns true.
fn work(go_on: impl Fn(usize) -> bool) {
    for n in 0.. {
        if !go_on(n) {
            break;
        }
        DomainLock::with(|lock| drop(strings(lock, 100))).unwrap();
    }
}

test!(a_worker_exits_while_another_thread_holds_the_lock, || {
    Runtime::start().unwrap();
    let (registered, is_registered) = mpsc::channel();
    let (held, is_held) = mpsc::channel();
    let worker = thread::spawn(move || {
        ROOTS.set(DomainLock::with(|lock| strings(lock, 1000)).unwrap());
        registered.send(()).unwrap();
        is_held.recv().unwrap();
        process::exit(0);
    });
    is_registered.recv().unwrap();
    DomainLock::with(|_| {
        held.send(()).unwrap();
        worker.join().unwrap();
    })
    .unwrap();
});

test!(main_ends_while_workers_use_ocaml, || {
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
});

test!(the_handle_is_dropped_while_workers_use_ocaml, || {
    static STOP: AtomicBool = AtomicBool::new(false);
    let runtime = Box::new(Runtime::start().unwrap());
    let worker = || thread::spawn(|| work(|n| n < 10 || !STOP.load(Ordering::SeqCst)));
    let workers = [(); 4].map(|()| worker());
    drop(runtime);
    STOP.store(true, Ordering::SeqCst);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    DomainLock::with(churn).unwrap();
});

test!(the_handle_is_lost_by_an_error_in_a_scope, || {
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
    DomainLock::with(churn).unwrap();
});

/// Attaches when it is dropped, and drops a root.
struct Last(#[allow(dead_code)] Option<Boxroot<OCamlString>>);

impl Drop for Last {
    fn drop(&mut self) {
        assert_eq!(DomainLock::with(churn), Err(AttachError::AlreadyHeld));
    }
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last(None)) };
}

test!(exit_of_ocaml_with_cleanup, environment = &[("OCAMLRUNPARAM", "c")], || {
    with_ocaml(|lock| {
        ROOTS.set(strings(lock, 100_000));
        LAST.set(Last(strings(lock, 1).pop()));
        churn(lock);
        ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap()
    });
});

test!(
    exit_of_ocaml_with_cleanup_while_threads_drop,
    environment = &[("OCAMLRUNPARAM", "c")],
    || {
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
                    DomainLock::with(|_| unreachable!("the process ends under the lock")).unwrap()
                });
            }
            (0..4).for_each(|_| is_ready.recv().unwrap());
            ROOTS.set(strings(lock, 100_000));
            ocaml(lock, "exit", 0, |_, _| Ok(())).unwrap()
        });
    }
);

test!(
    shutdown_with_cleanup,
    environment = &[("OCAMLRUNPARAM", "c"), ("MALLOC_PERTURB_", "165")],
    || {
        static RAN: AtomicBool = AtomicBool::new(false);
        let runtime = Runtime::start().unwrap();
        ROOTS.set(DomainLock::with(|lock| strings(lock, 10_000)).unwrap());
        let at_exit = |lock: &mut DomainLock| {
            ocaml(lock, "run_at_exit", 0, |_, _| {
                RAN.store(true, Ordering::SeqCst);
                Ok(())
            })
            .unwrap()
        };
        DomainLock::with(at_exit).unwrap();
        // Memory of the runtime that domains use just after their end, so it must not be freed.
        // SAFETY: the name is a C string, and no other thread uses OCaml 4's table of names.
        let cell = unsafe { ocaml_sys::caml_named_value(c"run_at_exit".as_ptr()) };
        // SAFETY: the cell lives as long as the runtime.
        let before = unsafe { *cell };
        runtime.shutdown().unwrap();
        // SAFETY: shutting down leaves the cell alone, as this test checks.
        assert_eq!(unsafe { *cell }, before);
        assert!(RAN.load(Ordering::SeqCst));
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    }
);

/// The text that is written to standard output, or to standard error, while `f` runs.
fn written_to(output: impl AsRawFd, f: impl FnOnce()) -> String {
    let (mut reader, writer) = UnixStream::pair().unwrap();
    let number = output.as_raw_fd();
    // SAFETY: the test is a separate process, in which nothing else uses this descriptor meanwhile.
    let kept = unsafe { libc::dup(number) };
    // SAFETY: as above.
    unsafe { libc::dup2(writer.as_raw_fd(), number) };
    f();
    // SAFETY: as above; `kept` is open.
    unsafe { libc::dup2(kept, number) };
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

test!(shutdown_on_drop_writes_what_is_buffered, || {
    let text = written_to(std::io::stdout(), || {
        let _runtime = start().shutdown_on_drop();
        DomainLock::with(|lock| through_ocaml(lock, "print", 42)).unwrap().unwrap();
    });
    assert_eq!(text, "42");
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
});

test!(shutdown_on_drop_in_a_panic, || {
    let text = written_to(std::io::stdout(), || {
        let panicked = thread::spawn(|| {
            let _runtime = start().shutdown_on_drop();
            DomainLock::with(|lock| through_ocaml(lock, "print", 42)).unwrap().unwrap();
            panic!("on purpose");
        });
        panicked.join().unwrap_err();
    });
    assert_eq!(text, "42");
});

test!(shutdown_on_drop_says_why_it_cannot, || {
    let runtime = start().shutdown_on_drop();
    let text = written_to(std::io::stderr(), || DomainLock::with(|_| drop(runtime)).unwrap());
    assert!(text.contains("OCaml was not shut down"), "{text}");
    assert!(text.contains(&AttachError::AlreadyHeld.to_string()), "{text}");
    assert_eq!(DomainLock::with(|_| ()), Ok(()));
});

test!(exit_under_the_lock, forbid(unsafe_code), || {
    start();
    thread::spawn(|| DomainLock::with(|_| process::exit(0))).join().unwrap().unwrap();
});

test!(exit_of_ocaml_under_the_lock, forbid(unsafe_code), || {
    start();
    let exits = || DomainLock::with(|lock| ocaml(lock, "exit", 0, |_, _| Ok(())).is_ok());
    thread::spawn(exits).join().unwrap().unwrap();
});

test!(exit_in_a_release, forbid(unsafe_code), || {
    with_ocaml(|lock| lock.release(|| process::exit(0)));
});

/// Tries to use the runtime when it is dropped. Checks that this works if `can` is true, and is
/// refused otherwise.
struct Restless {
    can: bool,
}

impl Drop for Restless {
    fn drop(&mut self) {
        assert_eq!(DomainLock::is_held(), !self.can);
        assert_eq!(DomainLock::with(churn).is_ok(), self.can);
    }
}

thread_local! {
    static RESTLESS: RefCell<Option<Restless>> = const { RefCell::new(None) };
}

test!(exit_in_a_release_and_use_the_runtime, forbid(unsafe_code), || {
    RESTLESS.set(Some(Restless { can: true }));
    with_ocaml(|lock| lock.release(|| process::exit(0)));
});

test!(exit_in_a_callback_and_use_the_runtime, forbid(unsafe_code), || {
    RESTLESS.set(Some(Restless { can: false }));
    with_ocaml(|lock| ocaml(lock, "run", 0, |_, _| process::exit(0))).unwrap();
});

test!(exit_of_ocaml_and_use_the_runtime, forbid(unsafe_code), || {
    RESTLESS.set(Some(Restless { can: false }));
    with_ocaml(|lock| ocaml(lock, "exit", 0, |_, _| Ok(()))).unwrap();
});

/// Calls OCaml's `exit 0`, which does not return.
fn exit_of_ocaml(lock: &mut DomainLock) {
    let exit = function::<(OCamlInt,), OCamlInt>(lock, "exit");
    let status = 0.to_ocaml(lock).unwrap();
    let _ = exit.call(lock, &status);
    process::abort();
}

/// Starts threads that use OCaml until the process ends. Returns when they have begun.
fn attach_again_and_again() {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..4 {
        let sender = sender.clone();
        thread::spawn(move || loop {
            if DomainLock::with(churn_a_little).is_err() {
                process::abort();
            }
            let _ = sender.send(());
        });
    }
    (0..100).for_each(|_| receiver.recv().unwrap());
}

test!(exit_of_ocaml_while_threads_attach, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        lock.release(attach_again_and_again);
        exit_of_ocaml(lock);
    });
});

test!(
    exit_of_ocaml_with_cleanup_while_threads_attach,
    forbid(unsafe_code),
    environment = &[("OCAMLRUNPARAM", "c")],
    || {
        with_ocaml(|lock| {
            lock.release(attach_again_and_again);
            exit_of_ocaml(lock);
        });
    }
);

// OCaml can still be used while `at_exit` functions run.
test!(threads_attach_in_at_exit_of_exit, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let at_exit: Run = |lock, _| {
            let attach = || thread::spawn(|| DomainLock::with(churn)).join().unwrap();
            if lock.release(attach) != Ok(()) || DomainLock::with(|_| ()).is_ok() {
                process::abort();
            }
            Ok(())
        };
        ocaml(lock, "run_at_exit", 0, at_exit).unwrap();
        exit_of_ocaml(lock);
    });
});

test!(exit_where_ocaml_has_main_while_threads_attach, || {
    raw::start_runtime(); // stands for a program that OCaml started
    *RUN.lock().unwrap() = Some(|_, _| Ok(()));
    raw::ocaml("run", &[raw::int(0)]);
    raw::without_lock(attach_again_and_again);
    raw::ocaml("exit", &[raw::int(0)]);
    process::abort();
});

test!(shutdown_in_a_thread_local_destructor, forbid(unsafe_code), || {
    struct Shuts(Option<Runtime>);
    impl Drop for Shuts {
        fn drop(&mut self) {
            self.0.take().unwrap().shutdown().unwrap();
        }
    }
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
        static RUNTIME: RefCell<Option<Shuts>> = const { RefCell::new(None) };
    }
    thread::spawn(|| {
        ROOTS.set(Vec::new()); // dropped after the runtime
        RUNTIME.set(Some(Shuts(Some(start()))));
        ROOTS.set(DomainLock::with(|lock| strings(lock, 5000)).unwrap());
    })
    .join()
    .unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
});

test!(exports_in_at_exit, forbid(unsafe_code), || {
    static RAN: AtomicBool = AtomicBool::new(false);
    let runtime = start();
    let body: Run = |lock, _| {
        churn(lock);
        let attach = || thread::spawn(|| DomainLock::with(|_| ())).join().unwrap();
        assert_eq!(lock.release(attach), Err(AttachError::TornDown));
        RAN.store(true, Ordering::SeqCst);
        Ok(())
    };
    DomainLock::with(|lock| ocaml(lock, "run_at_exit", 0, body)).unwrap().unwrap();
    runtime.shutdown().unwrap();
    assert!(RAN.load(Ordering::SeqCst));
});

// The at_exit function waits for OCaml code of other threads, which calls Rust.
test!(exports_on_other_threads_in_at_exit, forbid(unsafe_code), || {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    fn body(
        lock: &mut DomainLock,
        n: &RootRef<OCamlInt>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        if n.get(lock).to_int() == 1 {
            let roots = strings(lock, 1000);
            check(lock, &roots);
            assert_eq!(lock.release(|| DomainLock::with(|_| ())), Ok(()));
            RAN.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        ocaml(lock, "run_in_a_thread", 1, body)?;
        if cfg!(ocaml5) {
            ocaml(lock, "run_in_a_domain", 1, body)?;
        }
        Ok(())
    }
    let runtime = start();
    DomainLock::with(|lock| ocaml(lock, "run_at_exit", 0, body)).unwrap().unwrap();
    runtime.shutdown().unwrap();
    assert_eq!(RAN.load(Ordering::SeqCst), if cfg!(ocaml5) { 2 } else { 1 });
});

static RUNS: AtomicBool = AtomicBool::new(false);
static IS_DOWN: AtomicBool = AtomicBool::new(false);

fn wait_for(what: &AtomicBool) {
    while !what.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

/// Shuts OCaml down. An `at_exit` function starts `body` through this function of exported.ml, and
/// returns when `RUNS` is true.
fn shut_down_and_leave(how: &'static str, body: Run) {
    static LEFT: Mutex<Option<(&str, Run)>> = Mutex::new(None);
    *LEFT.lock().unwrap() = Some((how, body));
    let runtime = start();
    let start_it: Run = |lock, _| {
        let (how, body) = LEFT.lock().unwrap().unwrap();
        ocaml(lock, how, 1, body)?;
        lock.release(|| wait_for(&RUNS));
        Ok(())
    };
    DomainLock::with(|lock| ocaml(lock, "run_at_exit", 0, start_it)).unwrap().unwrap();
    runtime.shutdown().unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    assert_eq!(Runtime::get_or_start().err(), Some(AttachError::TornDown.into()));
    assert!(!DomainLock::is_held());
    IS_DOWN.store(true, Ordering::SeqCst);
}

// The thread may drop its roots, and then waits for the lock forever.
test!(a_thread_that_at_exit_leaves_in_rust, forbid(unsafe_code), || {
    static HAS_DROPPED: AtomicBool = AtomicBool::new(false);
    shut_down_and_leave("start_in_a_thread", |lock, _| {
        let roots = strings(lock, 1000);
        lock.release(|| {
            RUNS.store(true, Ordering::SeqCst);
            wait_for(&IS_DOWN);
            drop(roots);
            HAS_DROPPED.store(true, Ordering::SeqCst);
        });
        unreachable!("the lock is not given back");
    });
    wait_for(&HAS_DROPPED);
});

// The domain takes its own lock again, and reads its roots. Its next call of Rust fails. A
// collection that begins then would wait forever, so the test collects before.
test!(a_domain_that_at_exit_leaves_in_rust, ocaml = 5, || {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    shut_down_and_leave("start_in_a_domain_twice", |lock, _| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        let roots = strings(lock, 10);
        full_major(lock);
        lock.release(|| {
            RUNS.store(true, Ordering::SeqCst);
            wait_for(&IS_DOWN);
        });
        check(lock, &roots);
        drop(roots);
        Ok(())
    });
    while NOTED.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    let refused = 2;
    assert_eq!((NOTED.load(Ordering::SeqCst), CALLS.load(Ordering::SeqCst)), (refused, 1));
});

test!(exceptions_in_at_exit, forbid(unsafe_code), || {
    static RAN: AtomicBool = AtomicBool::new(false);
    let runtime = start();
    let body: Run = |lock, n| match n.get(lock).to_int() {
        0 => {
            RAN.store(true, Ordering::SeqCst);
            Ok(())
        }
        _ => Err("the last one is the first to run".into()),
    };
    DomainLock::with(|lock| {
        for n in [0, 1] {
            ocaml(lock, "run_at_exit", n, body).unwrap();
        }
    })
    .unwrap();
    runtime.shutdown().unwrap();
    assert!(RAN.load(Ordering::SeqCst));
});

test!(runtime_comes_back_and_goes, forbid(unsafe_code), || {
    let mut runtime = start();
    let kept = DomainLock::with(|lock| strings(lock, 1000)).unwrap();
    for _ in 0..3 {
        let (stop, stopped) = mpsc::channel::<()>();
        let (ready, is_ready) = mpsc::channel::<()>();
        let attached = thread::spawn(move || {
            DomainLock::with(|lock| {
                lock.release(|| {
                    ready.send(()).unwrap();
                    stopped.recv().unwrap();
                })
            })
            .unwrap();
        });
        is_ready.recv().unwrap();
        let busy = runtime.shutdown().unwrap_err();
        assert_eq!(busy.error, ShutdownError::Busy(Users::Threads(1)));
        runtime = busy.runtime;
        DomainLock::with(churn).unwrap();
        stop.send(()).unwrap();
        attached.join().unwrap();
        DomainLock::with(|lock| check(lock, &kept)).unwrap();
    }
    runtime.shutdown().unwrap();
});

test!(runtime_lost_while_busy, forbid(unsafe_code), || {
    start();
    let kept = DomainLock::with(|lock| strings(lock, 1000)).unwrap();
    let (ready, is_ready) = mpsc::channel::<()>();
    thread::spawn(move || {
        DomainLock::with(|lock| {
            lock.release(|| {
                ready.send(()).unwrap();
                thread::park();
            })
        })
    });
    is_ready.recv().unwrap();
    assert_eq!(DomainLock::with(churn), Ok(()));
    assert_eq!(Runtime::start().err(), Some(StartError::AlreadyStarted));
    drop(kept);
    DomainLock::with(|_| assert_eq!(stats().live_roots, 0)).unwrap();
});

test!(roots_dropped_during_shutdown, forbid(unsafe_code), || {
    let runtime = start();
    let (ready, is_ready) = mpsc::channel::<()>();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let roots = DomainLock::with(|lock| strings(lock, 20_000)).unwrap();
            let ready = ready.clone();
            thread::spawn(move || {
                ready.send(()).unwrap();
                for root in roots {
                    drop(root);
                    assert!(stats().pools < 1000);
                }
            })
        })
        .collect();
    (0..4).for_each(|_| is_ready.recv().unwrap());
    runtime.shutdown().unwrap();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
});

/// Shuts OCaml down while a thread that OCaml code made repeats this function of exported.ml
/// forever.
fn shut_down_with_a_thread(how: &str) {
    let runtime = start();
    let roots = DomainLock::with(|lock| {
        ocaml(lock, how, 0, |_, _| Ok(())).unwrap();
        strings(lock, 1000)
    });
    runtime.shutdown().unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    drop(roots);
}

test!(shutdown_with_a_thread_that_waits_for_a_condition, forbid(unsafe_code), || {
    shut_down_with_a_thread("wait_for_a_condition");
});

test!(shutdown_with_a_thread_that_waits_for_an_event, forbid(unsafe_code), || {
    shut_down_with_a_thread("wait_for_an_event");
});

test!(shutdown_with_a_thread_that_waits_for_a_thread, forbid(unsafe_code), || {
    shut_down_with_a_thread("wait_for_a_thread");
});

test!(shutdown_with_a_busy_thread, forbid(unsafe_code), || {
    shut_down_with_a_thread("busy");
});

test!(shutdown_with_a_busy_thread_of_the_initialisation, forbid(unsafe_code), || {
    let runtime = Runtime::builder().args(["name", "busy"]).start().unwrap();
    thread::spawn(|| runtime.shutdown().unwrap()).join().unwrap();
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
});

const BLOCK: [u8; 1024] = [b'x'; 1024];

/// The number of blocks that can be written to a socket that is never read.
fn room() -> usize {
    let (mut unread, _other_end) = UnixStream::pair().unwrap();
    unread.set_nonblocking(true).unwrap();
    (0..).take_while(|_| unread.write(&BLOCK).is_ok()).count()
}

// The memory that the thread reads into must not be given to anything else.
test!(shutdown_with_a_thread_that_reads, forbid(unsafe_code), || {
    let (mut here, there) = UnixStream::pair().unwrap();
    let descriptor = there.as_raw_fd() as isize;
    let runtime = start();
    DomainLock::with(|lock| ocaml(lock, "read_lines", descriptor, |_, _| Ok(())).unwrap()).unwrap();
    runtime.shutdown().unwrap();
    let memory: Vec<_> = (0..200).map(|_| vec![0_u8; 64 << 10]).collect();
    here.set_nonblocking(true).unwrap();
    // When the thread has read something, there is room for one more block.
    for _ in 0..=room() {
        while here.write(&BLOCK).is_err() {
            thread::yield_now();
        }
    }
    assert!(memory.iter().flatten().all(|&byte| byte == 0));
});

test!(closures_during_shutdown, forbid(unsafe_code), || {
    static USED: AtomicUsize = AtomicUsize::new(0);
    let mut runtime = start();
    let use_closures = || {
        let mut kept = Vec::new();
        while let Ok(roots) = DomainLock::with(|lock| {
            let text = string(lock, "captured");
            let f = Count::from_rust(lock, move |lock, n| {
                churn_a_little(lock);
                lock.release(thread::yield_now);
                assert_eq!(text.get(lock).to_string_lossy(), "captured");
                Ok(n.get(lock).to_int())
            });
            let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
            assert_eq!(f.call(lock, &n).unwrap().0.to_int(), 7);
            (f, boxed(lock, Canary(Canary::ALIVE)))
        }) {
            kept.push(roots);
            USED.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2)); // without any pause, it would be busy forever
        }
        assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
    };
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(use_closures)).collect();
    while USED.load(Ordering::SeqCst) < 40 {
        thread::yield_now();
    }
    while let Err(busy) = runtime.shutdown() {
        runtime = busy.runtime;
        thread::yield_now();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
});

test!(shutdown_in_a_closure, forbid(unsafe_code), || {
    static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
    fn refused() -> ShutdownError {
        let runtime = RUNTIME.lock().unwrap().take().unwrap();
        let busy = runtime.shutdown().unwrap_err();
        *RUNTIME.lock().unwrap() = Some(busy.runtime);
        busy.error
    }
    *RUNTIME.lock().unwrap() = Some(start());
    DomainLock::with(|lock| {
        let f = Count::from_rust(lock, |lock, n| {
            assert_eq!(refused(), AttachError::AlreadyHeld.into());
            let here = lock.release(refused);
            let elsewhere = lock.release(|| thread::spawn(refused).join().unwrap());
            assert_eq!(here, ShutdownError::Busy(Users::ThisThread));
            assert_eq!(elsewhere, ShutdownError::Busy(Users::Threads(1)));
            Ok(n.get(lock).to_int())
        });
        let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
        assert_eq!(f.call(lock, &n).unwrap().0.to_int(), 7);
    })
    .unwrap();
    let runtime = RUNTIME.lock().unwrap().take().unwrap();
    runtime.shutdown().unwrap();
});
