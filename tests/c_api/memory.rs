//! Memory that runs out, and functions that are left early, by exceptions and panics.

use crate::common::exported::with_ocaml;
use crate::common::*;
use crate::support::*;
use ocaml_boxroot_sys as sys;
use sys::{BoxRoot, Value};

pub fn a_panic_unwinds_past_roots() {
    use ocaml_boxroot::{Boxroot, Value};
    with_ocaml(|lock| {
        fn panic_past(lock: &ocaml_boxroot::DomainLock, depth: isize) {
            let root = Boxroot::new(lock, Value::int(depth));
            if depth == 0 {
                panic!("unwinding");
            }
            panic_past(lock, depth - 1);
            drop(root);
        }
        let result =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panic_past(lock, 100)));
        assert!(result.is_err());
        assert_eq!(live(), 0);
    })
}

#[cfg(cplusplus)]
pub fn cpp_pointer_and_unwinding() {
    start();
    assert_eq!(unsafe { test_cpp_pointer() }, 0, "the line of the check that failed");
    assert_eq!(unsafe { test_cpp_unwinding() }, 0, "the line of the check that failed");
}

#[cfg(not(cplusplus))]
pub fn cpp_pointer_and_unwinding() {
    panic!("a C++ compiler is needed for this test");
}

pub fn an_exception_jumps_over_a_root() {
    start();
    let kept = roots(0..100);
    for n in 1..=100 {
        ocaml("call_and_catch", &[UNIT]);
        // The exception jumped over the C frame that owned the root. So the root is leaked, but nothing else breaks.
        assert_eq!(live(), 100 + n);
    }
    stress();
    check_all(&kept, 0);
    delete_all(&kept);
    assert_eq!(live(), 100);
}

/// A run that makes the allocator map memory several times: every create and modify either
/// works or says ENOMEM, and nothing is lost. Returns the roots made, and the failures.
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

pub fn each_allocation_fails_once() {
    // The first two allocations of the library fail: that of the record, and that of the first region.
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

pub fn each_allocation_fails_for_good() {
    start();
    allocation_failures(true);
}

pub fn many_creates_are_all_or_none() {
    start();
    // More than what the first region has room for.
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
}

pub fn deletes_keep_errno() {
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
