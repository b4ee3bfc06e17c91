//! Uses of the runtime: while other threads have any, [`forbid`] fails, and the runtime is not shut down.
//!
//! The count is one for the process. A use begins before a thread waits for the lock, and ends after
//! it gave the lock up. Uses of one thread nest.

use crate::bindings;

/// Why a use was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The runtime was shut down, or is being.
    Down,
    /// This process is the child of a fork that was made without the lock, or while other domains ran.
    Forked,
}

/// Begins a use of this thread. `true` if it is nested in another one.
///
/// # Safety
///
/// Before another use begins on this thread, or it [ends](end), the thread holds the lock, or OCaml knows it.
/// (A nested use tells that OCaml knows the thread.)
#[inline]
pub unsafe fn begin() -> Result<bool, Refused> {
    // SAFETY: as promised by the caller.
    match unsafe { bindings::bxr_use_begin() } as u32 {
        bindings::BXR_USE_FIRST => Ok(false),
        bindings::BXR_USE_NESTED => Ok(true),
        bindings::BXR_USE_DOWN => Err(Refused::Down),
        _ => Err(Refused::Forked),
    }
}

/// Ends the use that this thread began last.
///
/// # Safety
///
/// This thread has a use, and does not rely on it any more.
#[inline]
pub unsafe fn end() {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_use_end() }
}

/// Says that the runtime is gone: [`boxroot_stats`](crate::boxroot_stats) counts what is there, from now
/// on.
///
/// # Safety
///
/// After `caml_shutdown` and [`boxroot_teardown`](crate::boxroot_teardown).
pub unsafe fn runtime_gone() {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_runtime_gone() }
}

/// Whether it is: [`runtime_gone`] was called, by anybody.
pub fn is_gone() -> bool {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_is_gone() }
}

/// Forbids uses, for good, if this thread has one, and no other thread has any. Uses that are
/// nested in this one are not forbidden.
///
/// # Errors
///
/// How many more uses there are.
///
/// # Safety
///
/// This thread has a use, and shuts the runtime down.
pub unsafe fn forbid() -> Result<(), usize> {
    // SAFETY: as promised by the caller.
    match unsafe { bindings::bxr_uses_forbid() } {
        0 => Ok(()),
        more => Err(more),
    }
}
