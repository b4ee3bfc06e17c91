//! The counts of the statistics.

use crate::common::{self, *};
use crate::support::*;
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::Value;

pub fn statistics_count() {
    start();
    let all = roots(0..10_000);
    let s = sys::boxroot_stats();
    assert_eq!(s.live_roots, 10_000);
    assert_eq!(s.pools, 10_000_usize.div_ceil(s.slots_per_pool));
    assert_eq!(s.domains, 1);
    let scans = s.minor_scans;
    minor();
    full_major();
    let s = sys::boxroot_stats();
    assert!(s.minor_scans > scans && s.major_scans > 0);
    // A thread without the lock sees the counts of the last major scan.
    let more = roots(0..10_000);
    full_major();
    assert_eq!(on_foreign_thread(live), 20_000);
    delete_all(&more);
    delete_all(&all);
    let s = sys::boxroot_stats();
    assert_eq!(s.live_roots, 0);
    sys::print_stats();
    // The code that marks a single pool is different.
    let few = roots(0..100);
    full_major();
    assert_eq!(on_foreign_thread(live), 100);
    delete_all(&few);
}

pub fn statistics_by_state() {
    start();
    let all = roots(0..50_000);
    full_major();
    let s = sys::boxroot_stats();
    let slots = s.slots_per_pool;
    assert!(s.pools_full >= 50_000 / slots - 1 && s.pools_current == 1, "{s:?}");
    assert_eq!(s.pools, s.pools_current + s.pools_full + s.pools_partial + s.pools_empty);
    assert_eq!(s.bytes % s.pools, 0);
    assert!(s.longest_major_scan > 0 && s.longest_minor_scan > 0, "{s:?}");
    // Most roots of the first pools are deleted, so these pools have room then. The last pools become empty.
    finish_marking();
    for (i, &r) in all.iter().enumerate() {
        if i >= 20_000 || i % 16 != 0 {
            delete(r);
        }
    }
    let s = sys::boxroot_stats();
    assert_eq!(s.live_roots, 20_000 / 16);
    assert!(s.pools_partial >= 20_000 / slots - 1, "{s:?}");
    assert!(s.pools_empty >= 30_000 / slots - 2, "{s:?}");
    let deferred = s.deferred_deletes;
    let r = Roots(vec![root(1)]);
    on_foreign_thread(move || delete_all(&{ r }.0));
    assert_eq!(sys::boxroot_stats().deferred_deletes, deferred + 1);
    validate();
}

pub fn statistics_of_several_domains() {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        without_lock(|| common::wait_for(&PHASE, phase));
    }
    extern "C" fn body(n: Value) -> Value {
        let mut made = roots(0..to_int(n));
        hand_over(made.split_off(to_int(n) - 100));
        // Some pools with room: young ones, which are not being marked.
        let few = roots(0..6000);
        few.iter().enumerate().filter(|(i, _)| i % 6 != 0).for_each(|(_, &root)| delete(root));
        made.extend(few.iter().step_by(6));
        live(); // publishes this domain's counts
        PHASE.store(1, Ordering::SeqCst);
        wait_for(2);
        delete_all(&made);
        UNIT
    }
    let mine = roots(0..5000);
    let before = sys::boxroot_stats();
    call_rust("spawn", body, 10_000);
    wait_for(1);
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.domains), (16_000, 2));
    assert!(s.pools_partial >= 2, "{s:?}");
    let pools = |n: usize| n.div_ceil(s.slots_per_pool);
    assert!(s.pools >= pools(5000) + pools(10_000), "{s:?}");
    let by_state = s.pools_current + s.pools_full + s.pools_partial + s.pools_empty;
    assert!(by_state >= pools(5000) + pools(10_000) && s.pools_full >= pools(15_000) - 3, "{s:?}");
    // Both domains scan in each minor collection. The deletes arrive with the second one.
    delete_handed_over(int(100));
    minor();
    minor();
    let after = sys::boxroot_stats();
    assert!(after.minor_scans >= s.minor_scans + 4, "{s:?} {after:?}");
    assert_eq!(after.deferred_deletes, before.deferred_deletes + 100);
    full_major();
    assert_eq!(live(), 15_900);
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    full_major();
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.domains), (5000, 1));
    delete_all(&mine);
}
