//! The operations on roots, as they are.

use crate::{slot, BoxRoot, Value, ValueCell};

#[cfg(not(inlined_thread_locals))]
mod called;
#[cfg(inlined_thread_locals)]
mod inlined;
#[cfg(not(inlined_thread_locals))]
use called as paths;
#[cfg(inlined_thread_locals)]
use inlined as paths;

/// A new root that owns `init`. `None`, with `errno` `EPERM` or `ENOMEM`, on failure.
///
/// # Safety
///
/// `init` is a valid OCaml value.
#[inline]
pub unsafe extern "C" fn boxroot_create(init: Value) -> Option<BoxRoot> {
    // SAFETY: `init` is valid (caller); everything else is checked by the function.
    unsafe { paths::boxroot_create(init) }
}

/// The value that `root` owns.
///
/// # Safety
///
/// `root` is live and the calling thread holds the lock. The result is an unrooted value.
#[inline]
pub unsafe fn boxroot_get(root: BoxRoot) -> Value {
    // SAFETY: a live root's slot is readable under the lock (caller).
    unsafe { *slot(root) }
}

/// Where `root` keeps its value, until it is deleted or modified. Never `NULL`.
#[inline]
pub fn boxroot_get_ref(root: BoxRoot) -> *const ValueCell {
    slot(root).cast()
}

/// Gives up `root` and its value. Any thread may do it at any time, without the lock.
///
/// # Safety
///
/// `root` is live, and neither it nor a copy is used afterwards.
#[inline]
pub unsafe extern "C" fn boxroot_delete(root: BoxRoot) {
    // SAFETY: `root` is live (caller).
    unsafe { paths::boxroot_delete(root) }
}

/// Makes `*root` own `new_value` instead. May change `*root`: the root may move. `false`, with
/// `errno` `EPERM` or `ENOMEM`, on failure; the root is then intact.
///
/// # Safety
///
/// `*root` is live and nobody else uses it; `new_value` is a valid OCaml value.
#[inline]
pub unsafe extern "C" fn boxroot_modify(root: *mut BoxRoot, new_value: Value) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { paths::boxroot_modify(root, new_value) }
}
