//! Roots whose values are known.

use super::raw::*;
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use sys::{BoxRoot, Value};

pub fn root_of(v: Value) -> BoxRoot {
    unsafe { sys::boxroot_create(v) }.expect("a root")
}

/// A root for the OCaml string `n`.
pub fn root(n: usize) -> BoxRoot {
    root_of(ocaml("string", &[int(n)]))
}

pub fn roots(range: std::ops::Range<usize>) -> Vec<BoxRoot> {
    range.map(root).collect()
}

pub fn check(root: BoxRoot, n: usize) {
    assert_eq!(string(unsafe { sys::boxroot_get(root) }), n.to_string());
}

/// Checks that roots made by `roots(first..)` have their values.
pub fn check_all(roots: &[BoxRoot], first: usize) {
    for (i, &root) in roots.iter().enumerate() {
        check(root, first + i);
    }
}

pub fn delete(root: BoxRoot) {
    unsafe { sys::boxroot_delete(root) }
}

pub fn delete_all(roots: &[BoxRoot]) {
    roots.iter().for_each(|&root| delete(root));
}

pub fn modify(root: &mut BoxRoot, v: Value) -> bool {
    unsafe { sys::boxroot_modify(root, v) }
}

pub fn live() -> usize {
    sys::boxroot_stats().live_roots
}

/// Roots that may move from one thread to another.
pub struct Roots(pub Vec<BoxRoot>);

unsafe impl Send for Roots {}

pub static HANDED_OVER: Mutex<Roots> = Mutex::new(Roots(Vec::new()));

pub static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Stores roots for code that will delete them: `delete_handed_over` or `check_handed_over`.
pub fn hand_over(roots: Vec<BoxRoot>) {
    HANDED_OVER.lock().unwrap().0.extend(roots);
}

pub fn take_handed_over() -> Vec<BoxRoot> {
    std::mem::take(&mut HANDED_OVER.lock().unwrap().0)
}

/// Deletes `n` of the roots that were handed over.
pub extern "C" fn delete_handed_over(n: Value) -> Value {
    let mut handed_over = HANDED_OVER.lock().unwrap();
    let left = handed_over.0.len().saturating_sub(to_int(n));
    delete_all(&handed_over.0.split_off(left));
    CALLS.fetch_add(1, Ordering::SeqCst);
    UNIT
}

/// Deletes roots on threads that OCaml does not know, while this thread runs `work` repeatedly.
pub fn with_foreign_deleters(threads: usize, deletable: Vec<BoxRoot>, mut work: impl FnMut(usize)) {
    let per_thread = deletable.len().div_ceil(threads).max(1);
    let running = std::sync::Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = deletable
        .chunks(per_thread)
        .map(|chunk| {
            let roots = Roots(chunk.to_vec());
            let running = running.clone();
            running.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let roots = roots;
                for &root in &roots.0 {
                    delete(root);
                }
                running.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    let mut round = 0;
    while running.load(Ordering::SeqCst) > 0 || round == 0 {
        work(round);
        round += 1;
    }
    without_lock(|| handles.into_iter().for_each(|h| h.join().unwrap()));
}

/// Makes `n` roots and hands them over. Run in a domain that ends afterwards.
pub extern "C" fn make_and_hand_over(n: Value) -> Value {
    let made = roots(0..to_int(n));
    hand_over(made);
    UNIT
}

/// Checks that the handed-over roots, in groups of `n`, have their values, and deletes them.
pub fn check_handed_over(n: usize) {
    let handed_over = take_handed_over();
    assert_eq!(handed_over.len() % n, 0);
    for run in handed_over.chunks(n) {
        check_all(run, 0);
    }
    delete_all(&handed_over);
    assert_eq!(live(), 0);
}

/// Roots on one value of each shape.
pub fn specimen_roots() -> Vec<BoxRoot> {
    let array = root_of(ocaml("specimens", &[UNIT]));
    let count = if OCAML5 { 17 } else { 16 };
    let roots = (0..count)
        .map(|i| unsafe {
            let fields = sys::boxroot_get(array) as *const Value;
            root_of(*fields.add(i))
        })
        .collect();
    delete(array);
    roots
}

pub fn check_specimens(roots: &[BoxRoot]) {
    for (i, &root) in roots.iter().enumerate() {
        let ok = ocaml("check_specimen", &[int(i), unsafe { sys::boxroot_get(root) }]);
        assert_eq!(ok, int(1), "specimen {i} is not what it was");
    }
}

/// Runs `f` while another domain waits without its lock.
pub fn beside_a_domain(f: impl FnOnce()) {
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn wait(_: Value) -> Value {
        PHASE.store(1, Ordering::SeqCst);
        without_lock(|| wait_for(&PHASE, 2));
        UNIT
    }
    call_rust("spawn", wait, 0);
    without_lock(|| wait_for(&PHASE, 1));
    f();
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
}

/// `n` roots of strings, and among them roots of one large array, in each pool: the first pool that
/// the collector visits keeps it busy for a while. A long list would not: from OCaml 5.5 on, the
/// collector takes more from its stack while it waits for memory.
pub fn roots_long_to_mark(n: usize) -> (Vec<BoxRoot>, Vec<BoxRoot>) {
    let array = ocaml("array_of_blocks", &[int(1_000_000)]);
    let mut arrays = vec![root_of(array)];
    let mut all = Vec::with_capacity(n);
    for i in 0..n {
        if i % 500 == 0 {
            arrays.push(root_of(unsafe { sys::boxroot_get(arrays[0]) }));
        }
        all.push(root(i));
    }
    full_major();
    (all, arrays)
}

/// Returns at the beginning of a major cycle, when roots were handed over to be marked, but values
/// are not marked yet. A domain that waits for another one marks meanwhile. If it has marked
/// everything, the next cycle is tried.
pub fn when_roots_are_marked() {
    for _ in 0..100 {
        full_major();
        let scans = sys::boxroot_stats().major_scans;
        while sys::boxroot_stats().major_scans == scans {
            ocaml("churn_major", &[int(20)]);
        }
        // On OCaml 4 nothing is handed over.
        if cfg!(not(ocaml5)) || !unsafe { bxr_runtime_marking_done() } {
            return;
        }
    }
    panic!("everything is marked as soon as it is handed over");
}
