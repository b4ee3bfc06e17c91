//! Domains that begin, delete each other's roots, and end.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use sys::{BoxRoot, Value};

test!(a_destructor_runs_when_the_domain_id_is_used_again, ocaml = 5, || {
    start();
    // A thread whose domain has ended is still running its destructors when a new domain gets the
    // same number, and the same memory for its state. The thread must not count as a thread of that
    // domain.
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        crate::support::raw::wait_for(&PHASE, phase);
    }
    struct Late(std::cell::RefCell<Vec<BoxRoot>>);
    impl Drop for Late {
        fn drop(&mut self) {
            PHASE.store(1, Ordering::SeqCst);
            wait_for(2);
            assert_eq!(sys::lock_state(), sys::LockState::Ended);
            assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
            assert_eq!(errno(), libc::EPERM);
            delete_all(&self.0.borrow());
            PHASE.store(3, Ordering::SeqCst);
        }
    }
    thread_local! {
        static LATE: Late = const { Late(std::cell::RefCell::new(Vec::new())) };
    }
    extern "C" fn first(n: Value) -> Value {
        LATE.with(|late| *late.0.borrow_mut() = roots(0..to_int(n)));
        UNIT
    }
    extern "C" fn second(n: Value) -> Value {
        let made = roots(0..to_int(n));
        PHASE.store(2, Ordering::SeqCst);
        // Create and delete here while the other thread deletes.
        while PHASE.load(Ordering::SeqCst) < 3 {
            delete_all(&roots(0..100));
        }
        check_all(&made, 0);
        delete_all(&made);
        UNIT
    }
    call_rust("spawn", first, 5000);
    without_lock(|| wait_for(1));
    call_rust("spawn", second, 5000);
    without_lock(|| wait_for(3));
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 0);
});

/// A domain ends before the library is set up, so no hook of the library is called. Its thread
/// deletes roots in a destructor. The thread must not seem to hold a lock: neither that of its
/// domain, nor that of a new domain with the same number and the same memory for its state.
fn delete_after_a_domain_ended_before_setup(number_is_used_again: bool) {
    start_runtime();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    static OTHERS: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    fn wait_for(phase: usize) {
        crate::support::raw::wait_for(&PHASE, phase);
    }
    fn delete_others() {
        delete_all(&std::mem::take(&mut OTHERS.lock().unwrap().0));
    }
    struct Late(std::cell::Cell<bool>);
    impl Drop for Late {
        fn drop(&mut self) {
            PHASE.store(1, Ordering::SeqCst);
            wait_for(2);
            delete_others();
            PHASE.store(3, Ordering::SeqCst);
        }
    }
    thread_local! {
        static LATE: Late = const { Late(std::cell::Cell::new(false)) };
    }
    extern "C" fn first(_: Value) -> Value {
        LATE.with(|late| late.0.set(true));
        UNIT
    }
    extern "C" fn second(_: Value) -> Value {
        let mine = take_handed_over();
        PHASE.store(2, Ordering::SeqCst);
        delete_all(&mine);
        UNIT
    }
    call_rust("spawn", first, 0);
    without_lock(|| wait_for(1));
    ocaml("join_all", &[UNIT]);
    // The library is set up only now.
    let all = roots(0..200_000);
    let (others, mine) = all.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    OTHERS.lock().unwrap().0 = others;
    hand_over(mine);
    if number_is_used_again {
        call_rust("spawn", second, 0);
    } else {
        second(UNIT);
    }
    without_lock(|| wait_for(3));
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 0);
}

test!(a_domain_ended_before_setup, ocaml = 5, || {
    delete_after_a_domain_ended_before_setup(false);
});

test!(a_domain_ended_before_setup_and_its_id_is_used_again, ocaml = 5, || {
    delete_after_a_domain_ended_before_setup(true);
});

/// Each of `domains` domains makes `roots` roots, hands them over, and ends. There are `others`
/// live roots already.
fn domains_hand_over_and_end(domains: usize, roots: usize, others: usize) {
    for _ in 0..domains {
        call_rust("spawn", make_and_hand_over, roots);
    }
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), domains * roots + others);
}

test!(a_domain_ends_alone, ocaml = 5, || {
    start();
    let mine = root(1);
    domains_hand_over_and_end(1, 10_000, 1);
    delete(mine);
    check_handed_over(10_000);
});

test!(a_domain_ends_and_no_other_made_a_root, ocaml = 5, || {
    start();
    domains_hand_over_and_end(1, 10_000, 0);
    check_handed_over(10_000);
});

test!(a_domain_ends_after_teardown, ocaml = 5, || {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(n: Value) -> Value {
        hand_over(roots(0..to_int(n)));
        PHASE.store(1, Ordering::SeqCst);
        without_lock(|| wait_for(&PHASE, 2));
        UNIT
    }
    call_rust("spawn", body, 10_000);
    without_lock(|| wait_for(&PHASE, 1));
    unsafe { sys::boxroot_teardown() }
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    full_major();
    delete_handed_over(int(10_000));
    assert_eq!(sys::status(), sys::Status::ToreDown);
});

test!(domains_end_at_once, ocaml = 5, || {
    start();
    domains_hand_over_and_end(4, 20_000, 0);
    check_handed_over(20_000);
});

// A domain deletes roots that the marker has not visited, and ends.
test!(a_domain_ends_while_its_deletes_wait, ocaml = 5, || {
    start();
    extern "C" fn body(n: Value) -> Value {
        let (all, arrays) = roots_long_to_mark(to_int(n));
        when_roots_are_marked();
        // Each pool keeps one root, because a pool without roots is emptied as a whole.
        let (kept, deleted): (Vec<_>, Vec<_>) = all.chunks(100).map(|c| (c[0], &c[1..])).unzip();
        delete_all(&deleted.concat());
        minor();
        hand_over(arrays);
        hand_over(kept);
        UNIT
    }
    // The domain that adopts the pools already has some.
    let mine = root(13);
    call_rust("spawn", body, 20_000);
    ocaml("join_all", &[UNIT]);
    for _ in 0..3 {
        full_major();
    }
    assert_eq!(sys::boxroot_stats().waiting_deletes, 0);
    delete_handed_over(int(1_000_000));
    delete(mine);
    for _ in 0..3 {
        full_major();
    }
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.pools_full, s.pools_partial), (0, 0, 0));
    validate();
});

test!(domain_ids_are_used_again, ocaml = 5, || {
    start();
    let mine = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        // Each domain deletes roots that earlier ones left, and leaves its own roots.
        delete_handed_over(int(to_int(n) / 2));
        make_and_hand_over(n)
    }
    for _ in 0..20 {
        call_rust("spawn", body, 4000);
        ocaml("churn", &[int(100)]);
        ocaml("join_all", &[UNIT]);
        delete_handed_over(int(500));
        let some = {
            let mut handed_over = HANDED_OVER.lock().unwrap();
            let left = handed_over.0.len() - 500;
            handed_over.0.split_off(left)
        };
        let some = Roots(some);
        on_foreign_thread(move || delete_all(&{ some }.0));
    }
    stress();
    let left = take_handed_over();
    assert_eq!(live(), 1000 + left.len());
    check_all(&mine, 0);
    delete_all(&mine);
    delete_all(&left);
    assert_eq!(live(), 0);
});

test!(remote_deletes_race_with_the_end, ocaml = 5, || {
    start();
    let mine = roots(0..1000);
    static STOP: AtomicBool = AtomicBool::new(false);
    static DELETED: AtomicUsize = AtomicUsize::new(0);
    // Threads without any lock delete roots that domains made, while these domains end.
    let deleters: Vec<_> = (0..2)
        .map(|_| {
            std::thread::spawn(|| loop {
                let root = HANDED_OVER.lock().unwrap().0.pop();
                match root {
                    Some(root) => {
                        delete(root);
                        DELETED.fetch_add(1, Ordering::SeqCst);
                    }
                    None if STOP.load(Ordering::SeqCst) => return,
                    None => std::thread::yield_now(),
                }
            })
        })
        .collect();
    for _ in 0..25 {
        for _ in 0..3 {
            call_rust("spawn", make_and_hand_over, 3000);
        }
        ocaml("join_all", &[UNIT]);
        minor();
    }
    STOP.store(true, Ordering::SeqCst);
    without_lock(|| deleters.into_iter().for_each(|d| d.join().unwrap()));
    assert_eq!(DELETED.load(Ordering::SeqCst), 25 * 3 * 3000);
    stress();
    assert_eq!(live(), 1000, "no delete was lost");
    check_all(&mine, 0);
});

test!(a_domain_that_deletes_waits_or_ends, ocaml = 5, || {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(_: Value) -> Value {
        // After its first scan the library trusts that this thread belongs to a domain.
        minor();
        delete_handed_over(int(150));
        PHASE.store(1, Ordering::SeqCst);
        without_lock(|| wait_for(&PHASE, 2));
        delete_handed_over(int(150));
        UNIT
    }
    hand_over(roots(0..300));
    call_rust("spawn", body, 0);
    without_lock(|| wait_for(&PHASE, 1));
    // Deletes by another domain arrive with the second minor collection at the latest, ...
    minor();
    minor();
    assert_eq!(live(), 150);
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    // ... and when that domain ends.
    assert_eq!(live(), 0);
});

test!(a_thousand_domain_lives, ocaml = 5, || {
    start();
    let kept = root(16);
    for _ in 0..1000 {
        call_rust("spawn", make_and_hand_over, 50);
        call_rust("spawn", delete_handed_over, 40);
        ocaml("join_all", &[UNIT]);
    }
    full_major();
    let left = take_handed_over();
    assert_eq!(live(), 1 + left.len());
    delete_all(&left);
    check(kept, 16);
    full_major();
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert!(s.pools < 50, "{} pools are left", s.pools);
});

test!(all_128_domains_are_alive, ocaml = 5, || {
    start();
    // 127 domains besides the first one, all alive at the same time.
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(n: Value) -> Value {
        let made = roots(0..to_int(n));
        WAITING.fetch_add(1, Ordering::SeqCst);
        without_lock(|| wait_for(&WAITING, 127));
        check_all(&made, 0);
        hand_over(made);
        UNIT
    }
    for _ in 0..127 {
        call_rust("spawn", body, 300);
    }
    ocaml("join_all", &[UNIT]);
    stress();
    check_handed_over(300);
});

// The roots are of immediates, so that nothing is allocated and no collection runs: only creates
// can find the slots that another domain has freed.
test!(producer_and_consumer_without_collections, ocaml = 5, || {
    start();
    const BATCHES: usize = 10_000;
    static QUEUE: Mutex<Vec<Roots>> = Mutex::new(Vec::new());
    static STARTED: AtomicBool = AtomicBool::new(false);
    extern "C" fn consume(_: Value) -> Value {
        STARTED.store(true, Ordering::SeqCst);
        let mut done = 0;
        while done < BATCHES {
            let Some(batch) = QUEUE.lock().unwrap().pop() else { continue };
            for &root in &batch.0 {
                assert_eq!(unsafe { sys::boxroot_get(root) }, int(35));
            }
            delete_all(&batch.0);
            done += 1;
        }
        UNIT
    }
    call_rust("spawn", consume, 0);
    without_lock(|| {
        while !STARTED.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    });
    let before = sys::boxroot_stats();
    for _ in 0..BATCHES {
        let batch: Vec<_> = (0..100).map(|_| root_of(int(35))).collect();
        while QUEUE.lock().unwrap().len() >= 100 {
            std::thread::yield_now();
        }
        QUEUE.lock().unwrap().push(Roots(batch));
    }
    let after = sys::boxroot_stats();
    assert_eq!(after.minor_scans, before.minor_scans, "no collection came between");
    // At most 10 100 roots are alive at a time, which is six pools, and deleted ones wait in some
    // more; a million roots would be 500 pools.
    assert!(after.pools - before.pools <= 16, "{} pools", after.pools - before.pools);
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 0);
});

// From OCaml 5.5 on, a domain that has darkened its roots may force lazy values, and so change
// their headers, while another domain still darkens roots that hold them. The roots are too few to
// be handed over to the marker.
test!(lazy_values_are_forced_while_roots_are_darkened, ocaml = 5, || {
    start();
    static STOP: AtomicBool = AtomicBool::new(false);
    static LAZIES: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    extern "C" fn force(_: Value) -> Value {
        let lazies = std::mem::take(&mut LAZIES.lock().unwrap().0);
        while !STOP.load(Ordering::SeqCst) {
            for (i, &lazy) in lazies.iter().enumerate().rev() {
                let forced = ocaml("force", &[int(i), unsafe { sys::boxroot_get(lazy) }]);
                assert_eq!(forced, int(1), "the lazy value {i} has lost its header");
            }
        }
        UNIT
    }
    for _ in 0..20 {
        let lazies: Vec<_> = (0..1500).map(|i| root_of(ocaml("lazy", &[int(i)]))).collect();
        full_major();
        STOP.store(false, Ordering::SeqCst);
        LAZIES.lock().unwrap().0 = lazies.clone();
        call_rust("spawn", force, 0);
        let scans = sys::boxroot_stats().major_scans;
        while sys::boxroot_stats().major_scans < scans + 150 {
            ocaml("churn_major", &[int(20)]);
        }
        STOP.store(true, Ordering::SeqCst);
        ocaml("join_all", &[UNIT]);
        delete_all(&lazies);
    }
});
