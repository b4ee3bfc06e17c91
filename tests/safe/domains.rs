//! Threads and domains that wait for each other by Rust's locks, condition variables and joins.

use crate::common::exported::{churn, with_ocaml, Run};
use crate::ocaml;
use ocaml_boxroot::{
    Boxroot, CondvarExt, DomainLock, JoinHandleExt, MutexExt, OCamlString, OnceLockExt, RwLockExt,
    ToOCaml,
};
use std::sync::{Condvar, Mutex, OnceLock, RwLock};
use std::thread;

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

/// Runs `run` in a new OCaml domain, and at the same time `body` on a new thread of the first domain.
fn in_two_domains(body: fn(&mut DomainLock), run: Run) {
    with_ocaml(|lock| {
        let other = thread::spawn(move || DomainLock::attach(body).unwrap());
        ocaml(lock, "run_in_a_domain", 0, run).unwrap();
        other.join_released(lock).unwrap();
        churn(lock);
    });
}

pub fn domains_contend_for_a_mutex() {
    let run: Run = |lock, _| {
        push_roots(lock);
        Ok(())
    };
    in_two_domains(push_roots, run);
    assert_eq!(ROOTS.lock().unwrap().len(), 200);
}

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

pub fn domains_contend_for_the_rest() {
    let run: Run = |lock, _| {
        contend(lock, 0);
        Ok(())
    };
    in_two_domains(|lock| contend(lock, 1), run);
    assert_eq!((MANY.read().unwrap().len(), *TURN.lock().unwrap()), (100, 100));
}

pub fn threads_wait_for_each_other() {
    with_ocaml(|lock| {
        let other = thread::spawn(|| DomainLock::attach(|lock| contend(lock, 1)).unwrap());
        contend(lock, 0);
        thread::scope(|scope| {
            scope.spawn(|| DomainLock::attach(churn).unwrap()).join_released(lock).unwrap()
        });
        other.join_released(lock).unwrap();
    });
    assert_eq!((MANY.read().unwrap().len(), *TURN.lock().unwrap()), (100, 100));
}
