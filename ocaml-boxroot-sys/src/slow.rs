//! The general paths of C, for the fast paths in Rust. The attribute `cold` makes compilers lay out the fast path
//! as the straight one.

use crate::bindings;
use crate::{BoxRoot, Value};

/// # Safety
///
/// As for [`boxroot_create`](crate::boxroot_create).
#[cold]
pub unsafe fn create(value: Value) -> Option<BoxRoot> {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_create_slow(value) }
}

/// # Safety
///
/// As for [`boxroot_delete`](crate::boxroot_delete).
#[cold]
pub unsafe fn delete(root: BoxRoot) {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_delete_slow(Some(root)) }
}
