//! Functions and values that OCaml registered under a name, for the macros.

use crate::named::{load, named_cell};
use crate::types::kept::Kept;
use crate::value::CHECKS;
use crate::{CallError, ConversionError, DomainLock, FromOCaml, OCamlAny, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::CString;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where an argument is: its name and that of the function.
#[derive(Clone, Copy)]
pub struct Place<'a>(pub &'a str, pub &'a str);

/// The error of an argument, which says in which argument it is.
#[cold]
#[inline(never)]
pub fn argument_failed(error: ConversionError, place: &'static Place<'static>) -> CallError {
    CallError::Conversion(error.of_argument(*place))
}

/// A value that OCaml registers under a name.
pub struct Registered {
    name: &'static str,
    /// The name that errors give it.
    shown: &'static str,
    /// From `named_cell`; NULL until the name was found.
    cell: AtomicPtr<sys::Value>,
}

impl Registered {
    /// The value with this name, which is not looked up yet.
    pub const fn new(name: &'static str, shown: &'static str) -> Self {
        Registered { name, shown, cell: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Where the value is.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered).
    #[inline(always)]
    pub fn find(&self, lock: &mut DomainLock) -> Result<Found<'_>, CallError> {
        match NonNull::new(self.cell.load(Ordering::Acquire)) {
            Some(cell) => Ok(Found { cell, registered: self }),
            None => self.find_first(lock),
        }
    }

    #[cold]
    fn find_first(&self, lock: &mut DomainLock) -> Result<Found<'_>, CallError> {
        let cell = CString::new(self.name).ok().and_then(|name| named_cell(lock, &name));
        let cell = cell.ok_or_else(|| CallError::NotRegistered(self.name.into()))?;
        self.cell.store(cell.as_ptr(), Ordering::Release);
        Ok(Found { cell, registered: self })
    }

    #[cold]
    fn failed(&self, error: CallError) -> CallError {
        error.of(format_args!("the function `{}`", self.shown))
    }

    /// The copy of a result. An error says of which function the result is.
    #[inline(always)]
    fn result<R>(&self, copy: Result<R, ConversionError>) -> Result<R, CallError> {
        match copy {
            Ok(result) => Ok(result),
            Err(error) => Err(CallError::Conversion(error.of_result(self.shown))),
        }
    }
}

/// A value that OCaml has registered under a name.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    /// From `named_cell`.
    cell: NonNull<sys::Value>,
    registered: &'a Registered,
}

impl Found<'_> {
    /// The value.
    ///
    /// # Safety
    ///
    /// The value is a `T`.
    #[track_caller]
    pub unsafe fn value<T: ?Sized, R: FromOCaml<T>>(
        self,
        lock: &DomainLock,
    ) -> Result<R, CallError> {
        // SAFETY: `cell` is from `named_cell`. The value is a `T` (caller), and the collector does not run before it is
        // converted.
        let value: Value<'_, T> = unsafe { Value::from_raw(load(lock, self.cell)) };
        self.registered.result(value.to_rust(lock))
    }

    /// Calls the function with these arguments, with `()` if there are none.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments and returns a `T`.
    #[inline]
    #[track_caller]
    pub unsafe fn call<T: ?Sized, R: FromOCaml<T>, const N: usize>(
        self,
        lock: &mut DomainLock,
        arguments: [Kept<'_>; N],
    ) -> Result<R, CallError> {
        // SAFETY: the function takes these arguments (caller).
        match unsafe { self.call_with(lock, arguments) } {
            Ok((result, lock)) => {
                // SAFETY: the function returns a `T` (caller).
                let result: Value<'_, T> = unsafe { Value::from_raw(result.raw()) };
                self.registered.result(result.to_rust(lock))
            }
            Err(error) => Err(error),
        }
    }

    /// As [`call`](Found::call), without the conversion of the result.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments.
    #[inline(always)]
    #[track_caller]
    unsafe fn call_with<'l, const N: usize>(
        self,
        lock: &'l mut DomainLock,
        arguments: [Kept<'_>; N],
    ) -> Result<(Value<'l, OCamlAny>, &'l DomainLock), CallError> {
        // SAFETY: `cell` is from `named_cell`. The function has these types (caller), and the collector does not run before it
        // is called.
        match unsafe { lock.call_with(load(lock, self.cell), arguments) } {
            Ok(result) => Ok(result),
            Err(error) if CHECKS => Err(self.registered.failed(error)),
            Err(exception) => Err(exception),
        }
    }
}
