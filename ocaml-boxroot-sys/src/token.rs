//! The fast paths, inlined into Rust, for callers that prove once that they hold the lock.
//!
//! `boxroot_create` and its siblings check on every call that this thread holds the lock,
//! and look up its domain. [`attach`] does both once; the functions here then take the
//! [`Domain`] and need no call and no thread-local access. This is what `ocaml-boxroot`'s
//! `DomainLock` is made of. The layouts are checked where `bindings.rs` is compiled, against
//! the same assertions in C.

use crate::bindings::{self, bxr_domain_head};
use crate::Stats;
use core::ptr::NonNull;

#[cfg(feature = "debug-checks")]
mod called;
#[cfg(not(feature = "debug-checks"))]
mod inlined;
#[cfg(feature = "debug-checks")]
pub use called::{create, delete, modify};
#[cfg(not(feature = "debug-checks"))]
pub use inlined::{create, delete, modify};

/// A domain's allocator. It stays the same until the domain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub(crate) NonNull<bxr_domain_head>);

/// The allocator of this thread's domain; sets the library up on OCaml 5. `None`, with
/// `errno` `EPERM` or `ENOMEM`, if the lock is not held, the library is not running, or
/// memory is short.
///
/// # Safety
///
/// On OCaml 4, this is not a thread-local destructor of a thread that `Thread.create` made: it does not
/// hold the lock, which cannot be detected.
#[inline]
pub unsafe fn attach() -> Option<Domain> {
    // SAFETY: a thread that seems to hold the lock does (caller).
    NonNull::new(unsafe { bindings::bxr_domain_attach() }).map(Domain)
}

/// [`boxroot_stats`](crate::boxroot_stats) without its checks: exact for `domain` on any thread.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn stats(domain: Domain) -> Stats {
    let mut stats = core::mem::MaybeUninit::uninit();
    // SAFETY: as promised by the caller; the function fills the struct.
    crate::without_kept_aside(unsafe {
        bindings::bxr_domain_stats(domain.0.as_ptr(), stats.as_mut_ptr());
        stats.assume_init()
    })
}

/// [`boxroot_trim`](crate::boxroot_trim) without its checks.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn trim(domain: Domain) -> usize {
    // SAFETY: as promised by the caller.
    unsafe { bindings::bxr_domain_trim_empty(domain.0.as_ptr()) }
}
