//! Domains that end, or drop each other's roots. Threads and domains that wait for each other
//! through Rust's locks, condition variables and joins.

use crate::support::exported::{Run, HANDED_OVER};
use crate::support::safe::*;
use ocaml_boxroot::bigarray::OCamlArray1;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::sync::{CondvarExt, JoinHandleExt, MutexExt, OnceLockExt, RwLockExt};
use ocaml_boxroot::{Boxroot, DomainLock, OCamlBytes, OCamlString, ToOCaml};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

test!(drop_in_another_domain, ocaml = 5, || {
    with_ocaml(|lock| {
        let mine = strings(lock, 5000);
        *HANDED_OVER.lock().unwrap() = strings(lock, 5000);
        through_ocaml(lock, "drop_roots_in_a_domain", 0).unwrap();
        churn(lock);
        assert_eq!(stats().live_roots, 5000);
        check(lock, &mine);
    })
});

type Root = Boxroot<OCamlString>;

static ROOTS: Mutex<Vec<Root>> = Mutex::new(Vec::new());

/// Allocates, so that a collection may run, while it holds the mutex. Both domains do this.
fn push_roots(lock: &mut DomainLock) {
    for i in 0..100 {
        let mut roots = ROOTS.lock_released(lock).unwrap();
        roots.push(i.to_string().to_ocaml(lock).unwrap());
        for _ in 0..3000 {
            lock.alloc_string([b'x'; 100]).unwrap();
        }
    }
}

/// Runs `run` in a new OCaml domain, and at the same time `body` on a new thread of the first
/// domain.
fn in_two_domains(body: fn(&mut DomainLock), run: Run) {
    with_ocaml(|lock| {
        let other = thread::spawn(move || DomainLock::with(body).unwrap());
        ocaml(lock, "run_in_a_domain", 0, run).unwrap();
        other.join_released(lock).unwrap();
        churn(lock);
    });
}

test!(domains_contend_for_a_mutex, ocaml = 5, || {
    let run: Run = |lock, _| {
        push_roots(lock);
        Ok(())
    };
    in_two_domains(push_roots, run);
    assert_eq!(ROOTS.lock().unwrap().len(), 200);
});

static ONE: OnceLock<Root> = OnceLock::new();

static MANY: RwLock<Vec<Root>> = RwLock::new(Vec::new());

static TURN: Mutex<usize> = Mutex::new(0);

static NEXT: Condvar = Condvar::new();

fn contend(lock: &mut DomainLock, me: usize) {
    let one = ONE.get_or_init_released(lock, |lock| {
        churn(lock);
        "one".to_ocaml(lock).unwrap()
    });
    for i in 0..50 {
        let mut many = MANY.write_released(lock).unwrap();
        many.push(i.to_string().to_ocaml(lock).unwrap());
        churn(lock);
        drop(many);
        let many = MANY.read_released(lock).unwrap();
        churn(lock);
        assert!(!many.is_empty());
        drop(many);
        let mut turn = TURN.lock_released(lock).unwrap();
        while *turn % 2 != me {
            turn = NEXT.wait_released(lock, turn).unwrap();
        }
        churn(lock);
        *turn += 1;
        NEXT.notify_all();
    }
    assert_eq!(one.get(lock).to_string_lossy(), "one");
}

test!(domains_contend_for_the_rest, ocaml = 5, || {
    let run: Run = |lock, _| {
        contend(lock, 0);
        Ok(())
    };
    in_two_domains(|lock| contend(lock, 1), run);
    assert_eq!((MANY.read().unwrap().len(), *TURN.lock().unwrap()), (100, 100));
});

test!(threads_wait_for_each_other, || {
    with_ocaml(|lock| {
        let other = thread::spawn(|| DomainLock::with(|lock| contend(lock, 1)).unwrap());
        contend(lock, 0);
        thread::scope(|scope| {
            scope.spawn(|| DomainLock::with(churn).unwrap()).join_released(lock).unwrap()
        });
        other.join_released(lock).unwrap();
    });
    assert_eq!((MANY.read().unwrap().len(), *TURN.lock().unwrap()), (100, 100));
});

test!(bytes_change_while_they_are_read, forbid(unsafe_code), ocaml = 5, || {
    with_ocaml(|lock| {
        let bytes: Boxroot<OCamlBytes> = [b'a'; 10_000][..].to_ocaml(lock).unwrap();
        let start_changing = function::<(OCamlBytes,), ()>(lock, "start_changing");
        start_changing.call(lock, &bytes).unwrap();
        for _ in 0..1000 {
            let copy = bytes.get(lock).to_bytes();
            assert_eq!(copy.len(), 10_000);
            assert!(copy.iter().all(|&b| b == b'a' || b == b'b'));
            churn_a_little(lock);
        }
        function::<(OCamlBytes,), ()>(lock, "stop_changing").call(lock, &bytes).unwrap();
    })
});

static FROM_A_DOMAIN: Mutex<Strings> = Mutex::new(Vec::new());

test!(roots_live_on_after_their_domain, forbid(unsafe_code), ocaml = 5, || {
    let runtime = start();
    DomainLock::with(|lock| {
        for n in 0..20 {
            ocaml(lock, "run_in_a_domain", n, |lock, _| {
                *FROM_A_DOMAIN.lock().unwrap() = strings(lock, 2000);
                Ok(())
            })
            .unwrap();
            let roots = std::mem::take(&mut *FROM_A_DOMAIN.lock().unwrap());
            churn(lock);
            check(lock, &roots);
            lock.release(|| thread::spawn(move || drop(roots)).join().unwrap());
        }
        churn(lock);
        assert_eq!(stats().live_roots, 0);
    })
    .unwrap();
    runtime.shutdown().unwrap();
});

/// A root that its finaliser moves to the end of the thread on which it runs, if that is not this
/// thread. Only the first finaliser does that.
struct MovesOn(Option<Boxroot<OCamlString>>, thread::ThreadId);

impl Drop for MovesOn {
    fn drop(&mut self) {
        if thread::current().id() != self.1 && !HAS_MOVED_ON.swap(true, Ordering::SeqCst) {
            if UNBLOCKS_SIGNALS.load(Ordering::SeqCst) {
                unblock_signals();
            }
            DROPPED_LATE.set(Some(DroppedLate(self.0.take())));
        }
    }
}

static UNBLOCKS_SIGNALS: AtomicBool = AtomicBool::new(false);

/// Unblocks signals, as some crates do in a safe function.
fn unblock_signals() {
    // SAFETY: an empty set is a set, and all handlers of this process may run on any thread.
    let result = unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut())
    };
    assert_eq!(result, 0);
}

struct DroppedLate(Option<Boxroot<OCamlString>>);

impl Drop for DroppedLate {
    fn drop(&mut self) {
        let state = ocaml_boxroot_sys::lock_state();
        drop(self.0.take());
        *LOCK_AT_END.lock().unwrap() = Some(state);
    }
}

thread_local! {
    static DROPPED_LATE: Cell<Option<DroppedLate>> = const { Cell::new(None) };
}

static HAS_MOVED_ON: AtomicBool = AtomicBool::new(false);

static LOCK_AT_END: Mutex<Option<ocaml_boxroot_sys::LockState>> = Mutex::new(None);

// While a domain waits, its backup thread collects for it, and runs finalisers. When the backup
// thread ends, it does not hold the lock, and another domain may have its domain's number.
test!(roots_at_the_end_of_a_backup_thread, forbid(unsafe_code), ocaml = 5, || {
    end_a_backup_thread();
});

test!(roots_at_the_end_of_a_backup_thread_with_signals, forbid(unsafe_code), ocaml = 5, || {
    UNBLOCKS_SIGNALS.store(true, Ordering::SeqCst);
    end_a_backup_thread();
});

#[forbid(unsafe_code)]
fn end_a_backup_thread() {
    with_ocaml(|lock| {
        let collector = thread::spawn(|| {
            while !HAS_MOVED_ON.load(Ordering::SeqCst) {
                DomainLock::with(churn).unwrap();
            }
        });
        ocaml(lock, "run_in_a_domain", 0, |lock, _| {
            while !HAS_MOVED_ON.load(Ordering::SeqCst) {
                let root = string(lock, "moves on");
                lock.alloc_box(MovesOn(Some(root), thread::current().id()))?;
                lock.release(|| thread::sleep(Duration::from_millis(1)));
            }
            Ok(())
        })
        .unwrap();
        lock.release(|| {
            collector.join().unwrap();
            while LOCK_AT_END.lock().unwrap().is_none() {
                thread::yield_now();
            }
        });
        assert_ne!(*LOCK_AT_END.lock().unwrap(), Some(ocaml_boxroot_sys::LockState::Held));
        full_major(lock);
    });
    assert_no_roots();
}

static STOP: AtomicBool = AtomicBool::new(false);

static COLLECTIONS: AtomicUsize = AtomicUsize::new(0);

fn collect_until_stop(lock: &mut DomainLock) {
    while !STOP.load(Ordering::SeqCst) {
        full_major(lock);
        COLLECTIONS.fetch_add(1, Ordering::SeqCst);
    }
}

// A value that was read under a token lives as long as the token is borrowed, even if its root is
// dropped and another domain runs the collector.
test!(references_outlive_their_roots, forbid(unsafe_code), ocaml = 5, || {
    start();
    let collector = thread::spawn(|| {
        DomainLock::with(|lock| {
            ocaml(lock, "run_in_a_domain", 0, |lock, _| {
                collect_until_stop(lock);
                Ok(())
            })
            .is_ok()
        })
    });
    for round in 0..60 {
        DomainLock::with(|lock| {
            let canary = boxed(lock, Canary(Canary::ALIVE));
            let text = string(lock, "read where it is");
            let numbers: Boxroot<OCamlArray1<f64>> = vec![0.5; 1000].to_ocaml(lock).unwrap();
            if round % 3 == 0 {
                let enough = COLLECTIONS.load(Ordering::SeqCst) + 2; // they are old then
                lock.release(|| {
                    while COLLECTIONS.load(Ordering::SeqCst) < enough {
                        thread::yield_now();
                    }
                });
            }
            let alive = &canary.get(lock).get().0;
            let bytes = text.get(lock).as_bytes();
            let cells = numbers.get(lock).cells();
            let roots = (canary, text, numbers);
            match round % 2 {
                0 => drop(roots),
                _ => thread::spawn(move || drop(roots)).join().unwrap(),
            }
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(3) {
                assert_eq!((*alive, bytes), (Canary::ALIVE, &b"read where it is"[..]));
                assert!(cells.iter().all(|cell| cell.get() == 0.5));
            }
        })
        .unwrap();
    }
    STOP.store(true, Ordering::SeqCst);
    assert_eq!(collector.join().unwrap(), Ok(true));
});
