//! Values that OCaml code registered under a name, with `Callback.register`.

use crate::{ffi, Boxroot, DomainLock, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::{CStr, CString};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Shorter names are looked for without an allocation.
const SHORT_NAME: usize = 64;

impl DomainLock {
    /// Roots the value that OCaml code registered with `Callback.register name`. `None` if there
    /// is none. For functions, [`ocaml_functions!`](crate::ocaml_functions!) does this. The collector may run.
    ///
    /// # Safety
    ///
    /// The value is a `T`. If `T` is a [`Function`](crate::Function), the function accepts arguments of these types and
    /// returns a result of that type, and on OCaml 4 it does not call `Thread.exit`, which would jump over Rust
    /// frames.
    ///
    /// # Panics
    ///
    /// If memory runs out.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlInt, OCamlString};
    ///
    /// /// `let () = Callback.register "length" String.length`
    /// fn length(lock: &mut DomainLock) -> Option<Boxroot<Function<(OCamlString,), OCamlInt>>> {
    ///     // SAFETY: this is the type of the function in OCaml.
    ///     unsafe { lock.named("length") }
    /// }
    /// ```
    #[doc(alias("caml_named_value", "Callback.register"))]
    #[track_caller]
    pub unsafe fn named<T: ?Sized>(&mut self, name: &str) -> Option<Boxroot<T>> {
        let (value, lock) = self.named_value(name)?;
        // SAFETY: the value is live, and a `T` (caller).
        Some(Boxroot::new(lock, unsafe { Value::from_raw(value.raw()) }))
    }

    /// The value that OCaml registered under this name, as a value of no particular type.
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
        // SAFETY: the cell is from `named_cell`. Its value is rooted, and the collector does not run while the token is
        // borrowed shared.
        unsafe { Some((Value::from_raw(load(self, cell)), self)) }
    }
}

/// The cell in which OCaml keeps a registered value. It is never freed, and is a root.
///
/// From OCaml 5.4 on, if another domain is using the table of names, OCaml releases the domain's lock and waits: the collector
/// may run.
pub(crate) fn named_cell(_lock: &mut DomainLock, name: &CStr) -> Option<NonNull<sys::Value>> {
    // SAFETY: the name is a C string. The token proves that the lock is held, which protects OCaml 4's table of names, and is
    // borrowed mutably, so the collector may run.
    NonNull::new(unsafe { ffi::caml_named_value(name.as_ptr()) }.cast_mut())
}

/// The value in the cell of a registered value.
///
/// # Safety
///
/// `cell` is from [`named_cell`].
#[inline(always)]
pub(crate) unsafe fn load(_lock: &DomainLock, cell: NonNull<sys::Value>) -> sys::Value {
    // SAFETY: the cell is never freed (caller). The load is atomic, because another domain may be registering another
    // value under the name.
    unsafe { AtomicIsize::from_ptr(cell.as_ptr()) }.load(Ordering::Acquire)
}
