//! Functions and values that OCaml registered under a name, for the macros.

use crate::named::{load, named_cell};
use crate::types::form::Looks;
use crate::types::unconverted::Unconverted;
use crate::{Boxroot, CallError, DomainLock, Error, FromOCaml, OCamlAny, ToOCaml, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where an argument is: its name and that of the function.
#[derive(Clone, Copy)]
pub struct Place<'a>(pub &'a str, pub &'a str);

/// A root for an argument. An error says in which argument it is.
#[inline]
#[track_caller]
pub fn argument<T: ?Sized, R: ToOCaml<T>>(
    value: &R,
    place: Place<'_>,
    lock: &mut DomainLock,
) -> Result<Boxroot<OCamlAny>, Error> {
    match value.to_ocaml(lock) {
        Ok(root) => Ok(root.into_any()),
        Err(error) => Err(error.of_argument(place)),
    }
}

/// A function that OCaml registers under a name, with arguments of the types of those of `Args`, and a result `T`.
pub struct Named<Args, T: ?Sized> {
    registered: Registered,
    result: Looks<T>,
    _types: PhantomData<fn(Args)>,
}

impl<Args, T: ?Sized> Named<Args, T> {
    /// The function with this name, which is not looked up yet.
    pub const fn new(name: &'static str, result: Looks<T>) -> Self {
        Named { registered: Registered::new(name, name), result, _types: PhantomData }
    }

    /// Calls the function, with `()` if there are no arguments.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments and returns a `T`.
    #[track_caller]
    pub unsafe fn call<R: FromOCaml<T>, const N: usize>(
        &self,
        lock: &mut DomainLock,
        arguments: [Boxroot<OCamlAny>; N],
    ) -> Result<R, CallError> {
        // SAFETY: the function takes these arguments (caller).
        let (result, lock) = unsafe { self.registered.call_with(lock, N, arguments.iter()) }?;
        // SAFETY: the function returns a `T` (caller).
        let result: Value<'_, T> = unsafe { Value::from_raw(result.raw()) };
        // No closure, in which a root would be created by this line, and not by the caller's.
        self.registered.result(match self.result.check(result) {
            Ok(()) => R::from_ocaml(result, lock),
            Err(error) => Err(error),
        })
    }
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

    fn cell(&self, lock: &mut DomainLock) -> Result<NonNull<sys::Value>, Error> {
        match NonNull::new(self.cell.load(Ordering::Acquire)) {
            Some(cell) => Ok(cell),
            None => self.find(lock).ok_or_else(|| Error::NotRegistered(self.name.into())),
        }
    }

    fn find(&self, lock: &mut DomainLock) -> Option<NonNull<sys::Value>> {
        let cell = named_cell(lock, &CString::new(self.name).ok()?)?;
        self.cell.store(cell.as_ptr(), Ordering::Release);
        Some(cell)
    }

    /// The value, if it was registered.
    ///
    /// # Safety
    ///
    /// The value is a `T`.
    #[track_caller]
    pub unsafe fn value<T: ?Sized, R: FromOCaml<T>>(
        &self,
        lock: &mut DomainLock,
    ) -> Result<R, CallError> {
        let cell = self.cell(lock)?;
        // SAFETY: `cell` is from `named_cell`. The value is a `T` (caller), and the collector does not run before it is
        // converted.
        let value: Value<'_, T> = unsafe { Value::from_raw(load(lock, cell)) };
        self.result(R::from_ocaml(value, lock))
    }

    /// Calls the function with copies of these values, with `()` if there are none.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments and returns a `T`.
    #[track_caller]
    pub unsafe fn call<T: ?Sized, R: FromOCaml<T>, const N: usize>(
        &self,
        lock: &mut DomainLock,
        arguments: &[Unconverted<'_>; N],
    ) -> Result<R, CallError> {
        // SAFETY: the function takes these arguments (caller).
        match unsafe { self.call_converting(lock, arguments) } {
            Ok((result, lock)) => {
                // SAFETY: the function returns a `T` (caller).
                let result: Value<'_, T> = unsafe { Value::from_raw(result.raw()) };
                self.result(R::from_ocaml(result, lock))
            }
            Err(error) => Err(error),
        }
    }

    /// As [`call`](Registered::call), without the conversion of the result.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments.
    #[track_caller]
    unsafe fn call_converting<'l, const N: usize>(
        &self,
        lock: &'l mut DomainLock,
        arguments: &[Unconverted<'_>; N],
    ) -> Result<(Value<'l, OCamlAny>, &'l DomainLock), CallError> {
        let mut roots = [const { None }; N];
        for (argument, root) in arguments.iter().zip(&mut roots) {
            match argument.to_ocaml(lock) {
                Ok(copy) => *root = Some(copy),
                Err(error) => {
                    return Err(error.of_argument(Place(argument.name, self.shown)).into())
                }
            }
        }
        // SAFETY: as for this function (caller).
        unsafe { self.call_with(lock, N, roots.iter().flatten()) }
    }

    /// Calls the function with the values of these roots, of which there are `count`; with `()` if there are none.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments.
    #[track_caller]
    unsafe fn call_with<'l, 'a>(
        &self,
        lock: &'l mut DomainLock,
        count: usize,
        arguments: impl Iterator<Item = &'a Boxroot<OCamlAny>>,
    ) -> Result<(Value<'l, OCamlAny>, &'l DomainLock), CallError> {
        let cell = self.cell(lock)?;
        // SAFETY: `cell` is from `named_cell`. The function has these types (caller), and the collector does not run before it
        // is called.
        let result = unsafe { lock.call_with(load(lock, cell), count, arguments) };
        result.map_err(|error| error.of(format_args!("the function `{}`", self.shown)))
    }

    /// The copy of a result. An error says of which function the result is.
    fn result<R>(&self, copy: Result<R, Error>) -> Result<R, CallError> {
        match copy {
            Ok(result) => Ok(result),
            Err(error) => Err(CallError::Error(error.of_result(self.shown))),
        }
    }
}
