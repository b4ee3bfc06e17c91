//! Memory is given back, runs out, and is counted.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::{BoxRoot, Value};

test!(trim_gives_memory_back, || {
    start();
    let (all, arrays) = roots_long_to_mark(200_000);
    // The pools of these roots are empty after the deletes, whether they were marked or not.
    let immediates: Vec<BoxRoot> = (0..200_000).map(|i| root_of(int(i))).collect();
    when_roots_are_marked();
    delete_all(&all);
    delete_all(&arrays);
    delete_all(&immediates);
    // Memory is given back at once if nothing is being marked, else when the next cycle begins.
    let before = sys::boxroot_stats();
    let given_back = sys::boxroot_trim();
    let after = sys::boxroot_stats();
    assert_eq!(before.bytes - after.bytes, given_back);
    assert!(OCAML5 || given_back > 0);
    validate();
    full_major();
    assert_eq!(sys::boxroot_stats().pools, 0);
    assert_eq!(on_foreign_thread(sys::boxroot_trim), 0, "needs the lock");
    let again = roots(0..10_000);
    stress();
    check_all(&again, 0);
    validate();
});

// Deletes that are not carried out yet, because their owner runs no collection. The last scan has
// counted the roots.
test!(deletes_that_the_owner_has_not_carried_out, || {
    start();
    let all = Roots(roots(0..10_000));
    full_major();
    on_foreign_thread(move || delete_all(&{ all }.0));
    let s = on_foreign_thread(sys::boxroot_stats);
    assert_eq!((s.live_roots, s.waiting_deletes), (10_000, 0), "as of the last scan");
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.deferred_deletes, s.waiting_deletes), (0, 10_000, 0), "now it has");
});

// A program that was compiled with a smaller or a larger struct.
test!(statistics_of_another_size, || {
    extern "C" {
        fn boxroot_stats(s: *mut u64, size: usize);
    }
    start();
    let root = root(1);
    let fields = size_of::<sys::Stats>() / 8;
    for known in [1, 16, fields, fields + 2] {
        let mut memory = [!0_u64; 32];
        // SAFETY: the memory has that size.
        unsafe { boxroot_stats(memory.as_mut_ptr(), known * 8) }
        assert!(memory[..known].iter().all(|&field| field != !0), "{known}: {memory:?}");
        assert!(memory[known..].iter().all(|&field| field == !0), "{known}: {memory:?}");
        assert_eq!(memory[0], 1);
    }
    delete(root);
});

test!(memory_comes_back, || {
    start();
    let all = roots(0..200_000);
    full_major();
    let pools = sys::boxroot_stats().pools;
    delete_all(&all);
    full_major();
    full_major();
    let left = sys::boxroot_stats().pools;
    assert!(left * 10 <= pools, "{left} of {pools} pools are left");
});

test!(one_root_per_pool, || {
    start();
    let slots = sys::boxroot_stats().slots_per_pool;
    // The pools are larger than the OCaml heap at this time.
    let pools = 6000;
    let all: Vec<BoxRoot> = (0..pools * slots).map(|_| root_of(int(7))).collect();
    let mut kept = Vec::new();
    for (i, &root) in all.iter().enumerate() {
        if i % slots == 0 {
            kept.push(root);
        } else {
            delete(root);
        }
    }
    for (i, root) in kept.iter_mut().enumerate() {
        assert!(modify(root, ocaml("string", &[int(i)])));
    }
    full_major(); // while the heap is still small
    stress();
    let s = sys::boxroot_stats();
    assert_eq!(s.live_roots, pools);
    assert!(s.pools >= pools && s.pools_partial + s.pools_empty >= pools - 2, "{s:?}");
    check_all(&kept, 0);
    delete_all(&kept);
    // Each major cycle gives back at least 512 pools.
    (0..6).for_each(|_| full_major());
    assert!(sys::boxroot_stats().pools <= 2, "memory comes back");
    validate();
});

/// A run that makes the allocator map memory several times. Every create and modify either works or
/// fails with ENOMEM, and no root is lost. Returns the roots made, and the failures.
fn allocate_a_lot(cells: &mut [BoxRoot]) -> (Vec<BoxRoot>, usize) {
    let mut made = Vec::new();
    let mut failures = 0;
    for i in 0..300_000 {
        match unsafe { sys::boxroot_create(int(i)) } {
            Some(root) => made.push(root),
            None => {
                assert_eq!(errno(), libc::ENOMEM);
                assert!(error_string().contains("out of memory"));
                failures += 1;
            }
        }
        if i % 1000 == 0 {
            let cell = i / 1000 % cells.len();
            let before = cells[cell];
            if !modify(&mut cells[cell], ocaml("string", &[int(cell)])) {
                assert_eq!((errno(), cells[cell]), (libc::ENOMEM, before));
                check(before, cell);
                failures += 1;
            }
        }
        if i % 50_000 == 0 {
            full_major();
        }
    }
    (made, failures)
}

fn allocation_failures(for_good: bool) {
    let mut cells = roots(0..100);
    unsafe { bxr_os_fail(0, false) };
    let (made, failures) = allocate_a_lot(&mut cells);
    assert_eq!(failures, 0);
    delete_all(&made);
    full_major();
    full_major();
    let calls = unsafe { bxr_os_fail(0, false) };
    assert!(calls >= 2, "the run maps memory ({calls} times)");
    let mut failed_runs = 0;
    for k in 1..=calls {
        unsafe { bxr_os_fail(k, for_good) };
        let (made, failures) = allocate_a_lot(&mut cells);
        failed_runs += (failures > 0) as usize;
        validate();
        // Memory is available again: everything works, and no root is lost.
        unsafe { bxr_os_fail(0, false) };
        let after = roots(0..10_000);
        stress();
        check_all(&after, 0);
        check_all(&cells, 0);
        assert_eq!(live(), made.len() + after.len() + cells.len());
        for (a, b) in made.iter().zip(&made[1..]) {
            assert!(unsafe { sys::boxroot_get(*a) < sys::boxroot_get(*b) });
        }
        delete_all(&made);
        delete_all(&after);
        full_major();
        full_major();
    }
    assert!(failed_runs > 0, "some failure was seen");
}

test!(each_allocation_fails_once, || {
    // The library's first two allocations fail: those of the record and of the first region.
    start_runtime();
    assert!(unsafe { sys::boxroot_setup() });
    for k in 1..=2 {
        unsafe { bxr_os_fail(k, false) };
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert_eq!(errno(), libc::ENOMEM);
    }
    unsafe { bxr_os_fail(0, false) };
    let first = root_of(int(1));
    delete(first);
    allocation_failures(false);
});

test!(each_allocation_fails_for_good, || {
    start();
    allocation_failures(true);
});

test!(many_creates_are_all_or_none, || {
    start();
    // More than fit into the first region.
    let values: Vec<_> = (0..300_000).map(int).collect();
    let mut created = vec![None; values.len()];
    let domain = unsafe { boxroot_domain_self() };
    let mut create_many = || unsafe {
        boxroot_create_many(domain, created.as_mut_ptr(), values.as_ptr(), values.len())
    };
    let kept = roots(0..100);
    unsafe { bxr_os_fail(1, true) };
    assert!(!create_many());
    assert_eq!(errno(), libc::ENOMEM);
    assert_eq!(live(), 100);
    unsafe { bxr_os_fail(0, false) };
    assert!(create_many());
    assert_eq!(live(), 100 + values.len());
    minor();
    for (root, &value) in created.iter_mut().zip(&values) {
        assert_eq!(unsafe { sys::boxroot_get(root.unwrap()) }, value);
        // Some are deleted before, and are None, which `boxroot_delete_many` ignores.
        if value % 3 == 0 {
            delete(root.take().unwrap());
        }
    }
    unsafe { boxroot_delete_many(domain, created.as_ptr(), created.len()) };
    check_all(&kept, 0);
    assert_eq!(live(), 100);
    validate();
});

test!(deletes_keep_errno, || {
    start();
    hand_over(roots(0..100));
    // A domain without a record needs memory to delete another one's roots; if there is none, it
    // deletes them nevertheless.
    extern "C" fn body(n: Value) -> Value {
        minor();
        unsafe { bxr_os_fail(1, true) };
        let roots = take_handed_over();
        unsafe { *libc::__errno_location() = 50 };
        delete_all(&roots);
        assert_eq!(errno(), 50);
        assert!(unsafe { bxr_os_fail(0, false) } > 0 || !OCAML5, "memory was asked for");
        assert_eq!(roots.len(), to_int(n));
        UNIT
    }
    call_rust(if OCAML5 { "spawn" } else { "thread" }, body, 100);
    ocaml(if OCAML5 { "join_all" } else { "join_threads" }, &[UNIT]);
    stress();
    assert_eq!(live(), 0);
});

test!(statistics_count, || {
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
});

test!(statistics_by_state, || {
    start();
    let all = roots(0..50_000);
    full_major();
    let s = sys::boxroot_stats();
    let slots = s.slots_per_pool;
    assert!(s.pools_full >= 50_000 / slots - 1 && s.pools_current == 1, "{s:?}");
    assert_eq!(s.pools, s.pools_current + s.pools_full + s.pools_partial + s.pools_empty);
    assert_eq!(s.bytes % s.pools, 0);
    assert!(s.longest_major_scan > 0 && s.longest_minor_scan > 0, "{s:?}");
    // Most roots of the first pools are deleted, so that these pools have room. The last pools
    // become empty.
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
});

test!(statistics_of_several_domains, ocaml = 5, || {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        without_lock(|| crate::support::raw::wait_for(&PHASE, phase));
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
});
