//! The fast paths, inlined into Rust, for callers that prove once that they hold the lock.
//!
//! `boxroot_create`, `boxroot_delete` and `boxroot_modify` check on every call that this thread holds the lock,
//! and look up its domain. [`attach`] does both once; the functions here then take the [`Domain`], and
//! need no function call and no thread-local access in the common case. The `DomainLock` of `ocaml-boxroot`
//! is made of this. The layouts that these functions rely on are asserted in `bindings.rs` and in
//! `boxroot/inline.h`.

use crate::bindings::{self, bxr_domain_head};
use crate::Stats;
use core::ptr::NonNull;

#[cfg(any(feature = "debug-checks", not(inlined)))]
mod called;
#[cfg(all(inlined_thread_locals, not(feature = "debug-checks")))]
pub(crate) use crate::fast::delete_small;
#[cfg(all(inlined, not(feature = "debug-checks")))]
pub use crate::fast::{create, delete, modify};
#[cfg(any(feature = "debug-checks", not(inlined)))]
pub use called::{create, delete, modify};

/// A domain's allocator. It stays the same until the domain ends, and must not be used afterwards. It may be
/// used only by a thread that holds the domain's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub(crate) NonNull<bxr_domain_head>);

/// The allocator of this thread's domain. Sets the library up on OCaml 5. `None` on failure: with `errno` `EPERM`
/// if this thread does not hold the lock, or the library is not running, or a root scan is, and `ENOMEM` if
/// memory ran out.
///
/// # Safety
///
/// On OCaml 4, this is not a thread-local destructor of a thread that `Thread.create` made: it does not
/// hold the lock, which cannot be detected.
#[inline]
pub unsafe fn attach() -> Option<Domain> {
    // SAFETY: where the function cannot detect that the lock is not held, it is held (caller).
    NonNull::new(unsafe { bindings::bxr_domain_attach() }).map(Domain)
}

/// [`boxroot_stats`](crate::boxroot_stats) without its checks: exact for `domain` on every thread that holds its
/// lock, also on OCaml 4.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn stats(domain: Domain) -> Stats {
    let mut stats = core::mem::MaybeUninit::uninit();
    // SAFETY: the lock of `domain` is held, and no root scan of it is running (caller). The function fills the struct.
    crate::without_kept_aside(unsafe {
        bindings::bxr_domain_stats(domain.0.as_ptr(), stats.as_mut_ptr());
        stats.assume_init()
    })
}

/// [`boxroot_trim`](crate::boxroot_trim) without its checks: it works on every thread that holds the lock.
///
/// # Safety
///
/// This thread holds the lock of `domain`, and no root scan of it is running.
#[inline]
pub unsafe fn trim(domain: Domain) -> usize {
    // SAFETY: the lock of `domain` is held, and no root scan of it is running (caller).
    unsafe { bindings::bxr_domain_trim_empty(domain.0.as_ptr()) }
}
