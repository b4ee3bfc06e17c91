//! Under `debug-checks` nothing is inlined: the checks need to see every operation.

use super::Domain;
use crate::{BoxRoot, Value};

/// [`boxroot_create`](crate::boxroot_create) without its checks.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `value` is a
/// valid OCaml value.
#[track_caller]
pub unsafe fn create(_domain: Domain, value: Value) -> Option<BoxRoot> {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_create(value) }
}

/// [`boxroot_delete`](crate::boxroot_delete), in a few instructions if `domain` owns `root`.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `root` is live
/// and not used afterwards.
#[track_caller]
pub unsafe fn delete(_domain: Domain, root: BoxRoot) {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_delete(root) }
}

/// [`boxroot_modify`](crate::boxroot_modify), in a few instructions if `*root` is young, or `value`
/// is old (on OCaml 4, an immediate).
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
/// nobody else uses it, and `value` is a valid OCaml value.
#[track_caller]
pub unsafe fn modify(_domain: Domain, root: &mut BoxRoot, value: Value) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_modify(root, value) }
}
