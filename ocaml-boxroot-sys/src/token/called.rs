//! Under `debug-checks`, and without optimisation, nothing is inlined: every operation is a call of the checked one.

use super::Domain;
use crate::{BoxRoot, Value};

/// [`boxroot_create`](crate::boxroot_create). With its checks, because this build has `debug-checks`, or is not optimised.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `value` is a
/// valid OCaml value.
#[inline]
#[track_caller]
pub unsafe fn create(_domain: Domain, value: Value) -> Option<BoxRoot> {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_create(value) }
}

/// [`boxroot_delete`](crate::boxroot_delete). With its checks, because this build has `debug-checks`, or is not optimised.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, and `root` is live
/// and not used afterwards.
#[inline]
#[track_caller]
pub unsafe fn delete(_domain: Domain, root: BoxRoot) {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_delete(root) }
}

/// [`boxroot_modify`](crate::boxroot_modify). With its checks, because this build has `debug-checks`, or is not optimised.
///
/// # Safety
///
/// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
/// no other thread uses it, and `value` is a valid OCaml value.
#[inline]
#[track_caller]
pub unsafe fn modify(_domain: Domain, root: &mut BoxRoot, value: Value) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { crate::boxroot_modify(root, value) }
}
