//! Functions and values that OCaml registered under a name, for the macros.

use crate::named::{load, named_cell};
use crate::raw::ValueExt;
use crate::types::kept::Kept;
use crate::types::several::{Sources, Types};
use crate::value::CHECKS;
use crate::{CallError, ConversionError, DomainLock, FromOCaml, OCamlAny, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The place of an argument: its name, and the name of the function.
#[derive(Clone, Copy)]
pub struct Place<'a>(pub &'a str, pub &'a str);

/// The error of an argument. It names the argument and the function.
#[cold]
pub fn argument_failed(
    (index, error): (usize, ConversionError),
    names: &[&'static str],
    function: &str,
) -> CallError {
    CallError::Conversion(error.of_argument(Place(names[index], function)))
}

/// A value that OCaml registers under a name.
pub struct Registered {
    name: &'static str,
    /// The name in error messages.
    shown: &'static str,
    /// From `named_cell`; NULL until the name is found.
    cell: AtomicPtr<sys::Value>,
}

impl Registered {
    /// The value with this name, which is not looked up yet.
    pub const fn new(name: &'static str, shown: &'static str) -> Self {
        Registered { name, shown, cell: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The cell with the value, from `named_cell`.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn find(&self, lock: &mut DomainLock) -> Result<NonNull<sys::Value>, CallError> {
        match NonNull::new(self.cell.load(Ordering::Acquire)) {
            Some(cell) => Ok(cell),
            None => self.find_first(lock),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_first(&self, lock: &mut DomainLock) -> Result<NonNull<sys::Value>, CallError> {
        let cell = CString::new(self.name).ok().and_then(|name| named_cell(lock, &name));
        let cell = cell.ok_or_else(|| CallError::NotRegistered(self.name.into()))?;
        self.cell.store(cell.as_ptr(), Ordering::Release);
        Ok(cell)
    }

    #[cold]
    fn failed(&self, error: CallError) -> CallError {
        error.of(format_args!("the function `{}`", self.shown))
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered); those of the conversion of the value.
    ///
    /// # Safety
    ///
    /// The value is a `T`.
    #[track_caller]
    pub unsafe fn value<T: ?Sized, R: FromOCaml<T>>(
        &self,
        lock: &mut DomainLock,
    ) -> Result<R, CallError> {
        let cell = self.find(lock)?;
        // SAFETY: `cell` is from `named_cell`. The value is a `T` (caller), and the collector does
        // not run before it is converted.
        let value: Value<'_, T> = unsafe { Value::from_raw(load(lock, cell)) };
        Ok(value.to_rust(lock).map_err(|error| error.of_result(self.shown))?)
    }

    /// Calls the function with these arguments, if the result of converting them is `Ok`.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    unsafe fn call_with<'l, const N: usize>(
        &self,
        lock: &'l mut DomainLock,
        arguments: [Kept<'_>; N],
        names: &'static [&'static str; N],
        converted: Result<(), (usize, ConversionError)>,
    ) -> Result<(Value<'l, OCamlAny>, &'l DomainLock), CallError> {
        if let Err(error) = converted {
            return Err(argument_failed(error, names, self.shown));
        }
        let cell = self.find(lock)?;
        // SAFETY: `cell` is from `named_cell`. The function has these types (caller), and the
        // collector does not run before it is called.
        match unsafe { lock.call_with(load(lock, cell), arguments) } {
            Ok(result) => Ok(result),
            Err(error) if CHECKS => Err(self.failed(error)),
            Err(exception) => Err(exception),
        }
    }

    /// Calls the function with these arguments, or with `()` if there are none. `types` are those
    /// of the arguments and of the result.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`](crate::CallError::NotRegistered); those of the call and of the conversions
    /// of arguments and result.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments and returns a `T`.
    #[inline]
    #[track_caller]
    pub unsafe fn call<'a, A: Types, T: ?Sized, R: FromOCaml<T>, const N: usize>(
        &self,
        _types: PhantomData<(A, fn() -> T)>,
        names: &'static [&'static str; N],
        sources: impl Sources<'a, A>,
        lock: &mut DomainLock,
    ) -> Result<R, CallError> {
        const { assert!(A::COUNT == N) };
        let mut arguments = Kept::places::<N>();
        let converted = sources.keep(&mut arguments, lock);
        // SAFETY: the function takes these arguments (caller).
        match unsafe { self.call_with(lock, arguments, names, converted) } {
            Ok((result, lock)) => {
                // SAFETY: the function returns a `T` (caller).
                let result: Value<'_, T> = unsafe { Value::from_raw(result.raw()) };
                match result.to_rust(lock) {
                    Ok(result) => Ok(result),
                    Err(error) => Err(CallError::Conversion(error.of_result(self.shown))),
                }
            }
            Err(error) => Err(error),
        }
    }
}
