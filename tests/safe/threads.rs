//! Threads that come and go, and their actions at their end.

use crate::support::exported::{Run, RUN};
use crate::support::process::command;
use crate::support::raw::{
    caml_c_thread_register, caml_c_thread_unregister, test_domain, test_register_in_domain,
};
use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::runtime::protect_signals;
use ocaml_boxroot::{
    AttachError, Boxroot, DomainLock, OCamlString, Runtime, ShutdownError, StartError, ToOCaml,
};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{mpsc, Barrier, Mutex};
use std::thread;

test!(roots_are_shared_between_threads, || {
    with_ocaml(|lock| {
        let roots = strings(lock, 1000);
        lock.release(|| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for (i, root) in roots.iter().enumerate().step_by(10) {
                            let text = DomainLock::with(|lock| {
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
});

// OCaml's tick thread starts when a new thread has the lock. (On 5.0 and 5.1, a tick during that
// would do harm: see `MAY_TICK` in threads.c.)
test!(the_first_new_thread_gets_its_turn, except = &["5.0.", "5.1."], || {
    with_ocaml(|lock| {
        thread::scope(|scope| {
            let other = scope.spawn(|| DomainLock::with(|lock| through_ocaml(lock, "tell", 1)));
            assert_eq!(through_ocaml(lock, "wait_until_told", 1), Ok(1));
            assert_eq!(other.join().unwrap(), Ok(Ok(1)));
        });
    })
});

// OCaml's Unix library once wrote beyond the ends of such stacks, into stacks of other threads.
test!(a_call_on_a_small_stack_is_an_error, || {
    with_ocaml(|lock| {
        let mut length_on = |size: usize| {
            let thread = thread::Builder::new().stack_size(size << 10);
            let call = || DomainLock::with(|lock| through_ocaml(lock, "repeated_length", 5));
            lock.release(|| thread.spawn(call).unwrap().join().unwrap().unwrap())
        };
        for size in [64, 128, 256] {
            assert_eq!(length_on(size), Err("OCaml exception: Stack_overflow".to_string()));
        }
        assert_eq!(length_on(512), Ok(15));
    })
});

test!(no_start_or_shutdown_on_a_small_stack, || {
    fn on_a_small_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
        let thread = thread::Builder::new().stack_size(256 << 10);
        thread::scope(|scope| thread.spawn_scoped(scope, f).unwrap().join().unwrap())
    }
    assert_eq!(on_a_small_stack(Runtime::start).err(), Some(StartError::StackTooSmall));
    let runtime = Runtime::start().unwrap();
    let refused = on_a_small_stack(|| runtime.shutdown()).unwrap_err();
    assert_eq!(refused.error, ShutdownError::StackTooSmall);
    refused.runtime.shutdown().unwrap();
});

/// OCaml's `Thread.id` of this thread.
fn thread_id(lock: &mut DomainLock) -> isize {
    ocaml(lock, "thread_id", 0, |_, _| Ok(())).unwrap()
}

/// Attaches on `count` threads, at most `at_once` at a time, and returns the largest `Thread.id` of
/// them.
fn largest_id(count: usize, at_once: usize) -> isize {
    static LARGEST: AtomicIsize = AtomicIsize::new(0);
    let work = || {
        let id = DomainLock::with(thread_id).unwrap();
        LARGEST.fetch_max(id, Ordering::SeqCst);
    };
    for _ in 0..count / at_once {
        let threads: Vec<_> = (0..at_once).map(|_| thread::spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    LARGEST.load(Ordering::SeqCst)
}

/// The size of this process, in bytes.
pub fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    // SAFETY: the function only reads a setting.
    let page_size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * page_size
}

test!(a_hundred_thousand_short_threads, || {
    Runtime::start().unwrap();
    let first = largest_id(1000, 4);
    let before = memory();
    // OCaml knows only as many threads as ever lived at the same time, so minor collections do not
    // scan more. A thread may end a little after it was joined.
    assert!(largest_id(100_000, 4) <= first + 40);
    let after = memory();
    assert!(after < before + (16 << 20), "{before} bytes have become {after}");
});

test!(threads_that_come_back_at_once, || {
    const AT_ONCE: usize = 50;
    Runtime::start().unwrap();
    for _ in 0..20 {
        let together = Barrier::new(AT_ONCE);
        thread::scope(|scope| {
            for i in 0..AT_ONCE {
                let together = &together;
                scope.spawn(move || {
                    let text = i.to_string();
                    let root: Boxroot<OCamlString> =
                        DomainLock::with(|lock| text.to_ocaml(lock)).unwrap().unwrap();
                    together.wait();
                    DomainLock::with(|lock| {
                        churn(lock);
                        lock.release(thread::yield_now);
                        assert_eq!(root.get(lock).to_string_lossy(), text);
                    })
                    .unwrap();
                });
            }
        });
    }
    let id = DomainLock::with(thread_id).unwrap();
    assert_eq!(id, 0, "the main thread");
    assert!(largest_id(10, 1) <= 2 * AT_ONCE as isize + 40);
});

test!(a_worker_that_ends_is_joined_under_the_lock, || {
    with_ocaml(|lock| {
        let (go, goes) = mpsc::channel::<()>();
        let (registered, is_registered) = mpsc::channel();
        let worker = thread::spawn(move || {
            DomainLock::with(|_| ()).unwrap();
            registered.send(()).unwrap();
            goes.recv().unwrap();
        });
        lock.release(|| is_registered.recv().unwrap());
        go.send(()).unwrap();
        worker.join().unwrap();
    });
});

test!(threads_end_while_the_lock_is_held, || {
    with_ocaml(|lock| {
        for _ in 0..200 {
            let attach = || thread::spawn(|| DomainLock::with(thread_id).unwrap());
            let threads = [(); 8].map(|()| attach());
            lock.release(|| threads.into_iter().for_each(|thread| _ = thread.join().unwrap()));
            churn(lock);
        }
    });
    assert!(largest_id(10, 1) <= 60);
});

test!(shutdown_races_with_attach, || {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut runtime = Runtime::start().unwrap();
    let worker = || {
        thread::spawn(|| loop {
            match DomainLock::with(|lock| lock.release(thread::yield_now)) {
                Ok(()) if STOP.load(Ordering::SeqCst) => return,
                Ok(()) => {}
                Err(error) => return assert_eq!(error, AttachError::TornDown),
            }
        })
    };
    let workers = [(); 4].map(|()| worker());
    for n in 0.. {
        match runtime.shutdown() {
            Ok(()) => break,
            Err(busy) => runtime = busy.runtime,
        }
        STOP.store(n > 1000, Ordering::SeqCst);
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(DomainLock::with(|_| ()), Err(AttachError::TornDown));
});

// A thread that another library has registered cannot attach, with or without an idle record. It
// can attach after the library has unregistered it.
test!(a_thread_of_another_library, || {
    Runtime::start().unwrap();
    for _ in 0..10 {
        let library = thread::spawn(|| {
            // SAFETY: the program links systhreads. OCaml does not know this thread, which does not
            // hold the lock.
            let (registered, answer, unregistered) = unsafe {
                (caml_c_thread_register(), DomainLock::with(churn), caml_c_thread_unregister())
            };
            assert_eq!((registered, unregistered), (1, 1));
            assert_eq!(answer, Err(AttachError::ThreadNotRegistered));
            DomainLock::with(churn).unwrap();
        });
        library.join().unwrap();
        thread::spawn(|| DomainLock::with(churn).unwrap()).join().unwrap();
    }
});

// OCaml 5.5 registers a thread with one domain only, even after it was unregistered. An idle record
// does not change that.
test!(a_thread_of_another_domain, except = &["4.", "5.0.", "5.1.", "5.2.", "5.3.", "5.4."], || {
    let run: Run = |lock, _| {
        // SAFETY: this thread holds the lock.
        let domain = unsafe { test_domain() };
        let attaches_twice = move || {
            // SAFETY: OCaml does not know this thread, which does not hold a lock, and the domain
            // lives.
            let answers = unsafe { (test_register_in_domain(domain), caml_c_thread_unregister()) };
            assert_eq!(answers, (1, 1));
            [DomainLock::with(churn), DomainLock::with(churn)]
        };
        lock.release(|| {
            let refused = [const { Err(AttachError::ThreadNotRegistered) }; 2];
            assert_eq!(thread::spawn(attaches_twice).join().unwrap(), refused);
            let id = || thread::spawn(|| DomainLock::with(thread_id)).join().unwrap().unwrap();
            let left = id(); // this thread leaves a record
            assert_eq!(thread::spawn(attaches_twice).join().unwrap(), refused);
            assert_eq!(id(), left);
        });
        Ok(())
    };
    with_ocaml(|lock| ocaml(lock, "run_in_a_domain", 0, run)).unwrap();
});

static IN_A_KEY: Mutex<Vec<Result<(), AttachError>>> = Mutex::new(Vec::new());

extern "C" fn attach_in_a_key(_: *mut libc::c_void) {
    IN_A_KEY.lock().unwrap().push(DomainLock::with(churn));
}

// The destructors of thread-specific keys run after those of Rust's thread-local variables, in the
// order in which the keys were made. OCaml's own key loses its value while they run.
test!(attach_in_the_destructors_of_keys, || {
    let before_start = make_key(attach_in_a_key);
    let starts = move || {
        Runtime::start().unwrap();
        let keys = [before_start, make_key(attach_in_a_key)];
        keys.into_iter().for_each(set_key);
        keys
    };
    let [_, before_attach] = thread::spawn(starts).join().unwrap();
    thread::spawn(|| DomainLock::with(churn).unwrap()).join().unwrap();
    let keys = [before_start, before_attach, make_key(attach_in_a_key)];
    for attaches_before in [false, true] {
        let body = move || {
            if attaches_before {
                DomainLock::with(churn).unwrap();
            }
            keys.into_iter().for_each(set_key);
        };
        thread::spawn(body).join().unwrap();
    }
    assert_eq!(*IN_A_KEY.lock().unwrap(), [const { Ok(()) }; 8]);
});

/// The stack for this thread's signal handlers, if it has one.
fn signal_stack() -> Option<usize> {
    // SAFETY: all zeros is a `stack_t`, which the function fills.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        assert_eq!(libc::sigaltstack(std::ptr::null(), &mut stack), 0);
        (stack.ss_flags & libc::SS_DISABLE == 0).then_some(stack.ss_sp as usize)
    }
}

fn disable_signal_stack() {
    // SAFETY: a stack that is disabled needs no memory.
    unsafe {
        let mut none: libc::stack_t = std::mem::zeroed();
        none.ss_flags = libc::SS_DISABLE;
        assert_eq!(libc::sigaltstack(&none, std::ptr::null_mut()), 0);
    }
}

/// Attaches on a new thread, which has no signal stack, like Rust's threads in programs that OCaml
/// started. Returns its signal stack, which stays the same while another thread is attached.
fn signal_stack_of_a_thread(attached: &Barrier) -> usize {
    disable_signal_stack();
    DomainLock::with(churn).unwrap();
    let stack = signal_stack();
    attached.wait();
    stack.expect("OCaml 5 runs signal handlers on a stack of their own")
}

test!(signal_stacks_are_passed_on, ocaml = 5, || {
    Runtime::start().unwrap();
    for _ in 0..3 {
        let attached = &Barrier::new(2);
        let stacks = thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| signal_stack_of_a_thread(attached)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_ne!(stacks[0], stacks[1]);
    }
});

// Rust gives its main thread no signal stack if SIGSEGV is ignored when the process starts.
test!(signal_stack_of_the_thread_that_starts, ocaml = 5, || {
    disable_signal_stack();
    Runtime::start().unwrap();
    assert!(signal_stack().is_some());
});

/// The thread that runs OCaml code. A thread that was just created, and does not run OCaml code,
/// may have no signal stack yet.
static RUNS_OCAML: AtomicUsize = AtomicUsize::new(0);

/// The number of signals that `handler` got on that thread, and the number of these on a signal
/// stack.
static SIGNALS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn this_thread() -> usize {
    // SAFETY: the function has no precondition. A handler may call it.
    unsafe { libc::pthread_self() as usize }
}

extern "C" fn handler(_: libc::c_int) {
    if RUNS_OCAML.load(Ordering::SeqCst) != this_thread() {
        return;
    }
    SIGNALS[0].fetch_add(1, Ordering::SeqCst);
    // SAFETY: all zeros is a `stack_t`, which the function fills. A handler may call the function.
    let stack = unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &mut stack);
        stack
    };
    if stack.ss_flags & libc::SS_ONSTACK != 0 {
        SIGNALS[1].fetch_add(1, Ordering::SeqCst);
    }
}

/// Installs a handler as most programs do, without `SA_ONSTACK`.
pub fn install(signal: libc::c_int, handler: libc::sighandler_t) {
    // SAFETY: all zeros is an action, and the handlers of these tests only do what handlers may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

fn flags(signal: libc::c_int) -> libc::c_int {
    // SAFETY: all zeros is an action, which the function fills.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        assert_eq!(libc::sigaction(signal, std::ptr::null(), &mut action), 0);
        action.sa_flags
    }
}

/// Sends signals to this process, while OCaml code runs below effect handlers, on a small separate
/// stack (OCaml 5).
fn signals_while_ocaml_runs(lock: &mut DomainLock) {
    let every = |microseconds| {
        let time = libc::timeval { tv_sec: 0, tv_usec: microseconds };
        let timer = libc::itimerval { it_interval: time, it_value: time };
        // SAFETY: the timer is valid, and its signal has a handler.
        assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) }, 0);
    };
    RUNS_OCAML.store(this_thread(), Ordering::SeqCst);
    every(200);
    while SIGNALS[0].load(Ordering::SeqCst) < 500 {
        ocaml(lock, "work_in_fibers", 100, |_, _| Ok(())).unwrap();
    }
    every(0);
    let [all, on_their_stack] = SIGNALS.each_ref().map(|count| count.load(Ordering::SeqCst));
    assert_eq!(on_their_stack, if cfg!(ocaml5) { all } else { 0 });
}

test!(signal_handlers_while_ocaml_runs, || {
    with_ocaml(|lock| {
        for signal in [libc::SIGALRM, libc::SIGPROF, libc::SIGFPE] {
            install(signal, handler as *const () as libc::sighandler_t);
        }
        protect_signals();
        let on_stack = if cfg!(ocaml5) { libc::SA_ONSTACK } else { 0 };
        let kept = libc::SA_RESTART;
        // SIGTERM has no handler. The handlers of profilers and of errors do not change.
        let signals = [libc::SIGALRM, libc::SIGPROF, libc::SIGFPE, libc::SIGTERM];
        let wanted = [kept | on_stack, kept, kept, 0];
        assert_eq!(signals.map(|signal| flags(signal) & (libc::SA_ONSTACK | kept)), wanted);
        signals_while_ocaml_runs(lock);
        churn(lock);
    })
});

static SIGNALS_AT_ONCE: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count_signals(_: libc::c_int) {
    SIGNALS_AT_ONCE.fetch_add(1, Ordering::SeqCst);
}

/// Sends all these signals to this thread at once.
fn get_at_once(signals: std::ops::Range<libc::c_int>) {
    // SAFETY: the signals have handlers, and all zeros is a set, which is filled.
    unsafe {
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals.clone() {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
        for signal in signals {
            libc::pthread_kill(libc::pthread_self(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
    }
}

// Signal stacks have no room for the handlers of many signals if each interrupts the one before.
test!(many_signals_at_once, || {
    let signals = libc::SIGRTMIN()..libc::SIGRTMIN() + 20;
    for signal in signals.clone() {
        install(signal, count_signals as *const () as libc::sighandler_t);
    }
    protect_signals();
    with_ocaml(|lock| {
        get_at_once(signals.clone());
        lock.release(|| thread::spawn(move || get_at_once(signals)).join().unwrap());
    });
    assert_eq!(SIGNALS_AT_ONCE.load(Ordering::SeqCst), 40);
});

extern "C" fn handler_with_a_large_frame(_: libc::c_int) {
    let mut bytes = [0u8; 40 << 10];
    bytes.iter_mut().for_each(|byte| *byte = std::hint::black_box(1));
    SIGNALS_AT_ONCE.fetch_add(usize::from(std::hint::black_box(&bytes)[77]), Ordering::SeqCst);
}

/// Whether the byte below this thread's signal stack cannot be read.
fn has_guard_page() -> bool {
    let lowest = signal_stack().unwrap() as *const libc::c_void;
    // SAFETY: the system reads the byte, and returns an error if it cannot.
    let written = unsafe {
        let mut ends = [0; 2];
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        libc::write(ends[1], lowest.wrapping_byte_sub(1), 1)
    };
    written == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

// On the thread that started OCaml, on a thread with a new OCaml record, and on a thread that takes
// over a record.
test!(signal_stacks_are_large, ocaml = 5, || {
    install(libc::SIGUSR1, handler_with_a_large_frame as *const () as libc::sighandler_t);
    protect_signals();
    let attach = || {
        DomainLock::with(|_| get_at_once(libc::SIGUSR1..libc::SIGUSR1 + 1)).unwrap();
        assert!(has_guard_page());
    };
    Runtime::start().unwrap();
    attach();
    thread::spawn(attach).join().unwrap();
    thread::spawn(attach).join().unwrap();
    assert_eq!(SIGNALS_AT_ONCE.load(Ordering::SeqCst), 3);
});

// OCaml's modules, which run in `Runtime::start`, may also have handlers and effects.
test!(signal_handlers_while_ocaml_starts, || {
    install(libc::SIGALRM, handler as *const () as libc::sighandler_t);
    protect_signals();
    let body: Run = |lock, _| {
        signals_while_ocaml_runs(lock);
        Ok(())
    };
    *RUN.lock().unwrap() = Some(body);
    Runtime::builder().args(["name", "run"]).start().unwrap();
});

/// Attaches when it is dropped.
struct AttachesAtEnd(&'static Mutex<Vec<Result<(), AttachError>>>);

impl Drop for AttachesAtEnd {
    fn drop(&mut self) {
        let answer = DomainLock::with(churn);
        self.0.lock().unwrap().push(answer);
    }
}

static ANSWERS: Mutex<Vec<Result<(), AttachError>>> = Mutex::new(Vec::new());

thread_local! {
    static AT_END: RefCell<Option<AttachesAtEnd>> = const { RefCell::new(None) };
    static AT_END_TOO: RefCell<Option<AttachesAtEnd>> = const { RefCell::new(None) };
}

test!(attach_at_the_end_of_a_thread, forbid(unsafe_code), || {
    let runtime = start();
    let kept = DomainLock::with(|lock| strings(lock, 1000)).unwrap();
    thread::spawn(|| {
        AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
        DomainLock::with(|_| ()).unwrap();
        AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
    })
    .join()
    .unwrap();
    // Here the destructor is the first on its thread to attach.
    thread::spawn(|| AT_END.set(Some(AttachesAtEnd(&ANSWERS)))).join().unwrap();
    let answers = ANSWERS.lock().unwrap();
    assert_eq!(*answers, [Ok(()), Ok(()), Ok(())]);
    DomainLock::with(|lock| check(lock, &kept)).unwrap();
    runtime.shutdown().unwrap();
});

fn attach_at_end(lock: &mut DomainLock) {
    AT_END.set(Some(AttachesAtEnd(&ANSWERS)));
    lock.release(|| DomainLock::with(churn)).unwrap();
    AT_END_TOO.set(Some(AttachesAtEnd(&ANSWERS)));
}

fn wait_for_answers(lock: &mut DomainLock, count: usize) {
    lock.release(|| {
        while ANSWERS.lock().unwrap().len() < count {
            thread::yield_now();
        }
    });
}

/// Makes OCaml run `attach_at_end`; `how` is as for `ocaml`.
fn ocaml_attaches_at_end(lock: &mut DomainLock, how: &str, n: isize) {
    let body: Run = |lock, _| {
        attach_at_end(lock);
        Ok(())
    };
    ocaml(lock, how, n, body).unwrap();
}

test!(attach_at_the_end_of_a_thread_of_ocaml, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..10 {
            ocaml_attaches_at_end(lock, "run_in_a_thread", n);
            wait_for_answers(lock, 2 * (n as usize + 1));
        }
        churn(lock);
        check(lock, &kept);
    })
});

test!(attach_at_the_end_of_a_domain, forbid(unsafe_code), ocaml = 5, || {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..10 {
            ocaml_attaches_at_end(lock, "run_in_a_domain", n);
        }
        wait_for_answers(lock, 20);
        assert!(ANSWERS
            .lock()
            .unwrap()
            .iter()
            .all(|a| a == &Err(AttachError::ThreadNotRegistered)));
        churn(lock);
        check(lock, &kept);
    })
});

test!(roots_at_the_end_of_threads_of_ocaml, forbid(unsafe_code), || {
    thread_local! {
        static ROOTS: RefCell<Strings> = const { RefCell::new(Vec::new()) };
    }
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..50 {
            // The thread drops these roots after it has released the lock, while this thread makes
            // roots.
            let body: Run = |lock, _| {
                ROOTS.set(strings(lock, 3000));
                Ok(())
            };
            ocaml(lock, "run_in_a_thread", n, body).unwrap();
            drop(strings(lock, 3000));
            check(lock, &kept);
        }
        churn(lock);
        lock.release(|| {
            while stats().live_roots > 1000 {
                thread::yield_now();
                DomainLock::with(|_| stats()).unwrap();
            }
        });
        check(lock, &kept);
    })
});

test!(without_the_threads_library, || {
    let program = command(env!("CARGO_BIN_EXE_no_threads")).status();
    assert!(program.unwrap().success());
});
