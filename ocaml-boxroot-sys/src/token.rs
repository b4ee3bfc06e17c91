//! The fast paths, inlined into Rust, for callers that check only once that they hold the lock.
//!
//! `boxroot_create`, `boxroot_delete` and `boxroot_modify` check on every call that this thread
//! holds the lock, and look up its domain. [`attach`] does both once. The functions here then take
//! the [`Domain`], and in the common case need no function call and no thread-local access. The
//! `DomainLock` of `ocaml-boxroot` contains a [`Domain`].
//!
//! Under `debug-checks`, and in builds without optimisation, nothing is inlined: the functions here
//! call the functions without a [`Domain`], with their checks.

use crate::bindings::{self, bxr_domain_head};
#[cfg(inlined)]
use crate::fast;
use crate::{BoxRoot, Stats, Value};
use core::ptr::NonNull;

/// A domain's allocator. It stays the same until the domain ends, and must not be used afterwards.
/// Only a thread that holds the domain's lock may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(NonNull<bxr_domain_head>);

/// Returns the allocator of this thread's domain. Sets the library up on OCaml 5. Returns `None` on
/// failure, with `errno` set to `EPERM` if this thread does not hold the lock, if the library is
/// not running, or during a root scan, or to `ENOMEM` if memory ran out. After
/// [`close`](crate::uses::close), other domains may still attach.
///
/// # Safety
///
/// On OCaml 4, the call is not made in a thread-local destructor of a `Thread.create` thread: the
/// thread does not hold the lock there, and the library cannot detect that.
#[inline]
pub unsafe fn attach() -> Option<Domain> {
    #[cfg(inlined)]
    if let Some(head) = fast::attached().and_then(NonNull::new) {
        return Some(Domain(head));
    }
    // SAFETY: if the function cannot detect that the lock is not held, it is held (caller).
    NonNull::new(unsafe { bindings::bxr_domain_attach() }).map(Domain)
}

/// Like [`attach`], but takes a few instructions, for a thread that already has a
/// [use](crate::uses). Returns `None` if only [`attach`] can tell, or if OCaml runs on the stack of
/// an effect handler.
///
/// # Safety
///
/// OCaml has called this thread's code, so the thread holds the lock.
#[inline(always)]
pub unsafe fn reenter() -> Option<Domain> {
    #[cfg(inlined)]
    // SAFETY: OCaml has called (caller).
    let head = unsafe { fast::reenter() };
    #[cfg(not(inlined))]
    // SAFETY: OCaml has called (caller).
    let head = unsafe { bindings::bxr_domain_reenter() };
    #[allow(clippy::manual_map)] // without optimisation, the closure would be a call
    match NonNull::new(head) {
        Some(head) => Some(Domain(head)),
        None => None,
    }
}

/// Whether OCaml runs on this thread's initial stack, and not on the stack of an effect handler.
/// Takes a few instructions, and returns `false` if only a call of C can tell.
///
/// # Safety
///
/// OCaml has called this thread's code, so the thread holds the lock.
#[inline(always)]
pub unsafe fn is_on_own_stack() -> bool {
    #[cfg(inlined)]
    // SAFETY: OCaml has called (caller).
    let is_on_own_stack = unsafe { fast::is_on_own_stack() };
    #[cfg(not(inlined))]
    let is_on_own_stack = false;
    is_on_own_stack
}

/// Defines functions that take the domain, and are inlined. In builds without inlining, they ignore
/// the domain, and call functions that look it up.
macro_rules! operations {
    ($($(#[$attribute:meta])* $name:ident / $call:ident ($($argument:ident: $type:ty),+) $(-> $result:ty)?;)+) => {$(
        $(#[$attribute])*
        #[inline(always)]
        #[cfg_attr(feature = "debug-checks", track_caller)]
        pub unsafe fn $name(domain: Domain, $($argument: $type),+) $(-> $result)? {
            // SAFETY: as promised by the caller.
            unsafe {
                #[cfg(inlined)]
                {
                    fast::$name(domain.0.as_ptr(), $($argument),+)
                }
                #[cfg(not(inlined))]
                {
                    let _ = domain;
                    crate::$call($($argument),+)
                }
            }
        }
    )+};
}

operations! {
    /// [`boxroot_create`](crate::boxroot_create) without its checks.
    ///
    /// # Safety
    ///
    /// This thread holds the lock of `domain`, no root scan of it is running, and `value` is a
    /// valid OCaml value.
    create / boxroot_create (value: Value) -> Option<BoxRoot>;

    /// [`boxroot_delete`](crate::boxroot_delete), in a few instructions if `domain` owns `root`.
    ///
    /// # Safety
    ///
    /// This thread holds the lock of `domain`, no root scan of it is running, and `root` is live
    /// and not used afterwards.
    delete / boxroot_delete (root: BoxRoot);

    /// [`boxroot_modify`](crate::boxroot_modify), in a few instructions if `*root` is young, or
    /// `value` is old (on OCaml 4, an immediate).
    ///
    /// # Safety
    ///
    /// This thread holds the lock of `domain`, no root scan of it is running, `*root` is live and
    /// no other thread uses it, and `value` is a valid OCaml value.
    modify / boxroot_modify (root: &mut BoxRoot, value: Value) -> bool;
}

/// [`boxroot_stats`](crate::boxroot_stats) without its checks: exact for `domain` on every thread
/// that holds its lock, even on OCaml 4.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn stats(domain: Domain) -> Stats {
    let mut stats = core::mem::MaybeUninit::uninit();
    // SAFETY: the lock of `domain` is held, and no root scan of it is running (caller). The
    // function fills the struct.
    unsafe {
        bindings::bxr_domain_stats(domain.0.as_ptr(), stats.as_mut_ptr(), size_of::<Stats>());
        stats.assume_init()
    }
}

/// [`boxroot_trim`](crate::boxroot_trim) without its checks: it works on every thread that holds
/// the lock.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn trim(domain: Domain) -> usize {
    // SAFETY: the lock of `domain` is held, and no root scan of it is running (caller).
    unsafe { bindings::bxr_domain_trim_empty(domain.0.as_ptr()) }
}
