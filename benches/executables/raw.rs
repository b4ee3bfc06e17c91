//! The loops of `benches/runtime/cell.h` in Rust, with the raw functions.

use crate::Implementation;
use ocaml_boxroot_sys::{
    boxroot_create, boxroot_delete, boxroot_get, boxroot_modify, boxroot_setup, BoxRoot, Value,
};

extern "C" fn prepare() {
    // SAFETY: OCaml called, so the lock is held.
    assert!(unsafe { boxroot_setup() });
}

fn create_one(value: Value) -> BoxRoot {
    // SAFETY: a valid value (callers).
    unsafe { boxroot_create(value) }.expect("a root")
}

extern "C" fn pairs(n: isize) {
    for i in 0..n {
        // SAFETY: live, and not used again.
        unsafe { boxroot_delete(create_one((i << 1) | 1)) }
    }
}

/// Safety: room for `n` roots, and `n` valid values.
unsafe extern "C" fn create(roots: *mut BoxRoot, values: *const Value, n: isize) {
    for i in 0..n {
        // SAFETY: within both arrays.
        unsafe { roots.offset(i).write(create_one(*values.offset(i))) }
    }
}

/// Safety: `n` roots, under the lock.
unsafe extern "C" fn get(roots: *const BoxRoot, n: isize) -> Value {
    // SAFETY: live roots (caller).
    (0..n).fold(0, |sum, i| sum ^ unsafe { boxroot_get(*roots.offset(i)) }) | 1
}

/// Safety: `n` roots, under the lock, and a valid value.
unsafe extern "C" fn modify(roots: *mut BoxRoot, value: Value, n: isize) {
    for i in 0..n {
        // SAFETY: a live root that no other code uses (caller).
        assert!(unsafe { boxroot_modify(roots.offset(i), value) });
    }
}

/// Safety: `n` roots, which are not used again.
unsafe extern "C" fn delete(roots: *const BoxRoot, n: isize) {
    for i in 0..n {
        // SAFETY: live (caller).
        unsafe { boxroot_delete(*roots.offset(i)) }
    }
}

#[no_mangle]
static rust_raw_implementation: Implementation<BoxRoot> =
    Implementation { name: c"rust_raw".as_ptr(), prepare, pairs, create, get, modify, delete };
