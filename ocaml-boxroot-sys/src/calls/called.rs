//! The operations, as calls into C: for targets where `inlined.rs` has no assembly, and for builds without optimisation.

use crate::{bindings, BoxRoot, Value};

pub use bindings::boxroot_create;

/// # Safety
///
/// As for [`boxroot_delete`](crate::boxroot_delete).
#[inline(always)]
pub unsafe fn boxroot_delete(root: BoxRoot) {
    // SAFETY: the root is live, and not used again (caller).
    unsafe { bindings::boxroot_delete(Some(root)) }
}

/// # Safety
///
/// As for [`boxroot_modify`](crate::boxroot_modify).
#[inline(always)]
pub unsafe fn boxroot_modify(root: *mut BoxRoot, value: Value) -> bool {
    // SAFETY: `BoxRoot` and a `boxroot` that is not NULL have the same representation, and the function
    // never stores NULL; the rest as promised by the caller.
    unsafe { bindings::boxroot_modify(root.cast(), value) }
}
