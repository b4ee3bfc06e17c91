//! The profile of live roots.

use crate::support::process::in_a_child;
use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::{BoxRoot, Value};

/// The text of the profile.
fn profile() -> String {
    let path = std::env::temp_dir().join(format!("boxroot-profile-{}", std::process::id()));
    let mut file =
        std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(unsafe { sys::boxroot_profile_write(file.as_raw_fd(), 0) });
    file.rewind().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

/// The number of live roots according to the profile.
fn profiled() -> usize {
    let text = profile();
    let count = text.strip_prefix("heap profile: ").unwrap().split(':').next().unwrap();
    count.parse().unwrap()
}

fn all_are_gone() {
    assert_eq!(profiled(), 0);
    stress();
    assert_eq!(live(), 0);
    validate();
}

test!(profile_of_the_environment, environment = &[("BOXROOT_PROFILE", "1")], || {
    start();
    let mut all = roots(0..10_000);
    assert_eq!(profiled(), 10_000);
    stress();
    check_all(&all, 0);
    for (i, root) in all.iter_mut().enumerate() {
        assert!(modify(root, ocaml("string", &[int(i)])));
    }
    stress();
    check_all(&all, 0);
    assert_eq!((profiled(), live()), (10_000, 10_000));
    delete_all(&all);
    all_are_gone();
});

// The thread's roots are in two records.
test!(profile_of_a_thread_of_ocaml, || {
    start();
    sys::boxroot_profile(2);
    extern "C" fn body(n: Value) -> Value {
        let all = roots(0..to_int(n));
        assert!(profiled().abs_diff(to_int(n)) < 1000);
        delete_all(&all);
        UNIT
    }
    call_rust("thread", body, 10_000);
    ocaml("join_threads", &[UNIT]);
    all_are_gone();
});

test!(profile_of_leaks, || {
    start();
    sys::boxroot_profile(1000);
    minor();
    // One of the 101 roots of each request leaks.
    for _ in 0..300_000 {
        let mut all = roots_of_a_request();
        all[0] = None;
        all.into_iter().flatten().for_each(delete);
    }
    // 300 samples, give or take 17.
    let found = profiled();
    assert!(found.abs_diff(300_000) < 120_000, "{found}");
    validate();
});

fn roots_of_a_request() -> [Option<BoxRoot>; 101] {
    std::array::from_fn(|i| Some(root_of(int(i))))
}

test!(profile_of_roots_that_wait_for_the_marker, || {
    start();
    sys::boxroot_profile(2);
    for _ in 0..3 {
        let (all, arrays) = roots_long_to_mark(100_000);
        let found = profiled();
        assert!(found.abs_diff(all.len() + arrays.len()) < 4000, "{found}");
        when_roots_are_marked();
        delete_all(&all);
        delete_all(&arrays);
        assert_eq!(profiled(), 0);
        validate();
    }
    full_major();
    full_major();
    all_are_gone();
});

test!(profile_of_roots_that_threads_delete, || {
    start();
    sys::boxroot_profile(1);
    with_foreign_deleters(2, roots(0..20_000), |i| {
        delete_all(&roots(i..i + 100));
        if i % 10 == 0 {
            stress();
        }
    });
    all_are_gone();
});

test!(profile_of_roots_that_a_domain_deletes, ocaml = 5, || {
    start();
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn create_and_wait(n: Value) -> Value {
        sys::boxroot_profile(1);
        let kept = roots(0..1000);
        hand_over(roots(0..to_int(n)));
        STEPS.store(1, Ordering::SeqCst);
        without_lock(|| wait_for(&STEPS, 2));
        check_all(&kept, 0);
        delete_all(&kept);
        UNIT
    }
    call_rust("spawn", create_and_wait, 10_000);
    without_lock(|| wait_for(&STEPS, 1));
    // Groups of neighbouring roots are deleted. At first, the groups between them stay.
    let others = take_handed_over();
    let (first, second): (Vec<_>, Vec<_>) = others.iter().partition::<Vec<BoxRoot>, _>(|root| {
        others.iter().position(|other| other == *root).unwrap() % 128 < 64
    });
    delete_all(&first);
    assert_eq!(profiled(), 1000 + second.len());
    delete_all(&second);
    assert_eq!(profiled(), 1000);
    STEPS.store(2, Ordering::SeqCst);
    ocaml("join_all", &[UNIT]);
    all_are_gone();
});

test!(profile_of_roots_of_domains_that_ended, ocaml = 5, || {
    start();
    sys::boxroot_profile(3);
    extern "C" fn create_and_end(n: Value) -> Value {
        hand_over(roots(0..to_int(n)));
        UNIT
    }
    let mut kept = Vec::new();
    for round in 0..5 {
        (0..3).for_each(|_| call_rust("spawn", create_and_end, 5000));
        ocaml("join_all", &[UNIT]);
        stress();
        let all = take_handed_over();
        for part in all.chunks(5000) {
            check_all(part, 0);
        }
        if round % 2 == 0 {
            delete_all(&all);
        } else {
            kept.extend(all);
        }
    }
    let found = profiled();
    assert!(found.abs_diff(kept.len()) < 3000, "{found}");
    delete_all(&kept);
    all_are_gone();
});

test!(profile_of_domains_that_make_few_roots, ocaml = 5, || {
    start();
    sys::boxroot_profile(100);
    extern "C" fn create_and_end(n: Value) -> Value {
        hand_over(roots(0..to_int(n)));
        UNIT
    }
    let mut all = Vec::new();
    for _ in 0..200 {
        (0..3).for_each(|_| call_rust("spawn", create_and_end, 10));
        ocaml("join_all", &[UNIT]);
        all.extend(take_handed_over());
    }
    // 60 samples, give or take 8.
    let found = profiled();
    assert!(found < 2 * all.len(), "{found}");
    delete_all(&all);
    all_are_gone();
});

test!(profile_in_a_child, || {
    start();
    sys::boxroot_profile(1);
    let all = roots(0..5000);
    in_a_child(|| {
        check_all(&all, 0);
        let more = roots(0..5000);
        assert_eq!(profiled(), 10_000);
        delete_all(&all);
        delete_all(&more);
        all_are_gone();
    });
    assert_eq!(profiled(), 5000);
    delete_all(&all);
    all_are_gone();
});

// OCaml 5 hides the frames around an effect handler while C code below it calls OCaml. The call
// stacks are short, so that unwinding gets that far.
test!(profile_below_an_effect_handler, || {
    extern "C" fn make_root(_: Value) -> Value {
        let root = unsafe { sys::boxroot_create(int(1)) }.unwrap();
        assert_eq!(profiled(), 2); // with that of the C function
        delete(root);
        UNIT
    }
    start();
    sys::boxroot_profile(1);
    minor();
    call_rust("call_below_a_handler", make_root, 0);
    all_are_gone();
});

// Remains of an earlier call on OCaml's stack do not count as a caller.
test!(callers_in_ocaml_are_told_apart, || {
    start();
    extern "C" fn leak(n: Value) -> Value {
        root_of(n); // calls no OCaml code, which would write on the stack
        UNIT
    }
    sys::boxroot_profile(1);
    delete(root_of(UNIT)); // the first create takes another path
    call_rust("call_in_frames", leak, 100);
    let text = profile();
    let stacks = text.lines().skip(1).take_while(|line| !line.is_empty());
    let mut counts: Vec<usize> =
        stacks.map(|line| line.split(':').next().unwrap().parse().unwrap()).collect();
    counts.sort();
    assert_eq!(counts, [50, 50], "{text}");
});
