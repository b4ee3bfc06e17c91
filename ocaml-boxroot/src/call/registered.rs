//! Functions and values that OCaml registered under a name, for the macros.

use crate::named::{load, named_cell};
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
    _types: PhantomData<fn(Args, *const T)>,
}

impl<Args, T: ?Sized> Named<Args, T> {
    /// The function with this name, which is not looked up yet.
    pub const fn new(name: &'static str) -> Self {
        Named { registered: Registered::new(name, name), _types: PhantomData }
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
        unsafe { self.registered.call::<T, R>(lock, &arguments) }
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
        let cell = self.cell(lock)?;
        // SAFETY: `cell` is from `named_cell`; the function has these types (caller).
        let (result, lock) = unsafe { call::<T>(lock, cell, arguments) }?;
        R::from_ocaml(result, lock).map_err(|error| error.of_result(self.shown).into())
    }
}

/// Calls the function in the cell, with `()` if there are no arguments.
///
/// # Safety
///
/// `cell` is from `named_cell`. The function takes these arguments and returns a `T`.
#[track_caller]
unsafe fn call<'l, T: ?Sized>(
    lock: &'l mut DomainLock,
    cell: NonNull<sys::Value>,
    arguments: &[Boxroot<OCamlAny>],
) -> Result<(Value<'l, T>, &'l DomainLock), crate::Exception> {
    const ON_STACK: usize = 8;
    let (mut few, mut many) = ([Value::unit().raw(); ON_STACK], Vec::new());
    let raw: &mut [sys::Value] = match arguments.len() {
        0 => &mut few[..1],
        count if count <= ON_STACK => &mut few[..count],
        count => {
            many.resize(count, Value::unit().raw());
            &mut many
        }
    };
    for (raw, argument) in raw.iter_mut().zip(arguments) {
        *raw = argument.get(lock).raw();
    }
    // SAFETY: `cell` is from `named_cell` (caller).
    let closure = unsafe { load(lock, cell) };
    // SAFETY: the closure and the arguments are live, because the collector has not run since they were read. The
    // function has these types (caller).
    unsafe { lock.call::<T>(closure, raw) }
}
