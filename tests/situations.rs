//! The situations that must be right, one test each, on the raw interface. `row_N_…` is row N
//! of the table of situations in `boxroot-c/DESIGN.md`.

mod common;

use common::*;
use ocaml_boxroot_sys as sys;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use sys::{BoxRoot, Status, Value};

scenarios!(
    SCENARIOS:
    inlined_round_trip;
    many_roots_survive;
    modify_between_generations;
    statistics_by_state;
    statistics_count;
    statistics_of_several_domains, ocaml5 = true;
    fast_paths_stay_open;
    trim_gives_memory_back;
    memory_comes_back;
    row_01_delete_null;
    row_05_delete_in_callbacks;
    row_06_delete_in_custom_finalisers;
    row_06_07_finalisers_inside_a_scan, ocaml5 = true;
    row_07_create_is_refused_in_a_scan;
    row_08_minor_hooks;
    row_09_create_and_modify_without_the_lock;
    row_10_delete_without_the_lock;
    row_11_create_before_startup_and_after_teardown;
    row_12_delete_after_teardown_and_shutdown;
    row_12_delete_in_static_destructor;
    row_12_delete_in_tls_destructors;
    row_12_tls_destructor_after_the_domain_id_is_reused, ocaml5 = true;
    row_12_domain_ended_before_setup, ocaml5 = true;
    row_12_domain_ended_before_setup_and_its_number_is_used_again, ocaml5 = true;
    row_13_domain_ends_alone, ocaml5 = true;
    row_13_domain_ends_and_no_other_made_a_root, ocaml5 = true;
    row_13_domains_end_at_once, ocaml5 = true;
    row_13_domain_ends_while_its_deletes_wait, ocaml5 = true;
    row_14_domain_ids_are_reused, ocaml5 = true;
    row_15_remote_deletes_race_with_the_end, ocaml5 = true;
    row_15_deleter_waits_or_ends, ocaml5 = true;
    row_16_many_domain_lives, ocaml5 = true;
    row_16_128_domains, ocaml5 = true;
    row_17_thread_registered_again;
    row_18_fork_with_a_deleter;
    row_18_fork_while_a_delete_goes_to_a_former_owner, ocaml5 = true;
    row_19_systhreads;
    row_20_panic_unwinds;
    row_20_cpp_pointer_and_unwinding;
    row_21_exception_past_a_handle;
    row_22_modify_while_read;
    // v=0: without V=1, which `make test-debug` sets. With it, the debug runtime of OCaml 5.3 asserts
    // that its statistics are right after a compaction, and they are wrong if there was garbage
    // (an OCaml program alone shows it; see docs/campaigns.md).
    row_23_compaction, environment = [("OCAMLRUNPARAM", "v=0")];
    row_23_finalisers_in_a_compaction, ocaml5 = true, environment = [("OCAMLRUNPARAM", "v=0")];
    row_24_heap_verification, environment = [("OCAMLRUNPARAM", "V=1,s=4k")];
    row_25_barrier_hits_are_counted, ocaml5 = true;
    row_25_deletes_wait_for_the_marker, ocaml5 = true;
    row_25_modify_moves_a_root_that_is_being_marked, ocaml5 = true;
    row_25_moves_while_marking;
    row_26_immediates_like_pointers;
    row_27_values_of_all_shapes;
    row_28_pointers_out_of_the_heap, ocaml5 = false;
    row_29_other_libraries_hooks;
    row_33_each_allocation_fails_once;
    row_33_each_allocation_fails_for_good;
    row_35_producer_and_consumer_without_collections, ocaml5 = true;
    row_36_one_root_per_pool;
    row_39_roots_made_in_minor_hooks, ocaml5 = true;
    row_39_roots_made_in_slice_hooks, ocaml5 = true;
    row_39_roots_made_in_slice_hooks_of_several_domains, ocaml5 = true, environment = [("OCAMLRUNPARAM", "v=0")];
    row_39_roots_made_in_other_libraries_hooks, ocaml5 = true;
    row_39_deletes_among_values_that_were_just_promoted, ocaml5 = true;
    row_40_teardown_while_marking;
    row_41_memory_after_a_teardown_while_marking;
    row_42_nothing_believes_the_lock_on_a_thread_that_ends;
    row_42_setup_on_another_thread, ocaml5 = false;
    row_46_fork_while_domains_run, ocaml5 = true;
    row_46_fork_while_a_domain_changes_its_lists, ocaml5 = true;
    row_46_fork_while_domains_run_and_a_delete_is_under_way, ocaml5 = true;
    row_50_deletes_keep_errno;
);

fn main() {
    run_scenarios(SCENARIOS)
}

// ---- the ordinary life of roots ----

fn inlined_round_trip() {
    start();
    assert_eq!(unsafe { test_inline_round_trip(100_000) }, 0);
    assert_eq!(live(), 0);
}

fn many_roots_survive() {
    start();
    let all = roots(0..100_000);
    stress();
    check_all(&all, 0);
    // Half of them go; the others stay, and the free slots are used again.
    finish_marking();
    let pools = sys::boxroot_stats().pools;
    for pair in all.chunks(2) {
        delete(pair[0]);
    }
    let again = roots(0..50_000);
    stress();
    for (i, pair) in all.chunks(2).enumerate() {
        check(pair[1], 2 * i + 1);
        delete(pair[1]);
    }
    check_all(&again, 0);
    assert!(sys::boxroot_stats().pools <= pools + 2, "free slots are used again");
    delete_all(&again);
    assert_eq!(live(), 0);
    validate();
}

fn modify_between_generations() {
    start();
    let mut young = root(1);
    let mut old = root(2);
    minor();
    let mut other = root(3);
    let old_string = unsafe { sys::boxroot_get(old) };
    // A young value into an old pool, an old value into an old pool, immediates anywhere.
    assert!(modify(&mut young, ocaml("string", &[int(10)])));
    assert!(modify(&mut other, old_string));
    assert!(modify(&mut old, int(5)));
    stress();
    check(young, 10);
    check(other, 2);
    assert_eq!(unsafe { sys::boxroot_get(old) }, int(5));
    delete_all(&[young, old, other]);
    assert_eq!(live(), 0);
}

fn statistics_count() {
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
    sys::boxroot_print_stats();
    // A single pool is marked in another way.
    let few = roots(0..100);
    full_major();
    assert_eq!(on_foreign_thread(live), 100);
    delete_all(&few);
}

fn statistics_by_state() {
    start();
    let all = roots(0..50_000);
    full_major();
    let s = sys::boxroot_stats();
    let slots = s.slots_per_pool;
    assert!(s.pools_full >= 50_000 / slots - 1 && s.pools_current == 1, "{s:?}");
    assert_eq!(s.pools, s.pools_current + s.pools_full + s.pools_partial + s.pools_empty);
    assert_eq!(s.bytes % s.pools, 0);
    assert!(s.longest_major_scan > 0 && s.longest_minor_scan > 0, "{s:?}");
    // Most roots of the first pools go: these have room then. The last ones become empty.
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

fn statistics_of_several_domains() {
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
        live(); // counts this domain's
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
    // Each scans in each minor collection; the deletes arrive with the second.
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

/// Else everything works as well, and is slow.
fn fast_paths_stay_open() {
    start();
    let one = root(1);
    assert!(unsafe { test_fast_paths_are_open() });
    minor();
    assert!(unsafe { test_fast_paths_are_open() });
    full_major();
    assert!(unsafe { test_fast_paths_are_open() });
    without_lock(|| assert!(!unsafe { test_fast_paths_are_open() }));
    assert!(unsafe { test_fast_paths_are_open() });
    delete(one);
}

fn trim_gives_memory_back() {
    start();
    let all = roots(0..200_000);
    // The pools of these are empty when they are deleted, marked or not.
    let immediates: Vec<BoxRoot> =
        (0..200_000).map(|i| unsafe { sys::boxroot_create(int(i)) }.unwrap()).collect();
    while_roots_are_marked();
    delete_all(&all);
    delete_all(&immediates);
    // At once if nothing is being marked, else when the next cycle begins.
    let before = sys::boxroot_stats();
    let given_back = sys::boxroot_trim();
    let after = sys::boxroot_stats();
    assert_eq!(before.bytes - after.bytes, given_back);
    validate();
    full_major();
    assert_eq!(sys::boxroot_stats().pools, 0);
    assert_eq!(on_foreign_thread(sys::boxroot_trim), 0, "needs the lock");
    let again = roots(0..10_000);
    stress();
    check_all(&again, 0);
    validate();
}

fn memory_comes_back() {
    start();
    let all = roots(0..200_000);
    full_major();
    let pools = sys::boxroot_stats().pools;
    delete_all(&all);
    full_major();
    full_major();
    let left = sys::boxroot_stats().pools;
    assert!(left * 10 <= pools, "{left} of {pools} pools are left");
}

// ---- the rows ----

fn row_01_delete_null() {
    unsafe { test_delete_null() } // before anything is set up
    start();
    unsafe { test_delete_null() }
    assert_eq!(live(), 0);
}

static HANDED_OVER: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Makes roots that some other code will delete.
fn hand_over(roots: Vec<BoxRoot>) {
    HANDED_OVER.lock().unwrap().0.extend(roots);
}

/// Deletes `n` of the roots that were handed over.
extern "C" fn delete_handed_over(n: Value) -> Value {
    let mut handed_over = HANDED_OVER.lock().unwrap();
    let left = handed_over.0.len().saturating_sub(to_int(n));
    delete_all(&handed_over.0.split_off(left));
    CALLS.fetch_add(1, Ordering::SeqCst);
    UNIT
}

fn row_05_delete_in_callbacks() {
    start();
    let kept = roots(0..1000);
    hand_over(roots(0..10_000));
    for how in ["on_finalise", "on_alarm", "on_signal", "thread"] {
        call_rust(how, delete_handed_over, 1000);
    }
    full_major();
    full_major();
    ocaml("raise_signal", &[UNIT]);
    ocaml("join_threads", &[UNIT]);
    assert!(CALLS.load(Ordering::SeqCst) >= 4, "all four ways to call back ran");
    stress();
    let left = HANDED_OVER.lock().unwrap().0.len();
    assert_eq!(live(), 1000 + left);
    check_all(&kept, 0);
}

fn row_06_delete_in_custom_finalisers() {
    start();
    let kept = roots(0..1000);
    // Custom blocks, some young and some old when they die, each of which owns a root; their
    // roots are spread over all pools.
    for round in 0..20 {
        let owners: Vec<BoxRoot> = (0..5000)
            .map(|i| {
                let owner = unsafe { test_custom_owner(Some(root(i))) };
                unsafe { sys::boxroot_create(owner) }.unwrap()
            })
            .collect();
        if round % 2 == 0 {
            full_major();
        }
        delete_all(&owners);
        minor();
        full_major();
        validate();
    }
    full_major();
    full_major();
    assert_eq!(unsafe { test_finalised() }, 100_000);
    assert_eq!(live(), 1000);
    check_all(&kept, 0);
}

fn row_06_07_finalisers_inside_a_scan() {
    // A minor scan promotes values; OCaml 5 then looks for memory in pools of its own that have
    // room and are not yet swept, and finalises the dead custom blocks that it finds: inside our
    // scan. There deletes are deferred, and creates refused (which the finaliser counts).
    start();
    ocaml("minor_heap_words", &[int(32768)]);
    let kept = roots(0..5000);
    let rooted = |v| unsafe { sys::boxroot_create(v) }.unwrap();
    let pair = |i| unsafe { rooted(test_pair(int(i))) };
    let mut made = 0;
    for round in 0.. {
        // Blocks of one size, side by side: some stay, so that their memory is still in use; some
        // go first, so that there is room; and those with finalisers go last.
        let (mut stay, mut first, mut owners) = (vec![], vec![], vec![]);
        for i in 0..2000 {
            stay.push(pair(i));
            first.push(pair(i));
            owners.push(unsafe { rooted(test_custom_owner(Some(root(i)))) });
        }
        made += owners.len();
        minor();
        delete_all(&first);
        full_major();
        delete_all(&owners);
        // The collection at whose end they are garbage, and not yet swept: on OCaml 5.5 the one
        // that has begun, before that the next one.
        for _ in 0..1 + round % 2 {
            ocaml("major", &[UNIT]);
        }
        let young: Vec<BoxRoot> = (0..2000).map(pair).collect();
        minor();
        delete_all(&young);
        delete_all(&stay);
        let refused = unsafe { test_creates_refused() };
        if refused >= 10_000 {
            break;
        }
        assert!(round < 100, "{refused} finalisers ran inside a scan");
    }
    full_major();
    full_major();
    assert_eq!(unsafe { test_finalised() }, made);
    assert!(sys::boxroot_stats().deferred_deletes >= 10_000);
    assert_eq!(live(), 5000, "no delete was lost");
    check_all(&kept, 0);
    validate();
}

fn row_07_create_is_refused_in_a_scan() {
    // A custom block's finaliser may run between scans or, while roots are promoted, inside
    // one. Wherever it runs, its create either works or is refused, and nothing is lost.
    start();
    ocaml("minor_heap_words", &[int(4096)]);
    let kept = roots(0..20_000);
    for i in 0..50_000 {
        unsafe { test_custom_owner(Some(root(i))) };
    }
    full_major();
    full_major();
    assert_eq!(unsafe { test_finalised() }, 50_000);
    assert!(unsafe { test_creates_refused() } <= 50_000);
    assert_eq!(live(), 20_000);
    check_all(&kept, 0);
    validate();
}

/// For `test_hooks`.
const MINOR_BEGIN: i32 = 1;
const MINOR_END: i32 = 2;
const SLICE_BEGIN: i32 = 4;
const SLICE_END: i32 = 8;

fn row_08_minor_hooks() {
    start();
    static MADE: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    extern "C" fn body() {
        let mut made = MADE.lock().unwrap();
        if made.0.len() >= 1000 {
            delete_all(&made.0.split_off(500));
        }
        // No allocation is possible here: an immediate.
        made.0.push(unsafe { sys::boxroot_create(int(77)) }.unwrap());
    }
    let kept = roots(0..5000);
    unsafe { test_hooks(MINOR_BEGIN | MINOR_END, Some(body)) };
    for _ in 0..2000 {
        ocaml("churn", &[int(100)]);
        minor();
    }
    unsafe { test_hooks(0, None) };
    let made = MADE.lock().unwrap();
    assert!(made.0.len() >= 500);
    assert!(made.0.iter().all(|&r| unsafe { sys::boxroot_get(r) } == int(77)));
    assert_eq!(live(), 5000 + made.0.len());
    stress();
    check_all(&kept, 0);
}

fn row_09_create_and_modify_without_the_lock() {
    start();
    let kept = Roots(vec![root(9)]);
    let kept = on_foreign_thread(move || {
        let mut kept = kept;
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert_eq!(errno(), libc::EPERM);
        assert!(error_string().contains("does not hold the lock"), "{}", error_string());
        let before = kept.0[0];
        assert!(!modify(&mut kept.0[0], int(1)));
        assert_eq!(errno(), libc::EPERM);
        assert_eq!(kept.0[0], before);
        kept
    });
    // The same on a thread that OCaml knows, in a blocking section.
    without_lock(|| {
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert!(!modify(&mut { kept.0[0] }, int(1)));
        assert_eq!(sys::lock_state(), sys::LockState::NotHeld);
    });
    assert_eq!(sys::lock_state(), sys::LockState::Held);
    assert_eq!(live(), 1);
    stress();
    check(kept.0[0], 9);
}

/// Deletes, on threads that OCaml never saw, while this thread runs `work`.
fn with_foreign_deleters(threads: usize, deletable: Vec<BoxRoot>, mut work: impl FnMut(usize)) {
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

fn row_10_delete_without_the_lock() {
    start();
    ocaml("minor_heap_words", &[int(8192)]);
    for _ in 0..10 {
        // Interleaved, so that every pool has both kinds.
        let all = roots(0..100_000);
        let (kept, deleted): (Vec<_>, Vec<_>) =
            all.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        with_foreign_deleters(2, deleted, |round| {
            ocaml("churn", &[int(1000)]);
            if round % 4 == 0 {
                full_major();
            }
        });
        stress();
        assert_eq!(live(), 50_000);
        kept.iter().enumerate().for_each(|(i, &r)| check(r, 2 * i));
        delete_all(&kept);
        assert_eq!(live(), 0);
    }
}

fn row_11_create_before_startup_and_after_teardown() {
    assert_eq!(sys::boxroot_status(), Status::NotSetup);
    assert!(error_string().contains("no error"), "{}", error_string());
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
    assert_eq!(errno(), libc::EPERM);
    if OCAML5 {
        assert!(!unsafe { sys::boxroot_setup() }, "no runtime, no lock");
    }
    start_runtime();
    if OCAML5 {
        assert!(unsafe { sys::boxroot_create(int(1)) }.is_some(), "the first create sets up");
    } else {
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert!(error_string().contains("boxroot_setup"), "{}", error_string());
    }
    assert!(unsafe { sys::boxroot_setup() && sys::boxroot_setup() });
    assert_eq!(sys::boxroot_status(), Status::Running);
    let mut kept = root(1);
    unsafe { sys::boxroot_teardown() }
    assert_eq!(sys::boxroot_status(), Status::ToreDown);
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
    assert_eq!(errno(), libc::EPERM);
    assert!(error_string().contains("teardown"), "{}", error_string());
    assert!(!modify(&mut kept, int(2)));
    assert!(!unsafe { sys::boxroot_setup() });
    full_major(); // the hooks are still there, and do nothing
    delete(kept);
    unsafe { caml_shutdown() }
    assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
}

fn row_12_delete_after_teardown_and_shutdown() {
    start();
    let all = roots(0..20_000);
    let (first, rest) = all.split_at(5000);
    let (second, rest) = rest.split_at(5000);
    let (third, fourth) = rest.split_at(5000);
    unsafe { sys::boxroot_teardown() }
    delete_all(first);
    let second = Roots(second.to_vec());
    on_foreign_thread(move || delete_all(&{ second }.0));
    unsafe { caml_shutdown() }
    delete_all(third);
    let fourth = Roots(fourth.to_vec());
    std::thread::spawn(move || delete_all(&{ fourth }.0)).join().unwrap();
    unsafe { sys::boxroot_teardown() } // twice
    assert_eq!(sys::boxroot_status(), Status::ToreDown);
}

fn row_12_delete_in_static_destructor() {
    start();
    hand_over(roots(0..10_000));
    extern "C" fn at_exit() {
        delete_handed_over(int(10_000));
        assert_eq!(HANDED_OVER.lock().unwrap().0.len(), 0);
    }
    unsafe {
        libc::atexit(at_exit);
        caml_shutdown();
    }
}

/// Deletes what it holds when its thread ends.
struct OnThreadExit(std::cell::RefCell<Vec<BoxRoot>>);

impl Drop for OnThreadExit {
    fn drop(&mut self) {
        delete_all(&self.0.borrow());
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
}

thread_local! {
    static ON_THREAD_EXIT: OnThreadExit = const { OnThreadExit(std::cell::RefCell::new(Vec::new())) };
}

fn row_12_delete_in_tls_destructors() {
    start();
    let kept = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        ON_THREAD_EXIT.with(|on_exit| *on_exit.0.borrow_mut() = roots(0..to_int(n)));
        UNIT
    }
    let (how, join) = if OCAML5 { ("spawn", "join_all") } else { ("thread", "join_threads") };
    for _ in 0..50 {
        for _ in 0..4 {
            call_rust(how, body, 2000);
        }
        ocaml("churn", &[int(1000)]);
        ocaml(join, &[UNIT]);
        // The threads may still be running their destructors, without the lock, while we
        // create and delete.
        delete_all(&roots(0..1000));
        full_major();
    }
    call_rust("thread", body, 2000);
    ocaml("join_threads", &[UNIT]);
    let expected = 50 * 4 + 1;
    without_lock(|| wait_for(&CALLS, expected));
    stress();
    assert_eq!(live(), 1000);
    check_all(&kept, 0);
}

fn row_12_tls_destructor_after_the_domain_id_is_reused() {
    start();
    // A thread whose domain has ended is still in its destructors when a new domain takes the
    // same number, and the same state in memory: the thread must not pass for that domain.
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        common::wait_for(&PHASE, phase);
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
}

/// A domain ends before the library is set up, so no hook of ours sees it. Its thread deletes roots in
/// a destructor; it must not pass for a domain, neither for its own nor for one that has taken the
/// same number and state meanwhile.
fn domain_ended_before_setup(number_is_used_again: bool) {
    start_runtime();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    static OTHERS: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    fn wait_for(phase: usize) {
        common::wait_for(&PHASE, phase);
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
        let mine = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
        PHASE.store(2, Ordering::SeqCst);
        delete_all(&mine);
        UNIT
    }
    call_rust("spawn", first, 0);
    without_lock(|| wait_for(1));
    ocaml("join_all", &[UNIT]);
    // Only now is the library set up.
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

fn row_12_domain_ended_before_setup() {
    domain_ended_before_setup(false);
}

fn row_12_domain_ended_before_setup_and_its_number_is_used_again() {
    domain_ended_before_setup(true);
}

/// Makes `n` roots and hands them over; the domain then ends with them.
extern "C" fn make_and_hand_over(n: Value) -> Value {
    let made = roots(0..to_int(n));
    hand_over(made);
    UNIT
}

/// Checks that the handed-over roots, in runs of `n`, are alive, and deletes them.
fn check_handed_over(n: usize) {
    let handed_over = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(handed_over.len() % n, 0);
    for run in handed_over.chunks(n) {
        check_all(run, 0);
    }
    delete_all(&handed_over);
    assert_eq!(live(), 0);
}

fn row_13_domain_ends_alone() {
    start();
    let mine = root(1);
    call_rust("spawn", make_and_hand_over, 10_000);
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 10_001);
    delete(mine);
    check_handed_over(10_000);
}

fn row_13_domain_ends_and_no_other_made_a_root() {
    start();
    call_rust("spawn", make_and_hand_over, 10_000);
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 10_000);
    check_handed_over(10_000);
}

fn row_13_domains_end_at_once() {
    start();
    for _ in 0..4 {
        call_rust("spawn", make_and_hand_over, 20_000);
    }
    ocaml("join_all", &[UNIT]);
    stress();
    assert_eq!(live(), 80_000);
    check_handed_over(20_000);
}

/// The marker has not visited the roots that a domain deletes, and the domain ends.
fn row_13_domain_ends_while_its_deletes_wait() {
    start();
    extern "C" fn body(n: Value) -> Value {
        let (all, arrays) = roots_long_to_mark(to_int(n));
        when_roots_are_marked();
        delete_all(&all);
        minor();
        hand_over(arrays);
        UNIT
    }
    // The pools go to a domain that has some of its own.
    let mine = root(13);
    call_rust("spawn", body, 20_000);
    ocaml("join_all", &[UNIT]);
    delete_handed_over(int(1_000_000));
    delete(mine);
    for _ in 0..3 {
        full_major();
    }
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.pools_full, s.pools_partial), (0, 0, 0));
    validate();
}

fn row_14_domain_ids_are_reused() {
    start();
    let mine = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        // A newcomer deletes what its predecessors left, and leaves its own.
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
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(live(), 1000 + left.len());
    check_all(&mine, 0);
    delete_all(&mine);
    delete_all(&left);
    assert_eq!(live(), 0);
}

fn row_15_remote_deletes_race_with_the_end() {
    start();
    let mine = roots(0..1000);
    static STOP: AtomicBool = AtomicBool::new(false);
    static DELETED: AtomicUsize = AtomicUsize::new(0);
    // Threads without any lock delete what domains made, while these end.
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
}

fn row_15_deleter_waits_or_ends() {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(_: Value) -> Value {
        // From its first scan on it is certain that this thread belongs to a domain.
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
    // A domain's deletes arrive with the second minor collection at the latest, ...
    minor();
    minor();
    assert_eq!(live(), 150);
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    // ... and when it ends.
    assert_eq!(live(), 0);
}

fn row_16_many_domain_lives() {
    start();
    let kept = root(16);
    for _ in 0..1000 {
        call_rust("spawn", make_and_hand_over, 50);
        call_rust("spawn", delete_handed_over, 40);
        ocaml("join_all", &[UNIT]);
    }
    full_major();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(live(), 1 + left.len());
    delete_all(&left);
    check(kept, 16);
    full_major();
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert!(s.pools < 50, "{} pools are left", s.pools);
}

fn row_16_128_domains() {
    start();
    // 127 besides the first one, all alive at the same time.
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
}

fn row_17_thread_registered_again() {
    start();
    let kept = root(17);
    on_foreign_thread(|| {
        for i in 0..5 {
            assert_eq!(unsafe { caml_c_thread_register() }, 1);
            unsafe { caml_leave_blocking_section() };
            let made = roots(0..1000);
            full_major();
            check_all(&made, 0);
            delete_all(&made[..500]);
            hand_over(made[500..].to_vec());
            unsafe { caml_enter_blocking_section() };
            delete_handed_over(int(250));
            assert_eq!(unsafe { caml_c_thread_unregister() }, 1);
            assert_eq!(unsafe { sys::boxroot_create(int(i)) }, None, "unregistered: no lock");
        }
    });
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(left.len(), 5 * 250);
    assert_eq!(live(), 1 + 5 * 250);
    check(kept, 17);
    delete_all(&left);
}

fn row_18_fork_with_a_deleter() {
    start();
    let kept = roots(0..1000);
    static KEPT: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    KEPT.lock().unwrap().0 = kept.clone();
    // In the child: collect, check the roots that nobody deletes, make and delete more.
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
}

/// A deleter that read a pool's owner before an adoption pushes the pool on the list of the former one, and
/// the process is copied before it can take it back. In the child that list is empty, or else the
/// pool would be on two lists as soon as a domain uses the record again.
fn row_18_fork_while_a_delete_goes_to_a_former_owner() {
    start();
    let kept = roots(0..100);
    call_rust("spawn", make_and_hand_over, 100);
    ocaml("join_all", &[UNIT]);
    minor();
    assert!(unsafe { test_begin_delete(kept[0], true) }, "the domain that ended left its record");
    fork_and_look_at_drain_lists();
}

/// Only the announced delete's thread would bring its pool off the list, and it is not in the child.
fn fork_and_look_at_drain_lists() {
    assert_eq!(unsafe { test_drain_lists() }, 1);
    let child = unsafe { libc::fork() };
    if child == 0 {
        unsafe { libc::_exit(test_drain_lists() as c_int) };
    }
    let mut status = 0;
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "a list in the child is not empty");
}

fn row_19_systhreads() {
    start();
    let kept = roots(0..1000);
    extern "C" fn body(n: Value) -> Value {
        let mut mine = roots(0..to_int(n));
        for round in 0..50 {
            ocaml("yield", &[UNIT]);
            let i = round * 37 % mine.len();
            delete(mine[i]);
            mine[i] = root(i);
            assert!(modify(
                &mut mine[(i + 1) % to_int(n)],
                ocaml("string", &[int((i + 1) % to_int(n))])
            ));
            if round % 10 == 0 {
                without_lock(std::thread::yield_now);
                full_major();
            }
        }
        check_all(&mine, 0);
        // Half stay for others to delete.
        delete_all(&mine[..mine.len() / 2]);
        hand_over(mine.split_off(mine.len() / 2));
        UNIT
    }
    for _ in 0..8 {
        call_rust("thread", body, 1000);
    }
    if OCAML5 {
        // A domain with threads of its own.
        extern "C" fn domain(n: Value) -> Value {
            for _ in 0..3 {
                call_rust("thread", body, to_int(n));
            }
            body(n)
        }
        call_rust("spawn", domain, 1000);
        ocaml("join_all", &[UNIT]);
    }
    ocaml("join_threads", &[UNIT]);
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    assert_eq!(live(), 1000 + left.len());
    check_all(&kept, 0);
    delete_all(&left);
    assert_eq!(live(), 1000);
}

fn row_20_panic_unwinds() {
    use ocaml_boxroot::{Boxroot, Runtime, Value};
    let mut runtime = Runtime::start().unwrap();
    fn panic_past(lock: &ocaml_boxroot::DomainLock, depth: isize) {
        let root = Boxroot::new(lock, Value::int(depth));
        if depth == 0 {
            panic!("unwinding");
        }
        panic_past(lock, depth - 1);
        drop(root);
    }
    let lock = runtime.lock();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panic_past(lock, 100)));
    assert!(result.is_err());
    assert_eq!(live(), 0);
}

#[cfg(cplusplus)]
fn row_20_cpp_pointer_and_unwinding() {
    start();
    assert_eq!(unsafe { test_cpp_pointer() }, 0, "the line of the check that failed");
    assert_eq!(unsafe { test_cpp_unwinding() }, 0, "the line of the check that failed");
}

#[cfg(not(cplusplus))]
fn row_20_cpp_pointer_and_unwinding() {
    panic!("a C++ compiler is needed for this test");
}

fn row_21_exception_past_a_handle() {
    start();
    let kept = roots(0..100);
    for n in 1..=100 {
        ocaml("call_and_catch", &[UNIT]);
        // The exception jumped over the C frame that owned the root: a leak, and nothing worse.
        assert_eq!(live(), 100 + n);
    }
    stress();
    check_all(&kept, 0);
    delete_all(&kept);
    assert_eq!(live(), 100);
}

fn row_22_modify_while_read() {
    start();
    static READ: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    READ.lock().unwrap().0 = vec![root(22)];
    let before = unsafe { sys::boxroot_get(READ.lock().unwrap().0[0]) };
    extern "C" fn modify_it(_: Value) -> Value {
        let v = ocaml("string", &[int(23)]);
        assert!(modify(&mut READ.lock().unwrap().0[0], v));
        UNIT
    }
    // A caller that holds the handle calls OCaml, which calls back and modifies the root.
    assert_eq!(string(before), "22");
    call_rust("call", modify_it, 0);
    stress();
    call_rust("call", modify_it, 0);
    check(READ.lock().unwrap().0[0], 23);
    assert_eq!(live(), 1);
}

/// Roots on one value of each shape.
fn specimen_roots() -> Vec<BoxRoot> {
    let array = unsafe { sys::boxroot_create(ocaml("specimens", &[UNIT])) }.unwrap();
    let count = if OCAML5 { 17 } else { 16 };
    let roots = (0..count)
        .map(|i| unsafe {
            let fields = sys::boxroot_get(array) as *const Value;
            sys::boxroot_create(*fields.add(i)).unwrap()
        })
        .collect();
    delete(array);
    roots
}

fn check_specimens(roots: &[BoxRoot]) {
    for (i, &root) in roots.iter().enumerate() {
        let ok = ocaml("check_specimen", &[int(i), unsafe { sys::boxroot_get(root) }]);
        assert_eq!(ok, int(1), "specimen {i} is not what it was");
    }
}

fn row_23_compaction() {
    start();
    let strings = roots(0..50_000);
    let specimens = specimen_roots();
    // Holes, so that compaction moves things.
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
}

/// A domain ends while its pools are being marked. Its roots belong to custom blocks, which a compaction
/// finalises, at the end of the cycle: the colours of the next one are in use then, and nothing may be
/// darkened yet.
fn row_23_finalisers_in_a_compaction() {
    start();
    const N: usize = 6000;
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    fn wait_for(phase: usize) {
        without_lock(|| common::wait_for(&PHASE, phase));
    }
    extern "C" fn body(_: Value) -> Value {
        hand_over((0..N).map(|i| rooted(unsafe { test_pair(int(i)) })).collect());
        PHASE.store(1, Ordering::SeqCst);
        wait_for(2);
        UNIT
    }
    fn rooted(v: Value) -> BoxRoot {
        unsafe { sys::boxroot_create(v) }.unwrap()
    }
    call_rust("spawn", body, 0);
    wait_for(1);
    let theirs = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    let values: Vec<_> = theirs.iter().map(|&r| rooted(unsafe { sys::boxroot_get(r) })).collect();
    // Blocks of one size, side by side, so that there is something to compact.
    let (mut free, mut owners, mut kept) = (vec![], vec![], vec![]);
    for &root in &theirs {
        free.extend((0..3).map(|i| rooted(unsafe { test_pair(int(i)) })));
        owners.push(rooted(unsafe { test_custom_owner(Some(root)) }));
        kept.push(rooted(unsafe { test_pair(int(0)) }));
    }
    full_major();
    delete_all(&free);
    full_major();
    full_major();
    delete_all(&owners);
    // On OCaml 5.5 a cycle begins by sweeping: these are garbage in the next one only.
    if env!("OCAML_VERSION") < "5.5" {
        unsafe { caml_finish_major_cycle(0) };
    }
    PHASE.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    minor();
    let before = unsafe { test_finalised() };
    unsafe { caml_finish_major_cycle(1) };
    // OCaml 5.1 does not compact, and 5.5 finalises before it does.
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
}

fn row_24_heap_verification() {
    // With V=1 the runtime verifies the heap, and calls our hook to do so, in every cycle.
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
}

fn row_25_moves_while_marking() {
    // The only reference to a string moves from root to root while the major collector
    // marks: whatever the order, it must be seen.
    start();
    ocaml("minor_heap_words", &[int(4096)]);
    let n = 20_000;
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
                    let moved = unsafe { sys::boxroot_create(v) }.unwrap();
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
                // A fresh value.
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
}

fn row_25_barrier_hits_are_counted() {
    start();
    while_roots_are_marked();
    validate();
}

/// Runs `f` while another domain waits without its lock.
fn beside_a_domain(f: impl FnOnce()) {
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

/// A root that is deleted before the marker has visited it keeps its slot until then, and counts as
/// deleted.
fn row_25_deletes_wait_for_the_marker() {
    start();
    deletes_wait_for_the_marker();
    beside_a_domain(deletes_wait_for_the_marker);
}

fn deletes_wait_for_the_marker() {
    let (all, arrays) = roots_long_to_mark(20_000);
    when_roots_are_marked();
    let before = sys::boxroot_stats();
    delete_all(&all);
    let after = sys::boxroot_stats();
    assert_eq!(
        (after.barrier_hits - before.barrier_hits, after.live_roots),
        (20_000, arrays.len())
    );
    minor();
    // New roots go elsewhere; those that are young, or hold no block, are free at once.
    for i in 0..20_000 {
        delete(root(i));
        delete(unsafe { sys::boxroot_create(int(25)) }.unwrap());
    }
    let pools = sys::boxroot_stats().pools;
    assert!(pools <= before.pools + 2, "{pools} pools, {} before", before.pools);
    validate();
    delete_all(&arrays);
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert_eq!((s.live_roots, s.pools_full, s.pools_partial), (0, 0, 0));
}

/// `modify` of a root that the marker has not visited yet takes another slot, for which there may be no
/// memory.
fn row_25_modify_moves_a_root_that_is_being_marked() {
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
}

/// Returns while OCaml 5 marks the roots that exist now. On OCaml 4 it does that at once.
fn while_roots_are_marked() {
    let mut old = roots(0..20_000);
    let long_to_mark = unsafe { sys::boxroot_create(ocaml("list", &[int(3_000_000)])) };
    full_major();
    let hits = sys::boxroot_stats().barrier_hits;
    while cfg!(ocaml5) && sys::boxroot_stats().barrier_hits == hits {
        ocaml("churn_major", &[int(20)]);
        delete(old.pop().expect("some delete comes while the collector marks"));
    }
    delete_all(&old);
    delete(long_to_mark.unwrap());
}

fn row_26_immediates_like_pointers() {
    start();
    let strings = roots(0..5000);
    // Every odd word that a slot's address, a pool's address or a link could be.
    let address = |root: &BoxRoot| sys::boxroot_get_ref(*root) as usize;
    let words: Vec<Value> = strings
        .iter()
        .flat_map(|r| [address(r) | 1, (address(r) & !0x3fff) | 1, address(r).wrapping_neg() | 1])
        .chain([1, usize::MAX, isize::MIN as usize | 1])
        .map(|word| word as Value)
        .collect();
    let made: Vec<BoxRoot> =
        words.iter().map(|&w| unsafe { sys::boxroot_create(w) }.unwrap()).collect();
    stress();
    for (&root, &word) in made.iter().zip(&words) {
        assert_eq!(unsafe { sys::boxroot_get(root) }, word);
    }
    assert_eq!(live(), 5000 + words.len());
    delete_all(&made);
    stress();
    check_all(&strings, 0);
    assert_eq!(live(), 5000);
}

fn row_27_values_of_all_shapes() {
    start();
    let specimens = specimen_roots();
    let long = unsafe { sys::boxroot_create(ocaml("long_string", &[int(65)])) }.unwrap();
    for _ in 0..3 {
        stress();
    }
    check_specimens(&specimens);
    assert_eq!(string(unsafe { sys::boxroot_get(long) }), "A".repeat(4096));
}

/// A run that makes the allocator map memory several times: every create and modify either
/// works or says ENOMEM, and nothing is lost. Returns the roots made, and the failures.
/// OCaml 4 has them, where it is configured for it; OCaml 5 does not.
fn row_28_pointers_out_of_the_heap() {
    start();
    static WORDS: [u64; 3] = [0, 2, 4];
    let pointer = &raw const WORDS[1] as Value;
    let outside: Vec<_> =
        (0..5000).map(|_| unsafe { sys::boxroot_create(pointer) }.expect("a root")).collect();
    let kept = roots(0..1000);
    stress();
    for &root in &outside {
        assert_eq!(unsafe { sys::boxroot_get(root) }, pointer);
    }
    delete_all(&outside);
    stress();
    check_all(&kept, 0);
    assert_eq!((live(), WORDS), (1000, [0, 2, 4]));
}

fn row_29_other_libraries_hooks() {
    start_runtime();
    unsafe { test_install_other(0) };
    assert!(unsafe { sys::boxroot_setup() });
    // On OCaml 5 the first create would install our hooks; they are there already.
    let kept = roots(0..5000);
    unsafe { test_install_other(1) };
    let (first, second) = unsafe { (test_other_scans(0), test_other_scans(1)) };
    let before = sys::boxroot_stats();
    stress();
    let after = sys::boxroot_stats();
    let ours =
        (after.minor_scans + after.major_scans - before.minor_scans - before.major_scans) as usize;
    // Everybody saw every scan.
    assert!(ours > 4, "{ours}");
    assert!(unsafe { test_other_scans(0) } - first >= ours);
    assert_eq!(unsafe { test_other_scans(0) } - first, unsafe { test_other_scans(1) } - second);
    check_all(&kept, 0);
}

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
        // Memory is back: everything works again, and everything is still there.
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

fn row_33_each_allocation_fails_once() {
    // The first allocations of all: the record and the first region.
    start_runtime();
    assert!(unsafe { sys::boxroot_setup() });
    for k in 1..=2 {
        unsafe { bxr_os_fail(k, false) };
        assert_eq!(unsafe { sys::boxroot_create(int(1)) }, None);
        assert_eq!(errno(), libc::ENOMEM);
    }
    unsafe { bxr_os_fail(0, false) };
    let first = unsafe { sys::boxroot_create(int(1)) }.unwrap();
    delete(first);
    allocation_failures(false);
}

fn row_33_each_allocation_fails_for_good() {
    start();
    allocation_failures(true);
}

/// Immediates, so that nothing is allocated: only the creates themselves can find free slots.
fn row_35_producer_and_consumer_without_collections() {
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
        let batch: Vec<_> =
            (0..100).map(|_| unsafe { sys::boxroot_create(int(35)) }.expect("a root")).collect();
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
}

fn row_36_one_root_per_pool() {
    start();
    let slots = sys::boxroot_stats().slots_per_pool;
    // Many more pools than words on the collector's heap.
    let pools = 6000;
    let all: Vec<BoxRoot> =
        (0..pools * slots).map(|_| unsafe { sys::boxroot_create(int(7)) }.unwrap()).collect();
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
    full_major();
    full_major();
    assert!(sys::boxroot_stats().pools <= 2, "memory comes back");
    validate();
}

/// The root that `replace_a_root` made last.
static REPLACED: Mutex<Roots> = Mutex::new(Roots(Vec::new()));

/// For hooks, where nothing may be allocated: an immediate's root goes, and another one comes.
extern "C" fn replace_a_root() {
    let mut replaced = REPLACED.lock().unwrap();
    delete_all(&replaced.0);
    replaced.0.clear();
    // Refused inside a root scan.
    replaced.0.extend(unsafe { sys::boxroot_create(int(39)) });
}

/// The only references to values that were rooted when a cycle began move to a block that is made while
/// the collector marks, and is not visited in this cycle. They must be marked all the same.
fn move_values_to_a_new_block() {
    const N: usize = 5000;
    for _ in 0..5 {
        let (all, arrays) = roots_long_to_mark(N);
        when_roots_are_marked();
        let block = unsafe { sys::boxroot_create(ocaml("block", &[int(N)])) }.unwrap();
        validate();
        for (i, &root) in all.iter().enumerate() {
            unsafe {
                ocaml("set_field", &[sys::boxroot_get(block), int(i), sys::boxroot_get(root)]);
            }
            delete(root);
        }
        validate();
        stress();
        let value_of = |i| unsafe { *(sys::boxroot_get(block) as *const Value).add(i) };
        let lost = (0..N).filter(|&i| string(value_of(i)) != i.to_string()).count();
        assert_eq!(lost, 0, "of {N} values");
        delete(block);
        delete_all(&arrays);
    }
}

fn row_39_roots_made_in_minor_hooks() {
    start();
    unsafe { test_hooks(MINOR_BEGIN | MINOR_END, Some(replace_a_root)) };
    move_values_to_a_new_block();
}

fn row_39_roots_made_in_slice_hooks() {
    start();
    unsafe { test_hooks(SLICE_BEGIN | SLICE_END, Some(replace_a_root)) };
    move_values_to_a_new_block();
}

fn row_39_roots_made_in_slice_hooks_of_several_domains() {
    start();
    static STOP: AtomicBool = AtomicBool::new(false);
    extern "C" fn allocate(_: Value) -> Value {
        while !STOP.load(Ordering::SeqCst) {
            ocaml("churn", &[int(1000)]);
        }
        UNIT
    }
    unsafe { test_hooks(SLICE_BEGIN | SLICE_END, Some(replace_a_root)) };
    call_rust("spawn", allocate, 0);
    move_values_to_a_new_block();
    STOP.store(true, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
}

fn row_39_roots_made_in_other_libraries_hooks() {
    start_runtime();
    unsafe { test_install_other(0) };
    assert!(unsafe { sys::boxroot_setup() });
    unsafe { test_install_other(1) };
    unsafe { test_other_body(Some(replace_a_root)) };
    move_values_to_a_new_block();
}

/// `n` roots of strings, and others among them, all for one large array: whichever of their pools the
/// collector visits first, it is busy for a while. (With a long list it would not be: from OCaml 5.5 on
/// the collector takes more from its stack while it waits for memory.)
fn roots_long_to_mark(n: usize) -> (Vec<BoxRoot>, Vec<BoxRoot>) {
    let array = ocaml("array_of_blocks", &[int(1_000_000)]);
    let mut arrays = vec![unsafe { sys::boxroot_create(array) }.unwrap()];
    let mut all = Vec::with_capacity(n);
    for i in 0..n {
        if i % 500 == 0 {
            arrays.push(unsafe { sys::boxroot_create(sys::boxroot_get(arrays[0])) }.unwrap());
        }
        all.push(root(i));
    }
    full_major();
    (all, arrays)
}

/// Returns when roots have just been marked, at the beginning of a cycle, and values have not.
fn when_roots_are_marked() {
    full_major();
    let scans = sys::boxroot_stats().major_scans;
    while sys::boxroot_stats().major_scans == scans {
        ocaml("churn_major", &[int(20)]);
    }
}

fn row_40_teardown_while_marking() {
    start();
    // Pools with room: the roots of young values go where the marker will still come by.
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
}

fn row_41_memory_after_a_teardown_while_marking() {
    start();
    let (all, arrays) = roots_long_to_mark(60_000);
    when_roots_are_marked();
    delete_all(&all);
    delete_all(&arrays);
    assert!(sys::boxroot_stats().pools >= 30);
    unsafe { sys::boxroot_teardown() }
    // At once on OCaml 4, else when the cycle is over.
    full_major();
    full_major();
    let s = sys::boxroot_stats();
    assert_eq!((s.pools, s.bytes, unsafe { test_directories() }), (0, 0, 0));
}

/// On OCaml 4 a thread made by `Thread.create` gives the lock up, at its end, without a hook.
fn row_42_nothing_believes_the_lock_on_a_thread_that_ends() {
    start();
    static ENDING: AtomicUsize = AtomicUsize::new(0);
    static DONE: AtomicBool = AtomicBool::new(false);
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            ENDING.fetch_add(1, Ordering::SeqCst);
            while !DONE.load(Ordering::SeqCst) {
                assert_ne!(sys::lock_state(), sys::LockState::Held);
                assert_eq!(sys::boxroot_trim(), 0);
                assert!(sys::boxroot_validate().is_null());
                sys::boxroot_stats();
                // On OCaml 5 it is certain that this thread can register, and wait for the lock.
                assert!(OCAML5 || ocaml_boxroot::DomainLock::attach(|_| ()).is_err());
            }
            ENDING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static LATE: Late = const { Late };
    }
    extern "C" fn body(_: Value) -> Value {
        LATE.with(|_| ());
        delete_all(&roots(0..5000));
        UNIT
    }
    call_rust("thread", body, 0);
    call_rust("thread", body, 0);
    ocaml("join_threads", &[UNIT]);
    without_lock(|| wait_for(&ENDING, 2));
    // The slots of live roots are distinct, whatever those threads do meanwhile.
    for _ in 0..100 {
        let all = roots(0..5000);
        check_all(&all, 0);
        delete_all(&all);
        validate();
    }
    DONE.store(true, Ordering::SeqCst);
    without_lock(|| {
        while ENDING.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    });
    assert_eq!(live(), 0);
}

/// The thread that sets the library up is not taken for the main one, which is certain to hold the lock.
fn row_42_setup_on_another_thread() {
    start_runtime();
    extern "C" fn body(_: Value) -> Value {
        assert!(unsafe { sys::boxroot_setup() });
        assert_eq!(sys::lock_state(), sys::LockState::Uncertain);
        hand_over(roots(0..100));
        UNIT
    }
    call_rust("thread", body, 0);
    ocaml("join_threads", &[UNIT]);
    // Its deletes are remote, and its statistics those of the last major scan.
    stress();
    let left = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
    check_all(&left, 0);
    delete_all(&left);
    stress();
    assert_eq!(live(), 0);
}

/// Forks, and has the child use its domain's roots. The collector cannot run there, because it waits for
/// the other domains. A child that hangs, also inside fork, fails.
fn fork_and_use_roots(kept: &[BoxRoot]) {
    let child = unsafe { libc::fork() };
    if child == 0 {
        let more: Vec<_> =
            (0..10_000).map(|_| unsafe { sys::boxroot_create(int(46)) }.unwrap()).collect();
        check_all(kept, 0);
        delete_all(&more);
        validate();
        unsafe { libc::_exit(0) };
    }
    let started = std::time::Instant::now();
    let mut status = 0;
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == 0 {
        if started.elapsed().as_secs() >= 10 {
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::yield_now();
    }
    assert_eq!(status, 0, "the child failed, or hung");
}

fn row_46_fork_while_domains_run() {
    start();
    static STOP: AtomicBool = AtomicBool::new(false);
    // Changes the lists of its pools all the time, and deletes another domain's roots.
    extern "C" fn work(_: Value) -> Value {
        while !STOP.load(Ordering::SeqCst) {
            let made: Vec<_> =
                (0..20_000).map(|_| unsafe { sys::boxroot_create(int(46)) }.unwrap()).collect();
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
}

fn row_46_fork_while_a_domain_changes_its_lists() {
    start();
    static PHASE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn body(_: Value) -> Value {
        extern "C" fn wait_for_the_fork() {
            PHASE.store(1, Ordering::SeqCst);
            wait_for(&PHASE, 2);
        }
        // Without allocating: no collection may want to stop this domain from now on.
        let immediates = || -> Vec<_> {
            (0..10_000).map(|i| unsafe { sys::boxroot_create(int(i)) }.unwrap()).collect()
        };
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
}

fn row_46_fork_while_domains_run_and_a_delete_is_under_way() {
    start();
    let kept = roots(0..100);
    beside_a_domain(|| {
        assert!(unsafe { test_begin_delete(kept[0], false) });
        fork_and_look_at_drain_lists();
    });
}

fn row_50_deletes_keep_errno() {
    start();
    hand_over(roots(0..100));
    // Without a record of its own, a domain needs memory to delete another one's roots; without
    // memory it deletes them all the same.
    extern "C" fn body(n: Value) -> Value {
        minor();
        unsafe { bxr_os_fail(1, true) };
        let roots = std::mem::take(&mut HANDED_OVER.lock().unwrap().0);
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
}

/// Another library deletes a root after our roots were scanned in a minor collection. Its neighbours
/// were promoted just now, and are not complete: the header in front of an infix pointer is copied
/// later, up to OCaml 5.4. A delete that marks them would read what was there before.
fn row_39_deletes_among_values_that_were_just_promoted() {
    start();
    static DELETABLE: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    // It is called before and after our scan: only after it.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn delete_some() {
        if CALLS.fetch_add(1, Ordering::SeqCst) % 2 == 0 {
            return;
        }
        let mut deletable = DELETABLE.lock().unwrap();
        let rest = deletable.0.len().saturating_sub(500);
        delete_all(&deletable.0.split_off(rest));
    }
    unsafe { test_install_other(1) };
    for _ in 0..10 {
        // Pools with room, in which the collector marks: young values come among old ones.
        ocaml("leave_headers", &[int(100_000)]);
        let (all, arrays) = roots_long_to_mark(20_000);
        let (keep, go): (Vec<_>, Vec<_>) = (0..all.len()).partition(|i| i % 4 == 0);
        go.iter().for_each(|&i| delete(all[i]));
        when_roots_are_marked();
        // Each time, some of every pool.
        DELETABLE.lock().unwrap().0 =
            (0..10).flat_map(|k| keep.iter().skip(k).step_by(10)).map(|&i| all[i]).collect();
        let closures: Vec<BoxRoot> = (0..5000)
            .map(|i| unsafe { sys::boxroot_create(ocaml("infix", &[int(i)])) }.unwrap())
            .collect();
        unsafe { test_other_body(Some(delete_some)) };
        for _ in 0..10 {
            minor();
            ocaml("churn", &[int(100)]);
        }
        unsafe { test_other_body(None) };
        full_major();
        for (i, &closure) in closures.iter().enumerate() {
            let applied = ocaml("apply_infix", &[unsafe { sys::boxroot_get(closure) }]);
            assert_eq!(applied, int(i));
        }
        delete_all(&closures);
        delete_all(&arrays);
        delete_all(&std::mem::take(&mut DELETABLE.lock().unwrap().0));
        validate();
    }
}
