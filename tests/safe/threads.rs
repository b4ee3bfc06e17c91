//! Threads that come and go.

use crate::common::exported::{churn, with_ocaml};
use crate::common::{caml_c_thread_register, caml_c_thread_unregister};
use crate::ocaml;
use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlString, Runtime, ToOCaml};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::{mpsc, Barrier};
use std::thread;

/// OCaml's `Thread.id` of this thread.
fn thread_id(lock: &mut DomainLock) -> isize {
    ocaml(lock, "thread_id", 0, |_, _| Ok(())).unwrap()
}

/// Attaches on `count` threads, at most `at_once` at a time, and returns the largest `Thread.id` of them.
fn largest_id(count: usize, at_once: usize) -> isize {
    static LARGEST: AtomicIsize = AtomicIsize::new(0);
    let work = || {
        let id = DomainLock::attach(thread_id).unwrap();
        LARGEST.fetch_max(id, Ordering::SeqCst);
    };
    for _ in 0..count / at_once {
        let threads: Vec<_> = (0..at_once).map(|_| thread::spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    LARGEST.load(Ordering::SeqCst)
}

/// The size of this process, in bytes.
fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    // SAFETY: the function only reads a setting.
    let page_size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * page_size
}

pub fn a_hundred_thousand_short_threads() {
    Runtime::start().unwrap();
    let first = largest_id(1000, 4);
    let before = memory();
    // OCaml knows no more threads than lived at the same time, so minor collections scan no more of them. (A
    // thread may end a little after it was joined.)
    assert!(largest_id(100_000, 4) <= first + 40);
    let after = memory();
    assert!(after < before + (16 << 20), "{before} bytes have become {after}");
}

pub fn threads_that_come_back_at_once() {
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
                        DomainLock::attach(|lock| text.to_ocaml(lock)).unwrap().unwrap();
                    together.wait();
                    DomainLock::attach(|lock| {
                        churn(lock);
                        lock.release(thread::yield_now);
                        assert_eq!(root.get(lock).to_string_lossy(), text);
                    })
                    .unwrap();
                });
            }
        });
    }
    let id = DomainLock::attach(thread_id).unwrap();
    assert_eq!(id, 0, "the main thread");
    assert!(largest_id(10, 1) <= 2 * AT_ONCE as isize + 40);
}

pub fn a_worker_that_ends_is_joined_under_the_lock() {
    with_ocaml(|lock| {
        let (go, goes) = mpsc::channel::<()>();
        let (registered, is_registered) = mpsc::channel();
        let worker = thread::spawn(move || {
            DomainLock::attach(|_| ()).unwrap();
            registered.send(()).unwrap();
            goes.recv().unwrap();
        });
        lock.release(|| is_registered.recv().unwrap());
        go.send(()).unwrap();
        worker.join().unwrap();
    });
}

pub fn threads_end_while_the_lock_is_held() {
    with_ocaml(|lock| {
        for _ in 0..200 {
            let attach = || thread::spawn(|| DomainLock::attach(thread_id).unwrap());
            let threads = [(); 8].map(|()| attach());
            lock.release(|| threads.into_iter().for_each(|thread| _ = thread.join().unwrap()));
            churn(lock);
        }
    });
    assert!(largest_id(10, 1) <= 60);
}

pub fn shutdown_races_with_attach() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let mut runtime = Runtime::start().unwrap();
    let worker = || {
        thread::spawn(|| loop {
            match DomainLock::attach(|lock| lock.release(thread::yield_now)) {
                Ok(()) if STOP.load(Ordering::SeqCst) => return,
                Ok(()) => {}
                Err(error) => return assert_eq!(error, Error::TornDown),
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
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::TornDown));
}

/// A thread that another library has registered cannot attach, whether there is an idle record or not. It can after the
/// library has unregistered it.
pub fn a_thread_of_another_library() {
    Runtime::start().unwrap();
    for _ in 0..10 {
        let library = thread::spawn(|| {
            // SAFETY: the program links systhreads. OCaml does not know this thread, which does not hold the lock.
            let (registered, answer, unregistered) = unsafe {
                (caml_c_thread_register(), DomainLock::attach(churn), caml_c_thread_unregister())
            };
            assert_eq!((registered, unregistered), (1, 1));
            assert_eq!(answer, Err(Error::ThreadNotRegistered));
            DomainLock::attach(churn).unwrap();
        });
        library.join().unwrap();
        thread::spawn(|| DomainLock::attach(churn).unwrap()).join().unwrap();
    }
}

/// The stack for this thread's signal handlers, if it has one.
fn signal_stack() -> Option<usize> {
    // SAFETY: all zeros is a `stack_t`, which the function fills.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        assert_eq!(libc::sigaltstack(std::ptr::null(), &mut stack), 0);
        (stack.ss_flags & libc::SS_DISABLE == 0).then_some(stack.ss_sp as usize)
    }
}

/// Attaches on a new thread, which has no signal stack, like Rust's threads in programs that OCaml started. Returns the one
/// that it has then, and had while another thread was attached.
fn signal_stack_of_a_thread(attached: &Barrier) -> usize {
    // SAFETY: a stack that is disabled needs no memory.
    unsafe {
        let mut none: libc::stack_t = std::mem::zeroed();
        none.ss_flags = libc::SS_DISABLE;
        assert_eq!(libc::sigaltstack(&none, std::ptr::null_mut()), 0);
    }
    DomainLock::attach(churn).unwrap();
    let stack = signal_stack();
    attached.wait();
    stack.expect("OCaml 5 runs signal handlers on a stack of their own")
}

pub fn signal_stacks_are_passed_on() {
    Runtime::start().unwrap();
    for _ in 0..3 {
        let attached = &Barrier::new(2);
        let stacks = thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| signal_stack_of_a_thread(attached)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_ne!(stacks[0], stacks[1]);
    }
}
