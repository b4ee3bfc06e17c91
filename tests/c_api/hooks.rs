//! Roots that are made and deleted while the collector works: in finalisers, OCaml signal handlers,
//! callbacks and hooks.

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use sys::{BoxRoot, Value};

// On OCaml 5.2.0 alarms are never called (docs/known-of-ocaml.md).
test!(delete_in_callbacks, except = &["5.2.0"], || {
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
});

test!(delete_in_custom_finalisers, || {
    start();
    let kept = roots(0..1000);
    // Each of these custom blocks owns a root. Some blocks are young and some are old when they
    // die. Their roots are spread over all pools.
    for round in 0..20 {
        let owners: Vec<BoxRoot> = (0..5000)
            .map(|i| {
                let owner = unsafe { test_custom_owner(Some(root(i))) };
                root_of(owner)
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
});

test!(finalisers_run_inside_a_scan, ocaml = 5, || {
    // A minor scan promotes values. To get memory for them, OCaml 5 looks into pools of its heap
    // that have room and were not swept yet, and finalises the dead custom blocks there. So
    // finalisers run inside the library's scan, where deletes are deferred and creates are refused
    // (the finaliser counts these).
    start();
    ocaml("minor_heap_words", &[int(32768)]);
    let kept = roots(0..5000);
    let pair = |i| unsafe { root_of(test_pair(int(i))) };
    let mut made = 0;
    for round in 0.. {
        // Neighbouring blocks of one size. Some stay, so that their memory is still in use. Some
        // are freed first, so that there is room. Blocks with finalisers are freed last.
        let (mut stay, mut first, mut owners) = (vec![], vec![], vec![]);
        for i in 0..2000 {
            stay.push(pair(i));
            first.push(pair(i));
            owners.push(unsafe { root_of(test_custom_owner(Some(root(i)))) });
        }
        made += owners.len();
        minor();
        delete_all(&first);
        full_major();
        delete_all(&owners);
        // One or two major cycles, in turn. The blocks must be garbage, but not yet swept. On OCaml
        // 5.5 this is so after the cycle that has begun, on older versions after the next one.
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
});

test!(create_is_refused_in_a_scan, || {
    // A custom block's finaliser may run between scans, or inside a scan while roots are promoted.
    // In any case, its create either works or is refused, and no root is lost.
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
});

/// Hooks, as `test_hooks` numbers them.
const MINOR_BEGIN: i32 = 1;

const MINOR_END: i32 = 2;

const SLICE_BEGIN: i32 = 4;

const SLICE_END: i32 = 8;

// A domain that waits for others in a minor collection sweeps meanwhile. From OCaml 5.5 on, the
// count of work until marking begins determines how long `Gc.full_major` delays the next marking.
// If the roots' share of the work were subtracted, the count would be negative.
test!(a_forced_collection_does_not_put_marking_off, ocaml = 5, || {
    start();
    extern "C" fn wait() {
        unsafe { test_work_of_a_waiting_domain() }
    }
    let marked_while = |blocks: usize| {
        let scans = sys::boxroot_stats().major_scans;
        (0..blocks / 20).any(|_| {
            ocaml("churn_major", &[int(20)]);
            sys::boxroot_stats().major_scans > scans
        })
    };
    let all = roots(0..500_000);
    for _ in 0..3 {
        assert!(marked_while(1_000_000));
    }
    unsafe { test_hooks(MINOR_END, Some(wait)) };
    full_major();
    unsafe { test_hooks(0, None) };
    assert!(marked_while(1_000_000), "2.4 GB of garbage were made, and nothing was marked");
    delete_all(&all);
});

test!(create_and_delete_in_minor_hooks, || {
    start();
    static MADE: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    extern "C" fn body() {
        let mut made = MADE.lock().unwrap();
        if made.0.len() >= 1000 {
            delete_all(&made.0.split_off(500));
        }
        // Nothing can be allocated in these hooks, so the root is of an immediate.
        made.0.push(root_of(int(77)));
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
});

// A domain has ended, and the minor collection that follows has begun. Meanwhile another domain
// makes its first root, in a hook. If it took the orphan, even for a moment, a domain that scans at
// that moment would miss it.
test!(a_create_in_a_hook_leaves_orphans_to_the_scans, ocaml = 5, || {
    start();
    static MADE: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    // The domain that has ended also calls this. It can neither create roots nor adopt.
    extern "C" fn body() {
        let mut made = MADE.lock().unwrap();
        if made.0.is_empty() && unsafe { bxr_orphans_exist() } {
            made.0.extend(unsafe { sys::boxroot_create(int(8)) });
            assert!(unsafe { bxr_orphans_exist() }, "create took an orphan");
        }
    }
    unsafe { test_hooks(MINOR_BEGIN, Some(body)) };
    call_rust("spawn", make_and_hand_over, 10_000);
    ocaml("join_all", &[UNIT]);
    unsafe { test_hooks(0, None) };
    let made = std::mem::take(&mut MADE.lock().unwrap().0);
    assert_eq!(made.len(), 1);
    stress();
    delete_all(&made);
    check_handed_over(10_000);
});

test!(other_libraries_hooks_see_every_scan, || {
    start_runtime();
    unsafe { test_install_other(0) };
    assert!(unsafe { sys::boxroot_setup() });
    // On OCaml 5 the first create installs the library's hooks if they are missing. Here they are
    // installed.
    let kept = roots(0..5000);
    unsafe { test_install_other(1) };
    let (first, second) = unsafe { (test_other_scans(0), test_other_scans(1)) };
    let before = sys::boxroot_stats();
    stress();
    let after = sys::boxroot_stats();
    let ours =
        (after.minor_scans + after.major_scans - before.minor_scans - before.major_scans) as usize;
    // The hooks of this library and of both others were called in every scan.
    assert!(ours > 4, "{ours}");
    assert!(unsafe { test_other_scans(0) } - first >= ours);
    assert_eq!(unsafe { test_other_scans(0) } - first, unsafe { test_other_scans(1) } - second);
    check_all(&kept, 0);
});

/// The root that `replace_a_root` made last.
static REPLACED: Mutex<Roots> = Mutex::new(Roots(Vec::new()));

/// For hooks, which must not allocate: deletes a root of an immediate, and creates another one.
extern "C" fn replace_a_root() {
    let mut replaced = REPLACED.lock().unwrap();
    delete_all(&replaced.0);
    replaced.0.clear();
    // Inside a root scan, create is refused.
    replaced.0.extend(unsafe { sys::boxroot_create(int(39)) });
}

/// Moves values that were rooted when a cycle began to a block that is allocated while the
/// collector marks. Then deletes their roots. The collector does not visit such a block in this
/// cycle, but must still mark the values.
fn move_values_to_a_new_block() {
    let slots = sys::boxroot_stats().slots_per_pool;
    // The last pool has few roots, half as many as fit, or more. So it is listed or young
    // (src/domain.h).
    for eighths in [17, 20, 22, 17, 20] {
        let n = slots * eighths / 8;
        let (all, arrays) = roots_long_to_mark(n);
        when_roots_are_marked();
        let block = root_of(ocaml("block", &[int(n)]));
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
        let lost = (0..n).filter(|&i| string(value_of(i)) != i.to_string()).count();
        assert_eq!(lost, 0, "of {n} values");
        delete(block);
        delete_all(&arrays);
    }
}

test!(roots_made_in_minor_hooks, ocaml = 5, || {
    start();
    unsafe { test_hooks(MINOR_BEGIN | MINOR_END, Some(replace_a_root)) };
    move_values_to_a_new_block();
});

test!(roots_made_in_slice_hooks, ocaml = 5, || {
    start();
    unsafe { test_hooks(SLICE_BEGIN | SLICE_END, Some(replace_a_root)) };
    move_values_to_a_new_block();
});

test!(
    roots_made_in_slice_hooks_of_several_domains,
    ocaml = 5,
    environment = &[("OCAMLRUNPARAM", "v=0")],
    || {
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
);

test!(roots_made_in_other_libraries_hooks, ocaml = 5, || {
    start_runtime();
    unsafe { test_install_other(0) };
    assert!(unsafe { sys::boxroot_setup() });
    unsafe { test_install_other(1) };
    unsafe { test_other_body(Some(replace_a_root)) };
    move_values_to_a_new_block();
});

// Another library deletes a root after our roots were scanned in a minor collection. The
// neighbouring values were just promoted, and are not complete: up to OCaml 5.4, the header in
// front of an infix pointer is copied later. A delete that marks them would read the old content.
test!(deletes_among_values_that_were_just_promoted, ocaml = 5, || {
    start();
    static DELETABLE: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    // The hooks call this before and after the library's scan. It only deletes after the scan.
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
        // Pools with free slots that the collector is marking, so that young values get slots among
        // old ones.
        ocaml("leave_headers", &[int(100_000)]);
        let (all, arrays) = roots_long_to_mark(20_000);
        let (keep, go): (Vec<_>, Vec<_>) = (0..all.len()).partition(|i| i % 4 == 0);
        go.iter().for_each(|&i| delete(all[i]));
        when_roots_are_marked();
        // In an order in which every call deletes some roots of every pool.
        DELETABLE.lock().unwrap().0 =
            (0..10).flat_map(|k| keep.iter().skip(k).step_by(10)).map(|&i| all[i]).collect();
        let closures = infix_pointers(5000);
        unsafe { test_other_body(Some(delete_some)) };
        for _ in 0..10 {
            minor();
            ocaml("churn", &[int(100)]);
        }
        unsafe { test_other_body(None) };
        full_major();
        check_infix_pointers(&closures);
        delete_all(&closures);
        delete_all(&arrays);
        delete_all(&std::mem::take(&mut DELETABLE.lock().unwrap().0));
        validate();
    }
});

// A root scan of a minor collection moves values, and copies their fields only later. Other domains
// may mark meanwhile, and visit these roots. So the header in front of an infix pointer must be
// complete as soon as the slot has changed.
test!(infix_pointers_are_complete_after_a_scan, ocaml = 5, || {
    start();
    static CLOSURES: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    // The hooks call this before and after the library's scan.
    extern "C" fn look() {
        for &closure in &CLOSURES.lock().unwrap().0 {
            let v = unsafe { sys::boxroot_get(closure) };
            // SAFETY: a header is in front of each value, young or just promoted.
            let header = unsafe { *(v as *const usize).sub(1) };
            assert_eq!(header & 0xff, INFIX_TAG);
        }
    }
    unsafe { test_install_other(1) };
    ocaml("leave_headers", &[int(100_000)]);
    full_major();
    CLOSURES.lock().unwrap().0 = infix_pointers(5000);
    unsafe { test_other_body(Some(look)) };
    minor();
    unsafe { test_other_body(None) };
    full_major();
    check_infix_pointers(&CLOSURES.lock().unwrap().0);
    delete_all(&CLOSURES.lock().unwrap().0);
    validate();
});

const INFIX_TAG: usize = 249;

/// Roots of n young infix pointers. They are closures: the first one returns 0, the second one 1,
/// and so on.
fn infix_pointers(n: usize) -> Vec<BoxRoot> {
    (0..n).map(|i| root_of(ocaml("infix", &[int(i)]))).collect()
}

fn check_infix_pointers(roots: &[BoxRoot]) {
    for (i, &root) in roots.iter().enumerate() {
        let applied = ocaml("apply_infix", &[unsafe { sys::boxroot_get(root) }]);
        assert_eq!(applied, int(i));
    }
}
