//! Forks while others use the library.

use crate::support::{process::in_a_child, raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use sys::{BoxRoot, Value};

test!(fork_while_a_thread_deletes, || {
    start();
    let kept = roots(0..1000);
    static KEPT: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    KEPT.lock().unwrap().0 = kept.clone();
    // In the child: collect, check the roots that are not deleted, make and delete more.
    extern "C" fn in_child(_: Value) -> Value {
        stress();
        check_all(&KEPT.lock().unwrap().0, 0);
        let more = roots(0..10_000);
        minor();
        delete_all(&more);
        stress();
        UNIT
    }
    let deletable = roots(0..400_000);
    let mut forks = 0;
    with_foreign_deleters(1, deletable, |_| {
        let status = ocaml("fork", &[int(in_child as *const () as usize), int(0)]);
        assert_eq!(status, int(0), "the child failed");
        forks += 1;
    });
    assert!(forks > 0);
    stress();
    assert_eq!(live(), 1000);
    check_all(&kept, 0);
});

// A deleter that read a pool's owner before the pool was adopted pushes the pool on the drain list
// of the former owner. The process forks before the deleter can correct that. That list must become
// empty in the child. Otherwise the pool would be on two lists as soon as a domain reuses the
// former owner's record.
test!(fork_while_a_delete_goes_to_a_former_owner, ocaml = 5, || {
    start();
    let kept = roots(0..100);
    call_rust("spawn", make_and_hand_over, 100);
    ocaml("join_all", &[UNIT]);
    minor();
    assert!(unsafe { test_begin_delete(kept[0], true) }, "the domain that ended left its record");
    fork_and_look_at_drain_lists();
});

/// Forks while one pool is on a drain list because of an announced delete. Only the deleter's
/// thread could finish that delete, and it is not in the child.
fn fork_and_look_at_drain_lists() {
    assert_eq!(unsafe { test_drain_lists() }, 1);
    in_a_child(|| assert_eq!(unsafe { test_drain_lists() }, 0));
}

/// Forks, and makes the child use its domain's roots. The collector cannot run in the child,
/// because it would wait for the other domains.
fn fork_and_use_roots(kept: &[BoxRoot]) {
    in_a_child(|| {
        let more: Vec<_> = (0..10_000).map(|_| root_of(int(46))).collect();
        check_all(kept, 0);
        delete_all(&more);
        validate();
    });
}

test!(fork_while_domains_run, ocaml = 5, || {
    start();
    static STOP: AtomicBool = AtomicBool::new(false);
    // Changes the lists of its pools all the time, and deletes another domain's roots.
    extern "C" fn work(_: Value) -> Value {
        while !STOP.load(Ordering::SeqCst) {
            let made: Vec<_> = (0..20_000).map(|_| root_of(int(46))).collect();
            delete_handed_over(int(100));
            delete_all(&made);
        }
        UNIT
    }
    for _ in 0..3 {
        call_rust("spawn", work, 0);
    }
    let kept = roots(0..5000);
    for _ in 0..50 {
        hand_over(roots(0..100));
        fork_and_use_roots(&kept);
    }
    STOP.store(true, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    stress();
    check_all(&kept, 0);
});

test!(fork_while_a_domain_changes_its_lists, ocaml = 5, || {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(_: Value) -> Value {
        extern "C" fn wait_for_the_fork() {
            PHASE.store(1, Ordering::SeqCst);
            wait_for(&PHASE, 2);
        }
        // From now on nothing is allocated, because no collection may stop this domain.
        let immediates = || -> Vec<_> { (0..10_000).map(|i| root_of(int(i))).collect() };
        let made = immediates();
        unsafe { test_promote() };
        let more = immediates();
        unsafe { test_in_the_midst_of_a_promotion(wait_for_the_fork) };
        delete_all(&made);
        delete_all(&more);
        UNIT
    }
    let kept = roots(0..5000);
    call_rust("spawn", body, 0);
    without_lock(|| wait_for(&PHASE, 1));
    fork_and_use_roots(&kept);
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    check_all(&kept, 0);
    assert_eq!(live(), 5000);
});

test!(fork_while_domains_run_and_a_delete_is_under_way, ocaml = 5, || {
    start();
    let kept = roots(0..100);
    beside_a_domain(|| {
        assert!(unsafe { test_begin_delete(kept[0], false) });
        fork_and_look_at_drain_lists();
    });
});
