//! Functions and values that OCaml registered under a name, for the macros.

use crate::named::{load, named_cell};
use crate::types::form::Looks;
use crate::{Boxroot, CallError, DomainLock, Error, FromOCaml, OCamlAny, ToOCaml, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where an argument is: its name and that of the function.
#[derive(Clone, Copy)]
pub struct Place(pub &'static str, pub &'static str);

/// A root for an argument. An error says in which argument it is.
#[inline]
#[track_caller]
pub fn argument<T: ?Sized, R: ToOCaml<T>>(
    value: &R,
    place: Place,
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
        // SAFETY: the function takes these arguments and returns a `T` (caller).
        unsafe { self.registered.call_looking::<T, R>(lock, &arguments, self.result) }
    }
}

/// A value that OCaml registers under a name.
pub struct Registered {
    name: &'static str,
    /// What errors call it.
    shown: &'static str,
    /// From `named_cell`; NULL until the name was found.
    cell: AtomicPtr<sys::Value>,
}

impl Registered {
    /// The value with this name, which is not looked up yet.
    pub const fn new(name: &'static str, shown: &'static str) -> Self {
        Registered { name, shown, cell: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn cell(&self, lock: &DomainLock) -> Result<NonNull<sys::Value>, Error> {
        match NonNull::new(self.cell.load(Ordering::Acquire)) {
            Some(cell) => Ok(cell),
            None => self.find(lock).ok_or_else(|| Error::NotRegistered(self.name.into())),
        }
    }

    fn find(&self, lock: &DomainLock) -> Option<NonNull<sys::Value>> {
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
        let value = unsafe { Value::from_raw(load(lock, cell)) };
        R::from_ocaml(value, lock).map_err(|error| error.of_result(self.shown).into())
    }

    /// Calls the function, with `()` if there are no arguments.
    ///
    /// # Safety
    ///
    /// The registered function takes these arguments and returns a `T`.
    #[track_caller]
    pub unsafe fn call<T: ?Sized, R: FromOCaml<T>>(
        &self,
        lock: &mut DomainLock,
        arguments: &[Boxroot<OCamlAny>],
    ) -> Result<R, CallError> {
        // SAFETY: as for this function (caller).
        unsafe { self.call_looking(lock, arguments, Looks::UNKNOWN) }
    }

    /// Calls the function, with `()` if there are no arguments, and looks at its result.
    ///
    /// # Safety
    ///
    /// As [`call`](Registered::call).
    #[track_caller]
    unsafe fn call_looking<T: ?Sized, R: FromOCaml<T>>(
        &self,
        lock: &mut DomainLock,
        arguments: &[Boxroot<OCamlAny>],
        looks: Looks<T>,
    ) -> Result<R, CallError> {
        let cell = self.cell(lock)?;
        // SAFETY: `cell` is from `named_cell`. The function has these types (caller), and the collector does not run before it
        // is called.
        let result = unsafe { lock.call_with::<T>(load(lock, cell), arguments) };
        let (result, lock) =
            result.map_err(|error| error.of(format_args!("the function `{}`", self.shown)))?;
        let result = match looks.check(result) {
            Ok(()) => R::from_ocaml(result, lock),
            Err(error) => Err(error),
        };
        result.map_err(|error| error.of_result(self.shown).into())
    }
}
