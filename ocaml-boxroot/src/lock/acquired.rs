//! Uses of the runtime, and taking the lock.

use super::watchdog::{State, Watched};
use crate::{ffi, AttachError};
use ocaml_boxroot_sys::{self as sys, uses};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// One use of the runtime (`ocaml_boxroot_sys::uses`). Invariant: while it exists,
/// `Runtime::shutdown` fails.
pub(crate) struct Use {
    /// 1 for the outermost use of this thread, 2 for a use inside that one, and so on.
    pub(super) number: i32,
    _not_send: PhantomData<*mut ()>,
}

impl Use {
    /// Begins a use on a thread that holds the lock.
    pub(super) fn new() -> Result<Use, AttachError> {
        // SAFETY: OCaml knows this thread, because the thread holds the lock. If it does not hold
        // the lock, which can happen in `read_if_held`, the use ends immediately.
        Use::begun(unsafe { uses::begin() })
    }

    /// Begins a use on a thread that takes the lock next. Returns an error if the thread cannot
    /// take it, for instance because it holds the lock already. Waits while another thread tries to
    /// shut the runtime down.
    #[inline]
    pub(crate) fn to_lock() -> Result<Use, AttachError> {
        // SAFETY: this thread begins no other use until it holds the lock. If it cannot take the
        // lock, it ends this use.
        match unsafe { uses::begin_to_lock() } {
            Err(uses::Refused::Paused) => Use::to_lock_later(),
            begun => Use::begun(begun),
        }
    }

    #[cold]
    #[inline(never)]
    fn to_lock_later() -> Result<Use, AttachError> {
        loop {
            thread::sleep(Duration::from_millis(1));
            // SAFETY: as in `to_lock`.
            match unsafe { uses::begin_to_lock() } {
                Err(uses::Refused::Paused) => {}
                begun => return Use::begun(begun),
            }
        }
    }

    #[inline]
    fn begun(begun: Result<i32, uses::Refused>) -> Result<Use, AttachError> {
        match begun {
            Ok(number) => Ok(Use { number, _not_send: PhantomData }),
            Err(refused) => Err(refusal(refused)),
        }
    }

    /// Whether a calling frame of this thread also has a use. If so, OCaml knows this thread.
    #[inline]
    pub(crate) fn is_nested(&self) -> bool {
        self.number > 1
    }
}

#[cold]
fn refusal(refused: uses::Refused) -> AttachError {
    // SAFETY: the function has no precondition.
    let in_finaliser = unsafe { ffi::obx_in_finaliser() } != 0;
    match refused {
        uses::Refused::Down => AttachError::TornDown,
        uses::Refused::Forked => AttachError::Forked,
        // In a finaliser, `Ended` means that a domain is in its last collections.
        uses::Refused::AlreadyHeld | uses::Refused::Ended if in_finaliser => {
            AttachError::InFinaliser
        }
        uses::Refused::AlreadyHeld => AttachError::AlreadyHeld,
        uses::Refused::Ended => AttachError::ThreadNotRegistered,
        _ => match AttachError::last() {
            // Boxroot was set up after it had refused the use.
            AttachError::LockNotHeld | AttachError::OutOfMemory => AttachError::NotReady,
            error => error,
        },
    }
}

impl Drop for Use {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this use began on this thread (a `Use` is not Send).
        unsafe { uses::end() }
    }
}

/// Whether [`set_up`] has succeeded.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);

/// Sets boxroot up if that was not done yet. First prepares for threads that attach later.
///
/// # Safety
///
/// This thread holds the lock of a started runtime.
#[inline]
pub(crate) unsafe fn set_up() {
    if !IS_SET_UP.load(Ordering::Acquire) {
        // SAFETY: this thread holds the lock of a started runtime (caller).
        unsafe { set_up_first() }
    }
}

#[cold]
unsafe fn set_up_first() {
    // SAFETY: this thread holds the lock of a started runtime (caller).
    let is_set_up = unsafe {
        ffi::obx_look_for_threads();
        ffi::obx_keep_heap();
        sys::boxroot_setup()
    };
    // If setting up failed, `DomainLock::new` returns the error.
    IS_SET_UP.store(is_set_up, Ordering::Release);
}

/// Holds the lock and a use. Dropping it, even in a panic, releases the lock and ends the use.
pub(crate) struct Acquired {
    pub(super) used: Use,
    _watched: Watched,
}

impl Acquired {
    /// Waits for the lock.
    #[inline]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    pub(crate) fn new() -> Result<Acquired, AttachError> {
        Acquired::with(Use::to_lock()?)
    }

    /// Like [`new`](Acquired::new), but does not wait if another thread tries to shut the runtime
    /// down. The caller does not hold the lock, and another thread has a use and waits for this
    /// call.
    pub(crate) fn unpaused() -> Result<Acquired, AttachError> {
        Acquired::with(Use::new()?)
    }

    #[inline]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    fn with(used: Use) -> Result<Acquired, AttachError> {
        let watched = Watched::new(State::Waits);
        // SAFETY: this thread does not hold the lock (`to_lock`), and the use keeps the runtime up.
        // If the use is nested, OCaml knows the thread, because a calling frame of it has a use.
        match unsafe { ffi::obx_acquire(used.is_nested()) } {
            0 => {}
            ffi::NO_THREADS => return Err(AttachError::SystemThreadsMissing),
            _ => return Err(AttachError::ThreadNotRegistered),
        }
        watched.is_now(State::Holds);
        Ok(Acquired { used, _watched: watched })
    }

    /// Whether a calling frame of this thread also has a use.
    pub(crate) fn is_nested(&self) -> bool {
        self.used.is_nested()
    }
}

impl Drop for Acquired {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this thread has held the lock since `new`.
        unsafe { ffi::obx_release() }
    }
}

#[cfg(all(test, feature = "link-runtime"))]
mod tests {
    use super::*;
    use crate::DomainLock;

    /// The library is set up after it refuses the use and before it is asked for the reason.
    #[test]
    fn refused_before_a_start_that_is_over() {
        crate::Runtime::start().unwrap();
        assert_eq!(refusal(uses::Refused::NotRunning), AttachError::NotReady);
        DomainLock::with(|_| assert_eq!(refusal(uses::Refused::NotRunning), AttachError::NotReady))
            .unwrap();
    }
}
