//! One root or many, on values of all shapes.

use crate::support::{process::in_a_child, raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use std::sync::Mutex;
use sys::{BoxRoot, Value};

test!(inlined_round_trip, || {
    start();
    assert_eq!(unsafe { test_inline_round_trip(100_000) }, 0);
    assert_eq!(live(), 0);
});

test!(many_roots_survive, || {
    start();
    let all = roots(0..100_000);
    stress();
    check_all(&all, 0);
    // Half of the roots are deleted. The others stay, and the free slots are reused.
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
});

test!(modify_between_generations, || {
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
});

test!(a_change_moves_no_root_that_can_stay, || {
    start();
    let mut all = roots(0..1000);
    minor();
    all.push(root(1000)); // in the same pool, which is old
    let before = all[0];
    assert!(modify(&mut all[0], ocaml("string", &[int(0)])));
    assert_eq!(all[0], before, "the slot is listed");
    stress();
    check_all(&all, 0);
    delete_all(&all);
});

// If the fast paths were closed by mistake, no other test would fail. Everything would only be
// slower.
test!(fast_paths_stay_open, || {
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
});

test!(deleting_null_does_nothing, || {
    unsafe { test_delete_null() } // before anything is set up
    start();
    unsafe { test_delete_null() }
    assert_eq!(live(), 0);
});

test!(a_callback_modifies_a_root_that_is_read, || {
    start();
    static READ: Mutex<Roots> = Mutex::new(Roots(Vec::new()));
    READ.lock().unwrap().0 = vec![root(22)];
    let before = unsafe { sys::boxroot_get(READ.lock().unwrap().0[0]) };
    extern "C" fn modify_it(_: Value) -> Value {
        let v = ocaml("string", &[int(23)]);
        assert!(modify(&mut READ.lock().unwrap().0[0], v));
        UNIT
    }
    // Code that has the handle calls OCaml, which calls back and modifies the root.
    assert_eq!(string(before), "22");
    call_rust("call", modify_it, 0);
    stress();
    call_rust("call", modify_it, 0);
    check(READ.lock().unwrap().0[0], 23);
    assert_eq!(live(), 1);
});

test!(immediates_like_pointers, || {
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
    let made: Vec<BoxRoot> = words.iter().map(|&w| root_of(w)).collect();
    stress();
    for (&root, &word) in made.iter().zip(&words) {
        assert_eq!(unsafe { sys::boxroot_get(root) }, word);
    }
    assert_eq!(live(), 5000 + words.len());
    delete_all(&made);
    stress();
    check_all(&strings, 0);
    assert_eq!(live(), 5000);
});

test!(values_of_all_shapes, || {
    start();
    let specimens = specimen_roots();
    let long = root_of(ocaml("long_string", &[int(65)]));
    for _ in 0..3 {
        stress();
    }
    check_specimens(&specimens);
    assert_eq!(string(unsafe { sys::boxroot_get(long) }), "A".repeat(4096));
});

// Values that point outside the heap. OCaml 4 allows them unless it is configured otherwise; OCaml
// 5 does not.
test!(pointers_out_of_the_heap, ocaml = 4, || {
    start();
    static WORDS: [u64; 3] = [0, 2, 4];
    let pointer = &raw const WORDS[1] as Value;
    let outside: Vec<_> = (0..5000).map(|_| root_of(pointer)).collect();
    let kept = roots(0..1000);
    stress();
    for &root in &outside {
        assert_eq!(unsafe { sys::boxroot_get(root) }, pointer);
    }
    delete_all(&outside);
    stress();
    check_all(&kept, 0);
    assert_eq!((live(), WORDS), (1000, [0, 2, 4]));
});

// The answers of boxroot_validate after misuses. Each misuse breaks the pool for good, so it has
// its own process.
test!(validate_names_a_misuse, || {
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
});

/// In a child process, after `misuse`, boxroot_validate names this mistake.
fn is_named(what: &str, misuse: impl FnOnce()) {
    in_a_child(|| {
        misuse();
        let broken = sys::boxroot_validate();
        assert!(!broken.is_null(), "{what} is not seen");
        let broken = unsafe { std::ffi::CStr::from_ptr(broken) }.to_string_lossy();
        assert!(broken.contains("deleted twice, or used after its delete?"), "{what}: {broken}");
    });
}

test!(cpp_pointer_and_unwinding, || {
    #[cfg(not(cplusplus))]
    panic!("a C++ compiler is needed for this test");
    #[cfg(cplusplus)]
    {
        start();
        assert_eq!(unsafe { test_cpp_pointer() }, 0, "the line of the check that failed");
        assert_eq!(unsafe { test_cpp_unwinding() }, 0, "the line of the check that failed");
    }
});

test!(an_exception_jumps_over_a_root, || {
    start();
    let kept = roots(0..100);
    for n in 1..=100 {
        ocaml("call_and_catch", &[UNIT]);
        // The exception jumped over the C frame that owned the root. So the root leaks, but nothing
        // else breaks.
        assert_eq!(live(), 100 + n);
    }
    stress();
    check_all(&kept, 0);
    delete_all(&kept);
    assert_eq!(live(), 100);
});
