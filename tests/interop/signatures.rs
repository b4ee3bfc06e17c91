//! The functions have the types and the calling conventions that callers of 0.4.0 rely on, for
//! example to pass one to C. Checked by the compiler.

use ocaml_boxroot_sys as sys;
use std::ffi::c_char;

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

const fn root<T: Copy + Eq + PartialOrd + std::fmt::Debug>() {}
const _: () = root::<sys::BoxRoot>();
const _: () = assert!(size_of::<Option<sys::BoxRoot>>() == size_of::<*const ()>());
