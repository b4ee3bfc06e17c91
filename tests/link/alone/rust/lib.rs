//! Boxroots for an OCaml program, which gets them as immediates.

use ocaml_boxroot_sys as sys;

const UNIT: sys::Value = 1;

fn root_of(handle: sys::Value) -> sys::BoxRoot {
    // SAFETY: `links_create` made the number from a root, whose lowest bit it set; a `BoxRoot` is a
    // pointer that is not NULL.
    unsafe { std::mem::transmute::<isize, sys::BoxRoot>(handle & !1) }
}

#[no_mangle]
extern "C" fn links_setup(_unit: sys::Value) -> sys::Value {
    // SAFETY: OCaml calls this, and holds the lock.
    assert!(unsafe { sys::boxroot_setup() });
    UNIT
}

#[no_mangle]
extern "C" fn links_create(value: sys::Value) -> sys::Value {
    // SAFETY: OCaml calls this with a value.
    let root = unsafe { sys::boxroot_create(value) }.expect("a root");
    sys::boxroot_get_ref(root) as isize | 1
}

#[no_mangle]
extern "C" fn links_get(handle: sys::Value) -> sys::Value {
    // SAFETY: the root is live until `links_delete`, and OCaml holds the lock.
    unsafe { sys::boxroot_get(root_of(handle)) }
}

#[no_mangle]
extern "C" fn links_delete(handle: sys::Value) -> sys::Value {
    // SAFETY: the program deletes each root once.
    unsafe { sys::boxroot_delete(root_of(handle)) }
    UNIT
}
