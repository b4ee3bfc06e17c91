//! The collector's work on roots: compaction, verification, marking in slices.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::{BoxRoot, Value};

// v=0 replaces V=1, which `make sanitize ONLY=debug` sets. With V=1, the debug runtime of OCaml 5.3
// asserts that its statistics are right after a compaction, but they are wrong if there was garbage
// (a pure OCaml program also fails; see docs/known-of-ocaml.md).
test!(compaction_while_roots_are_deleted, environment = &[("OCAMLRUNPARAM", "v=0")], || {
    start();
    let strings = roots(0..50_000);
    let specimens = specimen_roots();
    // There is garbage between the values, so that compaction moves them.
    let garbage = roots(0..50_000);
    full_major();
    delete_all(&garbage);
    // Threads without the lock delete while the heap is compacted.
    let deletable = roots(0..300_000);
    with_foreign_deleters(1, deletable, |_| {
        ocaml("compact", &[UNIT]);
    });
    ocaml("compact", &[UNIT]);
    check_all(&strings, 0);
    check_specimens(&specimens);
    assert_eq!(live(), 50_000 + specimens.len());
});

// A domain ends while its pools are being marked. Its roots belong to custom blocks, which a
// compaction at the end of the cycle finalises. The colours of the next cycle are in use then, and
// nothing may be darkened yet. (v=0: as above.)
test!(finalisers_run_in_a_compaction, ocaml = 5, environment = &[("OCAMLRUNPARAM", "v=0")], || {
    start();
    const N: usize = 6000;
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        without_lock(|| crate::support::raw::wait_for(&PHASE, phase));
    }
    extern "C" fn body(_: Value) -> Value {
        hand_over((0..N).map(|i| root_of(unsafe { test_pair(int(i)) })).collect());
        PHASE.store(1, Ordering::SeqCst);
        wait_for(2);
        UNIT
    }
    call_rust("spawn", body, 0);
    wait_for(1);
    let theirs = take_handed_over();
    let values: Vec<_> = theirs.iter().map(|&r| root_of(unsafe { sys::boxroot_get(r) })).collect();
    // Neighbouring blocks of one size. Some become free, so that there is something to compact.
    let (mut free, mut owners, mut kept) = (vec![], vec![], vec![]);
    for &root in &theirs {
        free.extend((0..3).map(|i| root_of(unsafe { test_pair(int(i)) })));
        owners.push(root_of(unsafe { test_custom_owner(Some(root)) }));
        kept.push(root_of(unsafe { test_pair(int(0)) }));
    }
    full_major();
    delete_all(&free);
    full_major();
    full_major();
    delete_all(&owners);
    // On OCaml 5.5 a cycle begins with sweeping, so the blocks become garbage only in the next
    // cycle.
    if env!("OCAML_VERSION") < "5.5" {
        unsafe { caml_finish_major_cycle(0) };
    }
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    minor();
    let before = unsafe { test_finalised() };
    unsafe { caml_finish_major_cycle(1) };
    // OCaml 5.1 does not compact, and 5.5 finalises before it compacts.
    if ("5.2".."5.5").contains(&env!("OCAML_VERSION")) {
        assert!(unsafe { test_finalised() } > before, "the compaction finalised something");
    }
    full_major();
    full_major();
    assert_eq!((unsafe { test_finalised() }, live()), (N, 2 * N));
    for (i, &value) in values.iter().enumerate() {
        assert_eq!(unsafe { *(sys::boxroot_get(value) as *const Value) }, int(i));
    }
    validate();
});

test!(the_heap_is_verified, environment = &[("OCAMLRUNPARAM", "V=1,s=4k")], || {
    // With V=1 the runtime verifies the heap in every cycle, and calls the library's hook for this.
    start();
    let specimens = specimen_roots();
    let strings = roots(0..30_000);
    let mut moving = roots(0..1000);
    for round in 0..20 {
        for (i, root) in moving.iter_mut().enumerate() {
            if i % 20 == round {
                assert!(modify(root, ocaml("string", &[int(i)])));
            }
        }
        ocaml("churn", &[int(2000)]);
        full_major();
    }
    ocaml("compact", &[UNIT]);
    check_all(&strings, 0);
    check_all(&moving, 0);
    check_specimens(&specimens);
    validate();
});

test!(values_move_between_roots_while_marking, || {
    // The only reference to a string moves from root to root while the major collector marks. The
    // collector must see the string, in any order of these steps.
    start();
    ocaml("minor_heap_words", &[int(4096)]);
    let n = 150_000; // OCaml 4.14 marks copies of this many
    let mut cells = roots(0..n);
    let mut names: Vec<usize> = (0..n).collect();
    full_major();
    let mut random = 12345_usize;
    let mut next = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        random >> 33
    };
    for round in 0..300 {
        for _ in 0..500 {
            let (a, b) = (next() % n, next() % n);
            match next() % 3 {
                // Delete and create on the same value.
                0 => {
                    let v = unsafe { sys::boxroot_get(cells[a]) };
                    let moved = root_of(v);
                    delete(cells[a]);
                    cells[a] = moved;
                }
                // Swap the values of two roots.
                1 => {
                    let (va, vb) =
                        unsafe { (sys::boxroot_get(cells[a]), sys::boxroot_get(cells[b])) };
                    assert!(modify(&mut cells[a], vb) && modify(&mut cells[b], va));
                    names.swap(a, b);
                }
                // A new value.
                _ => {
                    let v = ocaml("string", &[int(round * n + a)]);
                    assert!(modify(&mut cells[a], v));
                    names[a] = round * n + a;
                }
            }
        }
        ocaml("start_major_slice", &[int(1000)]);
        ocaml("churn", &[int(200)]);
    }
    stress();
    for (&cell, &name) in cells.iter().zip(&names) {
        check(cell, name);
    }
});

// Deletes while the collector marks are counted.
test!(barrier_hits_are_counted, ocaml = 5, || {
    start();
    let mut old = roots(0..50_000);
    let long_to_mark = unsafe { sys::boxroot_create(ocaml("list", &[int(3_000_000)])) };
    full_major();
    let hits = sys::boxroot_stats().barrier_hits;
    while sys::boxroot_stats().barrier_hits == hits {
        ocaml("churn_major", &[int(20)]);
        delete(old.pop().expect("some delete comes while the collector marks"));
    }
    delete_all(&old);
    delete(long_to_mark.unwrap());
    validate();
});

// A root that is deleted before the marker has visited it keeps its slot until then, but counts as
// deleted at once.
test!(deletes_wait_for_the_marker, ocaml = 5, || {
    start();
    delete_roots_that_the_marker_has_not_visited();
    beside_a_domain(delete_roots_that_the_marker_has_not_visited);
});

fn delete_roots_that_the_marker_has_not_visited() {
    let (all, arrays) = roots_long_to_mark(50_000);
    when_roots_are_marked();
    let before = sys::boxroot_stats();
    delete_all(&all);
    let after = sys::boxroot_stats();
    assert_eq!(
        (after.barrier_hits - before.barrier_hits, after.live_roots),
        (50_000, arrays.len())
    );
    assert_eq!(after.waiting_deletes - before.waiting_deletes, 50_000);
    minor();
    // New roots go elsewhere; those that are young, or hold no block, are free at once.
    for i in 0..50_000 {
        delete(root(i));
        delete(root_of(int(25)));
    }
    let pools = sys::boxroot_stats().pools;
    assert!(pools <= before.pools + 2, "{pools} pools, {} before", before.pools);
    validate();
    delete_all(&arrays);
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.pools_full, s.pools_partial, s.waiting_deletes), (0, 0, 0, 0));
}

// A cycle of a small heap may have no more minor scans than one that is forced. It does not free
// all waiting slots at once, even if it is the first one after `Gc.full_major`.
test!(short_cycles_free_a_share, ocaml = 5, || {
    start();
    ocaml("minor_heap_words", &[int(4096)]);
    let (kept, all): (Vec<_>, Vec<_>) = {
        let v = ocaml("string", &[int(25)]);
        let first = root_of(v);
        let all = (1..2_500_000).map(|_| root_of(unsafe { sys::boxroot_get(first) }));
        std::iter::once(first).chain(all).enumerate().partition(|(i, _)| i % 100 == 0)
    };
    when_roots_are_marked();
    for &(_, root) in &all {
        delete(root);
    }
    let waiting = || sys::boxroot_stats().waiting_deletes;
    assert!(waiting() > 2_400_000);
    let start = sys::boxroot_stats();
    let share = (start.pools / 16 + 16) * 2000;
    let after_a_short_cycle = share + 256 * 2000;
    let mut last = (start.minor_scans, waiting());
    let mut shortest = u64::MAX;
    let mut cycle = (start.major_scans, start.minor_scans);
    for i in 0..100_000 {
        ocaml("string", &[int(i)]);
        ocaml("churn_major", &[int(1)]);
        let s = sys::boxroot_stats();
        let scans = (s.minor_scans - last.0) as usize;
        let freed = last.1 - s.waiting_deletes;
        // The beginning of a cycle also frees slots, and so do statistics if the last cycle was
        // long.
        let bound = (scans + 1) * after_a_short_cycle + share;
        assert!(freed <= bound, "{scans} minor scans freed {freed} slots");
        last = (s.minor_scans, s.waiting_deletes);
        if s.major_scans > cycle.0 {
            shortest = shortest.min(s.minor_scans - cycle.1);
            cycle = (s.major_scans, s.minor_scans);
        }
        if s.waiting_deletes == 0 {
            break;
        }
    }
    assert_eq!(waiting(), 0);
    // From OCaml 5.5 on, cycles of a small heap are longer.
    if env!("OCAML_VERSION") < "5.5" {
        assert!(shortest <= 3, "the shortest cycle had {shortest} minor scans");
    }
    for (_, root) in kept {
        check(root, 25);
        delete(root);
    }
    full_major();
    full_major();
    assert_eq!((live(), sys::boxroot_stats().pools_full), (0, 0));
});

// `modify` of a root that the marker has not visited yet takes another slot, for which there may be
// no memory.
test!(modify_moves_a_root_that_is_being_marked, ocaml = 5, || {
    start();
    let (mut all, arrays) = roots_long_to_mark(150_000);
    when_roots_are_marked();
    let slots = all.clone();
    let v = ocaml("string", &[int(25)]);
    unsafe { bxr_os_fail(1, true) };
    let mut unchanged = 0;
    for (i, root) in all.iter_mut().enumerate() {
        if !modify(root, v) {
            assert_eq!(errno(), libc::ENOMEM);
            check(*root, i);
            unchanged += 1;
        }
    }
    assert!(unsafe { bxr_os_fail(0, false) } > 0 && unchanged > 0, "there was no memory");
    let changed = || all.iter().zip(&slots).filter(|(a, b)| a != b);
    assert_eq!(changed().count() + unchanged, all.len());
    changed().for_each(|(&root, _)| check(root, 25));
    stress();
    changed().for_each(|(&root, _)| check(root, 25));
    delete_all(&all);
    delete_all(&arrays);
    assert_eq!(live(), 0);
    validate();
});

test!(teardown_while_marking, || {
    start();
    // Pools with free slots, so that roots of young values are created in pools that the marker
    // still has to visit.
    let (all, arrays) = roots_long_to_mark(60_000);
    let kept: Vec<BoxRoot> = all.iter().copied().step_by(3).collect();
    all.iter().enumerate().filter(|(i, _)| i % 3 != 0).for_each(|(_, &root)| delete(root));
    when_roots_are_marked();
    let scans = sys::boxroot_stats().minor_scans;
    let young = roots(0..20_000);
    assert_eq!(sys::boxroot_stats().minor_scans, scans, "they are young still");
    unsafe { sys::boxroot_teardown() }
    // The minor heap moves.
    ocaml("minor_heap_words", &[int(2_000_000)]);
    for _ in 0..3 {
        ocaml("churn", &[int(100_000)]);
        full_major();
    }
    delete_all(&young);
    delete_all(&kept);
    delete_all(&arrays);
    full_major();
});

test!(memory_after_a_teardown_while_marking, || {
    start();
    let (all, arrays) = roots_long_to_mark(60_000);
    when_roots_are_marked();
    delete_all(&all);
    delete_all(&arrays);
    assert!(sys::boxroot_stats().pools >= 30);
    unsafe { sys::boxroot_teardown() }
    // On OCaml 4 the slots are free at once, on OCaml 5 when the cycle is over.
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert_eq!((s.pools, s.bytes, unsafe { test_directories() }), (0, 0, 0));
});
