//! Uses of the runtime. A thread with a *use* needs the runtime: while other threads have uses,
//! [`forbid`] fails, so the runtime is not shut down.
//!
//! A use begins before its thread waits for the lock, and ends after the thread released the lock.
//! The uses of one thread nest. Each copy of the C library counts its own uses: a shared library
//! (`cdylib`) may have its own copy.

use crate::bindings;

/// Why no use could begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// [`begin_to_lock`] only: the runtime was shut down, or is being shut down.
    Down,
    /// This process is the child of a fork that was made without the lock, or after another domain
    /// was made.
    Forked,
    /// [`begin_to_lock`] only: this thread seems to hold the lock already
    /// ([`Held`](crate::LockState::Held), [`Uncertain`](crate::LockState::Uncertain)).
    AlreadyHeld,
    /// [`begin_to_lock`] only: this thread's domain [has ended](crate::LockState::Ended).
    Ended,
    /// [`begin_to_lock`] only: the library's [`status`](crate::status) is not `Running`.
    NotRunning,
    /// [`begin_to_lock`] only: another thread has [paused](pause) first uses. Try again later.
    Paused,
}

/// Converts the result of a C function that begins a use.
#[inline]
fn begun(answer: core::ffi::c_int) -> Result<i32, Refused> {
    if answer > 0 {
        Ok(answer)
    } else {
        Err(refused(answer))
    }
}

#[cold]
fn refused(refusal: bindings::bxr_use) -> Refused {
    match refusal {
        bindings::BXR_USE_DOWN => Refused::Down,
        bindings::BXR_USE_FORKED => Refused::Forked,
        bindings::BXR_USE_HELD => Refused::AlreadyHeld,
        bindings::BXR_USE_ENDED => Refused::Ended,
        bindings::BXR_USE_PAUSED => Refused::Paused,
        _ => Refused::NotRunning,
    }
}

/// Begins a use of this thread, and returns its number: 1 for the outermost use, 2 for a use inside
/// that one, and so on. Needs no lock, and never blocks.
///
/// # Errors
///
/// [`Refused::Forked`]; then no use has begun.
///
/// # Safety
///
/// Before another use begins on this thread, either this use has ended, or OCaml knows the thread,
/// because it holds the lock or was registered. A nested use is taken as proof that OCaml knows the
/// thread.
#[inline]
pub unsafe fn begin() -> Result<i32, Refused> {
    // SAFETY: a nested use begins only on a thread that OCaml knows (caller).
    begun(unsafe { bindings::bxr_use_begin() })
}

/// Like [`begin`], on a thread that waits for the lock next.
///
/// # Errors
///
/// Any [`Refused`]; then no use has begun. [`Refused::Down`] also after
/// [`boxroot_teardown`](crate::boxroot_teardown).
///
/// # Safety
///
/// As for [`begin`].
#[inline]
pub unsafe fn begin_to_lock() -> Result<i32, Refused> {
    // SAFETY: a nested use begins only on a thread that OCaml knows (caller).
    begun(unsafe { bindings::bxr_use_begin_to_lock() })
}

/// Whether uses are [refused](Refused::Forked) in this process because of the way it was forked.
/// Any thread, at any time.
#[inline]
pub fn is_forked() -> bool {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_uses_forked() }
}

/// The number of this thread's innermost use, or 0 if it has none. Any thread, at any time.
#[inline]
pub fn innermost() -> i32 {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_uses_innermost() }
}

/// Whether the use with this number is the innermost one of this thread, and uses are not
/// [refused](Refused::Forked). Any thread, at any time.
#[inline]
pub fn go_on(number: i32) -> bool {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_uses_go_on(number) }
}

/// Ends this thread's innermost use.
///
/// # Safety
///
/// This thread has a use, and does not rely on it any more.
#[inline]
pub unsafe fn end() {
    // SAFETY: this thread has a use, so the count is not 0 (caller).
    unsafe { bindings::bxr_use_end() }
}

/// Like [`boxroot_teardown`](crate::boxroot_teardown), but other domains may still use the library.
/// No memory is freed, and existing roots stay readable.
///
/// # Safety
///
/// From now on no collection ends, so roots are not scanned: this thread holds the lock of its
/// domain, never releases it, and never takes part in a collection again.
pub unsafe fn close() {
    // SAFETY: no collection frees or moves values of roots (caller).
    unsafe { bindings::bxr_close() }
}

/// Tells the library that the runtime is gone: no collector visits pools any more. The library
/// frees the memory that it kept for the collector, and from now on
/// [`boxroot_stats`](crate::boxroot_stats) is exact on any thread.
///
/// # Safety
///
/// [`boxroot_teardown`](crate::boxroot_teardown) has returned, and no domain collects any more, for
/// instance because `caml_shutdown` has also returned.
pub unsafe fn runtime_gone() {
    // SAFETY: the library is torn down, and no collector visits pools (caller).
    unsafe { bindings::bxr_runtime_gone() }
}

/// Whether [`runtime_gone`] was called. Any thread, at any time.
pub fn is_gone() -> bool {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_is_gone() }
}

/// Succeeds if this thread's use is the only use in the process. From then on, [`begin_to_lock`]
/// refuses threads that have no use yet; these can only [`begin`] one when OCaml code calls Rust.
/// Never blocks.
///
/// # Errors
///
/// If this thread has several uses, the number of its other uses; otherwise the number of other
/// threads with uses.
///
/// # Safety
///
/// This thread has a use, and shuts the runtime down if this succeeds.
pub unsafe fn forbid() -> Result<(), usize> {
    // SAFETY: this thread has a use (caller), so the count of its uses is not 0.
    match unsafe { bindings::bxr_uses_forbid() } {
        0 => Ok(()),
        more => Err(more),
    }
}

/// While this exists, [`begin_to_lock`] returns [`Paused`](Refused::Paused) on threads that have no
/// use yet.
pub struct Pause(core::marker::PhantomData<*mut ()>);

/// Pauses first uses of other threads, so that the number of uses falls, and [`forbid`] does not
/// fail forever because threads come and go. Needs no lock, and never blocks.
///
/// # Safety
///
/// No other [`Pause`] exists in this process.
pub unsafe fn pause() -> Pause {
    // SAFETY: nobody else pauses uses (caller).
    unsafe { bindings::bxr_uses_pause() };
    Pause(core::marker::PhantomData)
}

impl Drop for Pause {
    fn drop(&mut self) {
        // SAFETY: this thread has paused uses (`Pause` is not Send).
        unsafe { bindings::bxr_uses_resume() }
    }
}

/// How many other threads have uses. Any thread, at any time.
pub fn of_others() -> usize {
    // SAFETY: no precondition.
    unsafe { bindings::bxr_uses_of_others() }
}
