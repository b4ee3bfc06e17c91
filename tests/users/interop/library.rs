//! Functions of this project's crate that the tests use, but that the published crate lacks.

use ocaml_boxroot_sys as sys;

/// Checks the allocator's invariants. The caller holds the lock.
pub fn validate() {
    let broken = sys::boxroot_validate();
    if !broken.is_null() {
        // SAFETY: a result that is not NULL is a static C string.
        let message = unsafe { std::ffi::CStr::from_ptr(broken) };
        panic!("invariant broken: {}", message.to_string_lossy());
    }
}

/// The number of roots. Exact if the caller holds the lock of the only domain.
pub fn live_roots() -> usize {
    sys::boxroot_stats().live_roots
}
