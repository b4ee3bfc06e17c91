//! The ordinary life of roots, from setup to shutdown, on values of all shapes.

use crate::common::*;
use crate::support::*;
use ocaml_boxroot_sys as sys;
use std::sync::Mutex;
use sys::{BoxRoot, Status, Value};

pub fn inlined_round_trip() {
    start();
    assert_eq!(unsafe { test_inline_round_trip(100_000) }, 0);
    assert_eq!(live(), 0);
}

pub fn many_roots_survive() {
    start();
    let all = roots(0..100_000);
    stress();
    check_all(&all, 0);
    // Half of the roots are deleted; the others stay, and the free slots are used again.
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

pub fn modify_between_generations() {
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

/// If the fast paths were closed by mistake, no other test would fail: everything would work, but slowly.
pub fn fast_paths_stay_open() {
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

pub fn trim_gives_memory_back() {
    start();
    let (all, arrays) = roots_long_to_mark(200_000);
    // The pools of these roots are empty after they were deleted, whether they were marked or not.
    let immediates: Vec<BoxRoot> =
        (0..200_000).map(|i| unsafe { sys::boxroot_create(int(i)) }.unwrap()).collect();
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
}

pub fn memory_comes_back() {
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

pub fn deleting_null_does_nothing() {
    unsafe { test_delete_null() } // before anything is set up
    start();
    unsafe { test_delete_null() }
    assert_eq!(live(), 0);
}

pub fn create_before_startup_and_after_teardown() {
    assert_eq!(sys::status(), Status::NotSetup);
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
    assert_eq!(sys::status(), Status::Running);
    let mut kept = root(1);
    unsafe { sys::boxroot_teardown() }
    assert_eq!(sys::status(), Status::ToreDown);
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

pub fn delete_after_teardown_and_shutdown() {
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
    assert_eq!(sys::status(), Status::ToreDown);
}

pub fn delete_in_a_static_destructor() {
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

pub fn a_callback_modifies_a_root_that_is_read() {
    start();
    static READ: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    READ.lock().unwrap().0 = vec![root(22)];
    let before = unsafe { sys::boxroot_get(READ.lock().unwrap().0[0]) };
    extern "C" fn modify_it(_: Value) -> Value {
        let v = ocaml("string", &[int(23)]);
        assert!(modify(&mut READ.lock().unwrap().0[0], v));
        UNIT
    }
    // Here code that has the handle calls OCaml, which calls back and modifies the root.
    assert_eq!(string(before), "22");
    call_rust("call", modify_it, 0);
    stress();
    call_rust("call", modify_it, 0);
    check(READ.lock().unwrap().0[0], 23);
    assert_eq!(live(), 1);
}

pub fn immediates_like_pointers() {
    start();
    let strings = roots(0..5000);
    // Immediates that look like the address of a slot or of a pool, or like a link.
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

pub fn values_of_all_shapes() {
    start();
    let specimens = specimen_roots();
    let long = unsafe { sys::boxroot_create(ocaml("long_string", &[int(65)])) }.unwrap();
    for _ in 0..3 {
        stress();
    }
    check_specimens(&specimens);
    assert_eq!(string(unsafe { sys::boxroot_get(long) }), "A".repeat(4096));
}

/// Values that point out of the heap. OCaml 4 allows them unless it is configured otherwise; OCaml 5 does not.
pub fn pointers_out_of_the_heap() {
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

pub fn one_root_per_pool() {
    start();
    let slots = sys::boxroot_stats().slots_per_pool;
    // The pools are larger than the OCaml heap at this time.
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
    // Each major cycle gives back 512 pools at least.
    (0..6).for_each(|_| full_major());
    assert!(sys::boxroot_stats().pools <= 2, "memory comes back");
    validate();
}

/// What boxroot_validate says after a misuse, which breaks the pool for good: each in a process of its own.
pub fn validate_names_a_misuse() {
    start();
    let all = roots(0..10_000);
    let (first, mut second, last) = (all[0], all[1], all[9_999]);
    is_named("a second delete in the current pool", || {
        delete(last);
        delete(all[9_998]);
        delete(last);
    });
    minor();
    finish_marking();
    is_named("a second delete in an old pool", || {
        delete(first);
        delete(second);
        delete(first);
    });
    is_named("a change after the delete", || {
        delete(second);
        modify(&mut second, int(1234));
    });
    is_named("a change after the delete, which ends the free list", || {
        delete(first);
        delete(second);
        modify(&mut second, int(0));
    });
}

/// In a child process, after `misuse`, boxroot_validate says what may have been done.
fn is_named(what: &str, misuse: impl FnOnce()) {
    // SAFETY: this process has one thread that does something.
    let child = unsafe { libc::fork() };
    if child == 0 {
        misuse();
        let broken = sys::boxroot_validate();
        assert!(!broken.is_null(), "{what} is not seen");
        let broken = unsafe { std::ffi::CStr::from_ptr(broken) }.to_string_lossy();
        assert!(broken.contains("deleted twice, or used after its delete?"), "{what}: {broken}");
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "{what}");
}
