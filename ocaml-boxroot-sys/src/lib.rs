//! Raw bindings to **boxroot**, an allocator of fast owning roots for OCaml values.
//!
//! A [`BoxRoot`] owns one OCaml value: until [`boxroot_delete`], the garbage collector keeps the
//! value alive, and updates the root when it moves the value. This crate compiles the C library
//! against the installed OCaml, and links it.
//!
//! These functions are as unsafe as C. Most programs want the crate `ocaml-boxroot`, whose
//! `Boxroot<T>` and `DomainLock` cannot be misused.
//!
//! # Rules
//!
//! *The lock* is the lock of an OCaml domain (OCaml 5) or the runtime lock (OCaml 4). A thread
//! holds it while it runs OCaml code, or code called from OCaml outside a blocking section.
//! Creating, reading and modifying need the lock; deleting does not. On OCaml 4, call
//! [`boxroot_setup`] first. On failure a function changes nothing and sets `errno` to `EPERM` or
//! `ENOMEM`; [`error_message`] says what went wrong. Nothing here raises an OCaml exception, runs
//! the garbage collector, or blocks. Do not call any function in a C signal handler, except
//! [`boxroot_profile_write`].
//!
//! # Finding OCaml
//!
//! The build script uses the folder that `OCAML_WHERE_PATH` names; otherwise the folder that
//! `$OCAMLOPT -where` prints; otherwise the folder of the first of these commands that works:
//! `ocamlopt`, `ocamlfind ocamlopt`, or `opam exec -- ocamlopt`. The version must be 4.13 or
//! later. The script runs again when one of these variables, `OPAM_SWITCH_PREFIX`, or the headers
//! of this OCaml change, but not when PATH changes. If `DOCS_RS` is set, OCaml may be missing. The
//! script exports, as `links` metadata, the C include folder (`DEP_OCAML_BOXROOT_INCLUDE`) and
//! OCaml's folder and version (`DEP_OCAML_BOXROOT_OCAML_WHERE`, `DEP_OCAML_BOXROOT_OCAML_VERSION`).
//!
//! # Features
//!
//! * `bundle-boxroot` (default): compile and link the C library.
//! * `link-ocaml-runtime-and-dummy-program`: link an OCaml runtime with an empty program.
//! * `build`: for build scripts. `build::Program` compiles OCaml code, links it into a Rust
//!   program, and generates Rust bindings to it. Uses `std`.
//! * `debug-checks`: compiles the checked flavour of the C library, which keeps a record of each
//!   root. These mistakes panic: a double delete, a use after delete, a stale handle, a handle that
//!   is not a root, a root of an invalid OCaml value, and a read without the lock. The message
//!   names the places in the program that created and deleted the root. Uses `std`.

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg), doc(auto_cfg(hide(feature = "debug-checks"))))]
#![cfg_attr(not(feature = "build"), no_std)]

use core::cell::UnsafeCell;
use core::ffi::{c_char, CStr};
use core::ptr::NonNull;

/// The linker's name for a function or variable of the C library; see `boxroot/names.h`. (The names
/// in `bindings.rs` are generated.)
#[cfg(any(inlined, feature = "debug-checks"))]
macro_rules! linked {
    ($name:literal) => {
        concat!($name, "_abi2_pool14")
    };
}

#[allow(dead_code, missing_docs, non_camel_case_types, clippy::missing_safety_doc)]
mod bindings;
#[cfg(feature = "build")]
pub mod build;
#[cfg(not(feature = "debug-checks"))]
mod calls;
#[cfg(feature = "debug-checks")]
mod checked;
#[cfg(inlined)]
mod fast;
/// Offsets in OCaml's data that the crates read without calling C; from the build script.
#[doc(hidden)]
pub mod layout {
    include!(concat!(env!("OUT_DIR"), "/layout.rs"));
}
pub mod token;
pub mod uses;

#[cfg(not(feature = "debug-checks"))]
pub use calls::{boxroot_create, boxroot_delete, boxroot_get, boxroot_get_ref, boxroot_modify};
#[cfg(feature = "debug-checks")]
pub use checked::{boxroot_create, boxroot_delete, boxroot_get, boxroot_get_ref, boxroot_modify};
#[cfg(feature = "debug-checks")]
#[cfg_attr(docsrs, doc(cfg(feature = "debug-checks")))]
pub use checked::{leak_report, live_roots_by_site, Site};

/// An OCaml `value`.
pub type Value = isize;

/// The memory where a root keeps its value. The garbage collector may change it.
pub type ValueCell = UnsafeCell<Value>;

/// A handle to a root, like a pointer in C: it may be copied and sent to any thread, and the root
/// must be deleted exactly once. `Option<BoxRoot>` has the size of a pointer, and `None` is C's
/// `NULL`. A root may outlive the domain that created it: when a domain ends, another one takes
/// over its roots.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoxRoot(NonNull<bindings::boxroot_private>);

/// What [`boxroot_stats`] returns; `boxroot.h` explains each field.
pub type Stats = bindings::boxroot_stats;

/// The state of the library.
#[repr(C)]
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// [`boxroot_setup`] has not run yet.
    NotSetup = bindings::BOXROOT_NOT_SETUP as isize,
    /// Roots can be created.
    Running = bindings::BOXROOT_RUNNING as isize,
    /// [`boxroot_teardown`] has run.
    ToreDown = bindings::BOXROOT_TORE_DOWN as isize,
    /// No root can be created. On OCaml 4, the `Thread` module may have been initialised after
    /// [`boxroot_setup`]. On any version, the process may also have a different copy of the
    /// library, which hides names of this copy, or the library was compiled for another version of
    /// OCaml.
    Invalid = bindings::BOXROOT_INVALID as isize,
}

/// A handle is the address of its slot.
#[cfg(not(feature = "debug-checks"))]
#[inline(always)]
fn slot(root: BoxRoot) -> *mut Value {
    root.0.as_ptr().cast()
}

/// Prepares the library. On OCaml 4, call it before the first root is created, and after the
/// `Thread` module was initialised. On OCaml 5 it is harmless, because the first create does the
/// same. Returns `true` if the library is set up, by this call or an earlier one. Returns `false`
/// on failure, with `errno` set to `EPERM` if the lock is not held or the library was torn down or
/// is [invalid](Status::Invalid), or to `ENOMEM` if memory ran out.
///
/// # Safety
///
/// On OCaml 4, the calling thread holds the lock of a started runtime.
#[inline]
pub unsafe extern "C" fn boxroot_setup() -> bool {
    // SAFETY: if the lock cannot be checked, it is held (caller).
    unsafe { bindings::boxroot_setup() }
}

/// Ends the use of the library. Call this with the lock before `caml_shutdown`, or after it. Then
/// creating and modifying fail, and live roots no longer keep their values alive. Deleting roots
/// remains safe on any thread.
///
/// # Safety
///
/// This thread holds the lock, outside of collections, or `caml_shutdown` has returned. No other
/// domain is running. No other thread creates, reads or modifies a root during the call, and no
/// thread reads a root afterwards.
#[inline]
pub unsafe extern "C" fn boxroot_teardown() {
    // SAFETY: other threads only delete roots, and no root is read afterwards (caller).
    unsafe { bindings::boxroot_teardown() }
}

/// The state of the library. Any thread, at any time.
#[inline]
pub fn status() -> Status {
    // SAFETY: no precondition.
    match unsafe { bindings::boxroot_status() } as u32 {
        bindings::BOXROOT_NOT_SETUP => Status::NotSetup,
        bindings::BOXROOT_RUNNING => Status::Running,
        bindings::BOXROOT_TORE_DOWN => Status::ToreDown,
        _ => Status::Invalid,
    }
}

/// [`status`], as 0.4.0 declares it.
///
/// # Safety
///
/// There is nothing to promise.
#[inline]
pub unsafe extern "C" fn boxroot_status() -> Status {
    status()
}

/// A static message about the last failure on this thread. Any thread, at any time.
#[inline]
pub fn error_message() -> &'static CStr {
    // SAFETY: the function has no precondition, and returns a static string.
    unsafe { CStr::from_ptr(bindings::boxroot_error_string()) }
}

/// [`error_message`], as 0.4.0 declares it. Never `NULL`.
///
/// # Safety
///
/// There is nothing to promise.
#[inline]
pub unsafe extern "C" fn boxroot_error_string() -> *const c_char {
    error_message().as_ptr()
}

/// Prints [`boxroot_stats`] to standard output. Any thread, at any time.
#[inline]
pub fn print_stats() {
    // SAFETY: no precondition.
    unsafe { bindings::boxroot_print_stats() }
}

/// [`print_stats`], as 0.4.0 declares it.
///
/// # Safety
///
/// There is nothing to promise.
#[inline]
pub unsafe extern "C" fn boxroot_print_stats() {
    print_stats();
}

/// Returns statistics. Any thread, at any time. If this thread holds a domain's lock, the counts
/// are exact for that domain, except that deletes by other domains may be missing until those
/// domains' next minor collection. The counts for all other domains are those of their last major
/// scan or, before the first one, of a minor scan.
#[inline]
pub fn boxroot_stats() -> Stats {
    let mut stats = core::mem::MaybeUninit::uninit();
    // SAFETY: the function needs only memory for the struct, and fills all of it.
    unsafe {
        bindings::boxroot_stats(stats.as_mut_ptr(), size_of::<Stats>());
        stats.assume_init()
    }
}

/// Gives the memory of the calling domain's empty pools back to the system, and returns its size in
/// bytes. Empty pools that the collector may still be visiting are given back at the start of the
/// next major cycle. Does nothing if the [lock state](lock_state) is `NotHeld` or `Uncertain`. In
/// the latter case, use [`token::trim`].
#[inline]
pub fn boxroot_trim() -> usize {
    // SAFETY: no precondition.
    unsafe { bindings::boxroot_trim() }
}

/// From now on, one create in `rate`, chosen at random, records its call stack until the root is
/// deleted. 0 turns this off. Each domain applies the rate at its next minor collection at the
/// latest. Any thread.
#[inline]
pub fn boxroot_profile(rate: u32) {
    // SAFETY: no precondition.
    unsafe { bindings::boxroot_profile(rate) }
}

/// Writes the call stacks that created the live roots, with the number of roots that each created,
/// as a heap profile that `pprof` reads. Roots younger than `age` major collections are left out.
/// Any thread, even in a signal handler. If the result is false, `errno` is from `write`, or is
/// `EBUSY` if another call is writing.
///
/// # Safety
///
/// The file is open for the caller to write to, as for `BorrowedFd`.
#[inline]
pub unsafe fn boxroot_profile_write(file: core::ffi::c_int, age: u32) -> bool {
    // SAFETY: the file is open (caller).
    unsafe { bindings::boxroot_profile_write(file, age) }
}

/// Checks the allocator's invariants for the calling domain, in time linear in the size of its
/// pools. Returns `NULL` if all hold, otherwise a static message that names the broken one. Checks
/// nothing and returns `NULL` if the [lock state](lock_state) is `NotHeld` or `Uncertain`. For
/// tests.
#[inline]
pub fn boxroot_validate() -> *const c_char {
    // SAFETY: no precondition.
    unsafe { bindings::boxroot_validate() }
}

/// What [`lock_state`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockState {
    /// This thread does not hold a domain's lock.
    NotHeld,
    /// This thread holds the lock of its domain.
    Held,
    /// This thread's domain has ended: it holds no lock, and never will again.
    Ended,
    /// This thread holds the lock, unless it has ended and is running its thread-local destructors.
    /// On OCaml 4, this is the result on every thread but the main one if the library does not
    /// recognise OCaml's `Thread` module, or if memory was short. On OCaml 5, it is the result on a
    /// thread that runs finalisers for a waiting domain, and on a thread that blocks all signals.
    Uncertain,
}

/// Whether this thread holds the lock. Any thread, at any time. On OCaml 4, returns `NotHeld`
/// before [`boxroot_setup`].
#[inline]
pub fn lock_state() -> LockState {
    // SAFETY: no precondition.
    match unsafe { bindings::bxr_lock_state() } as u32 {
        bindings::BXR_LOCK_HELD => LockState::Held,
        bindings::BXR_LOCK_ENDED => LockState::Ended,
        bindings::BXR_LOCK_UNCERTAIN => LockState::Uncertain,
        _ => LockState::NotHeld,
    }
}

/// On OCaml 4, tells the library that this thread holds the lock although [`lock_state`] returns
/// `NotHeld`. This happens to a thread that was waiting for the lock while another thread set the
/// library up. On OCaml 5, does nothing.
///
/// # Safety
///
/// This thread holds the lock.
#[inline]
pub unsafe fn confirm_lock() {
    // SAFETY: the lock is held (caller).
    unsafe { bindings::bxr_lock_confirm() }
}
