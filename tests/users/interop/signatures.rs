//! Every public item of `ocaml-boxroot-sys` 0.4.0, with its type, calling convention, unsafety and
//! traits, as programs may rely on them. This file is compiled with 0.4.0 itself (`published/`),
//! and with this project's crate. `.ci/packages.py drop-in` checks that no item is left out.

#![deny(unused_unsafe, unreachable_patterns)]

use core::cell::UnsafeCell;
use core::ffi::c_char;
use core::fmt::Debug;
use core::panic::{RefUnwindSafe, UnwindSafe};
use ocaml_boxroot_sys as sys;

const _: unsafe extern "C" fn(sys::Value) -> Option<sys::BoxRoot> = sys::boxroot_create;
const _: unsafe extern "C" fn(sys::BoxRoot) = sys::boxroot_delete;
const _: unsafe fn(sys::BoxRoot) -> sys::Value = sys::boxroot_get;
const _: fn(sys::BoxRoot) -> *const sys::ValueCell = sys::boxroot_get_ref;
const _: unsafe extern "C" fn(*mut sys::BoxRoot, sys::Value) -> bool = sys::boxroot_modify;
const _: unsafe extern "C" fn() -> bool = sys::boxroot_setup;
const _: unsafe extern "C" fn() = sys::boxroot_teardown;
const _: unsafe extern "C" fn() -> sys::Status = sys::boxroot_status;
const _: unsafe extern "C" fn() -> *const c_char = sys::boxroot_error_string;
const _: unsafe extern "C" fn() = sys::boxroot_print_stats;

/// Each call needs its `unsafe`: the compiler warns if one does not.
macro_rules! unsafe_calls {
    ($($call:expr),+) => {{ $(
        // SAFETY: the closure is never called.
        let _ = || unsafe { $call };
    )+ }};
}

#[allow(dead_code)] // compiled only
fn calls(root: sys::BoxRoot, place: *mut sys::BoxRoot) {
    unsafe_calls!(
        sys::boxroot_create(1),
        sys::boxroot_delete(root),
        sys::boxroot_get(root),
        sys::boxroot_modify(place, 1),
        sys::boxroot_setup(),
        sys::boxroot_teardown(),
        sys::boxroot_status(),
        sys::boxroot_error_string(),
        sys::boxroot_print_stats()
    );
}

// `Value` and `ValueCell` are aliases of these types, not separate types.
const _: fn(isize) -> sys::Value = |value| value;
const _: fn(&UnsafeCell<isize>) -> &sys::ValueCell = |cell| cell;

const fn root<T: Copy + Debug + Eq + PartialOrd + Unpin>() {}
const _: () = root::<sys::BoxRoot>();
const _: () = assert!(size_of::<sys::BoxRoot>() == size_of::<*const ()>());
const _: () = assert!(size_of::<Option<sys::BoxRoot>>() == size_of::<*const ()>());

const fn status<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
const _: () = status::<sys::Status>();
const _: () = assert!(size_of::<sys::Status>() == size_of::<core::ffi::c_int>());

/// `Status` is not `Copy`: without `move`, this closure owns it.
#[allow(dead_code)] // compiled only
fn owned(status: sys::Status) -> impl FnOnce() -> sys::Status {
    || status
}

/// The numbers equal those in C. The enum is `#[non_exhaustive]`: without the last arm this would
/// be an error, and no arm is unreachable.
#[allow(dead_code)] // compiled only
const fn number(status: sys::Status) -> i32 {
    match status {
        sys::Status::NotSetup => 0,
        sys::Status::Running => 1,
        sys::Status::ToreDown => 2,
        sys::Status::Invalid => 3,
        _ => -1,
    }
}
const _: () = assert!(sys::Status::NotSetup as i32 == number(sys::Status::NotSetup));
const _: () = assert!(sys::Status::Running as i32 == number(sys::Status::Running));
const _: () = assert!(sys::Status::ToreDown as i32 == number(sys::Status::ToreDown));
const _: () = assert!(sys::Status::Invalid as i32 == number(sys::Status::Invalid));
