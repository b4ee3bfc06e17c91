//! Values that OCaml code registered under a name, with `Callback.register`.

use crate::raw::ValueExt;
use crate::{ffi, DomainLock, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::{CStr, CString};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Shorter names are looked up without an allocation.
const SHORT_NAME: usize = 64;

impl DomainLock {
    /// The value that OCaml registered under this name, without its type.
    pub(crate) fn named_value(&mut self, name: &str) -> Option<(Value<'_, ()>, &DomainLock)> {
        let (mut short, long);
        let name = if name.len() < SHORT_NAME {
            short = [0; SHORT_NAME];
            short[..name.len()].copy_from_slice(name.as_bytes());
            CStr::from_bytes_with_nul(&short[..=name.len()]).ok()?
        } else {
            long = CString::new(name).ok()?;
            &*long
        };
        let cell = named_cell(self, name)?;
        // SAFETY: the cell is from `named_cell`. Its value is rooted, and the collector does not
        // run while the token is borrowed shared.
        unsafe { Some((Value::from_raw(load(self, cell)), self)) }
    }
}

/// The cell in which OCaml keeps a registered value. It is never freed, and is a root.
///
/// Since OCaml 5.4, if another domain is using the table of names, OCaml releases the domain's lock
/// and waits, so the collector may run.
pub(crate) fn named_cell(_lock: &mut DomainLock, name: &CStr) -> Option<NonNull<sys::Value>> {
    // SAFETY: the name is a C string. The token proves that the lock is held, which protects OCaml
    // 4's table of names, and is borrowed mutably, so the collector may run.
    NonNull::new(unsafe { ffi::caml_named_value(name.as_ptr()) }.cast_mut())
}

/// The value in the cell of a registered value.
///
/// # Safety
///
/// `cell` is from [`named_cell`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn load(_lock: &DomainLock, cell: NonNull<sys::Value>) -> sys::Value {
    // SAFETY: the cell is never freed (caller). The load is atomic, because another domain may be
    // registering another value under the name.
    unsafe { AtomicIsize::from_ptr(cell.as_ptr()) }.load(Ordering::Acquire)
}
