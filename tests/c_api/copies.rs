//! The copies of roots that OCaml 4.14 marks (boxroot-c/src/runtime_ocaml4.c).

use crate::support::{raw::*, roots::*};
use ocaml_boxroot_sys as sys;
use sys::{BoxRoot, Value};

/// The number of roots, which is also the number of words of their copies.
const N: usize = 500_000;

/// The words of all blocks that were not swept.
fn live_words() -> usize {
    count("live_words")
}

fn count(what: &str) -> usize {
    to_int(ocaml(what, &[UNIT]))
}

fn roots_of(v: Value) -> Vec<BoxRoot> {
    (0..N).map(|_| root_of(v)).collect()
}

/// Copies take at most a twelfth of the heap.
fn start_with_words(n: usize) {
    start();
    root_of(ocaml("block", &[int(n)]));
}

const ENOUGH: usize = 13 * N;

fn roots_of_one_pair() -> Vec<BoxRoot> {
    minor();
    let pair = root_of(unsafe { test_pair(UNIT) });
    full_major();
    let all = roots_of(unsafe { sys::boxroot_get(pair) });
    delete(pair);
    all
}

test!(copies_are_freed_in_their_cycle, ocaml = 4, || {
    start_with_words(ENOUGH);
    full_major();
    let before = live_words();
    let all = roots_of_one_pair();
    unsafe { caml_finish_major_cycle(0) }
    let scans = sys::boxroot_stats().major_scans;
    unsafe { test_begin_cycle() }
    assert_eq!(sys::boxroot_stats().major_scans, scans + 1, "a cycle has begun");
    let has_copy = live_words() > before + N / 2;
    assert_eq!(int(has_copy as usize), ocaml("makes_copies", &[UNIT]));
    // The next cycle has nothing to copy. It begins as soon as this one has ended.
    delete_all(&all);
    unsafe { caml_finish_major_cycle(0) }
    assert!(live_words() < before + N / 2, "a copy is left");
});

// Another library may replace the hook that frees copies, without calling ours.
test!(copies_are_forgotten_without_the_hook, ocaml = 4, || {
    start_with_words(ENOUGH);
    full_major();
    let before = live_words();
    let all = roots_of_one_pair();
    let kept = roots(0..1000);
    unsafe { test_take_major_hook(true) }
    for _ in 0..3 {
        full_major();
    }
    assert!(live_words() < before + 3 * N, "copies keep each other alive");
    ocaml("compact", &[UNIT]);
    full_major();
    check_all(&kept, 0);
    delete_all(&all);
    delete_all(&kept);
});

// The same library restores the hook when the copies are gone.
test!(copies_are_forgotten_after_a_teardown, ocaml = 4, || {
    start_with_words(ENOUGH);
    let all = roots_of_one_pair();
    when_roots_are_marked();
    unsafe {
        test_take_major_hook(true);
        sys::boxroot_teardown();
    }
    delete_all(&all);
    full_major();
    // The memory of the copies is reused for strings, whose bytes are neither headers nor
    // addresses.
    ocaml("keep_long_strings", &[int(2000)]);
    unsafe { test_take_major_hook(false) }
    full_major();
    assert_eq!(ocaml("kept_strings_are_right", &[UNIT]), int(1));
});

// If copies counted as more marked words than they have, the collector would assume a heap full of
// garbage, and compact it again and again.
test!(copies_do_not_count_twice, ocaml = 4, || {
    start_with_words(ENOUGH);
    ocaml("max_overhead", &[int(200)]);
    let all = roots_of_one_pair();
    full_major();
    let [cycles, before] = ["major_collections", "compactions"].map(count);
    while count("major_collections") < cycles + 20 {
        ocaml("churn_major", &[int(20)]);
    }
    let compactions = count("compactions") - before;
    assert!(compactions <= 5, "{compactions}");
    delete_all(&all);
});

// If copies were most of the heap, each full major collection would be followed by a compaction,
// because of the memory that they leave free.
test!(roots_that_outnumber_values, ocaml = 4, || {
    start_with_words(N / 10);
    let all = roots_of_one_pair();
    full_major();
    let before = count("compactions");
    for _ in 0..5 {
        full_major();
    }
    assert_eq!(count("compactions"), before);
    delete_all(&all);
});

// If the runtime is told to leave much garbage, the heap may grow by a multiple of a copy.
test!(nothing_is_copied_if_the_collector_is_off, ocaml = 4, || {
    start_with_words(ENOUGH);
    ocaml("space_overhead", &[int(1_000_000)]);
    let kept = roots(0..1000);
    let all = roots_of_one_pair();
    let before = live_words();
    unsafe { test_take_major_hook(true) } // copies would be left
    full_major();
    assert!(live_words() < before + N / 2);
    stress();
    check_all(&kept, 0);
    delete_all(&all);
});

// Roots point to memory outside the heap. It is freed, and becomes part of the OCaml heap, before
// the collector has marked the values that it got at the start of its cycle.
test!(memory_becomes_a_part_of_the_heap, ocaml = 4, || {
    #[repr(align(4096))]
    struct Page([Value; 512]);
    const UNMARKED_HEADER: Value = 1 << 10; // of a block with one field
    start_with_words(ENOUGH);
    let mut page = Box::new(Page([UNIT; 512]));
    page.0[0] = UNMARKED_HEADER;
    let page = Box::into_raw(page);
    let all = roots_of(unsafe { (&raw const (*page).0[1]) as Value });
    when_roots_are_marked();
    delete_all(&all);
    unsafe {
        test_page_is_in_heap(page.cast(), true);
        caml_finish_major_cycle(0);
        test_page_is_in_heap(page.cast(), false);
        assert_eq!(Box::from_raw(page).0[0], UNMARKED_HEADER, "it was marked");
    }
});
