//! Rust values that are to be converted by functions that are not generic. A program contains such a function once, however many
//! types it converts, so it compiles faster.

use super::ToOCaml;
use crate::{Boxroot, DomainLock, Error, OCamlAny};
use std::marker::PhantomData;

/// A Rust value, how to convert it, and the name that errors give it.
pub struct Unconverted<'a> {
    pub(crate) name: &'static str,
    /// Points to a value that is borrowed for `'a`.
    value: *const (),
    /// May be called with `value`.
    convert: unsafe fn(*const (), &mut DomainLock) -> Result<Boxroot<OCamlAny>, Error>,
    _value: PhantomData<&'a ()>,
}

impl<'a> Unconverted<'a> {
    /// A value that is to become a `T`.
    #[inline]
    pub fn new<T: ?Sized, R: ToOCaml<T>>(value: &'a R, name: &'static str) -> Self {
        let value: *const R = value;
        Unconverted { name, value: value.cast(), convert: convert::<T, R>, _value: PhantomData }
    }

    /// A root for the copy.
    pub(crate) fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlAny>, Error> {
        // SAFETY: the function may be called with the value (`Unconverted`).
        unsafe { (self.convert)(self.value, lock) }
    }
}

/// A root for the copy of a Rust value.
///
/// # Safety
///
/// `value` points to an `R`.
unsafe fn convert<T: ?Sized, R: ToOCaml<T>>(
    value: *const (),
    lock: &mut DomainLock,
) -> Result<Boxroot<OCamlAny>, Error> {
    // SAFETY: it points to an `R` (caller).
    match unsafe { &*value.cast::<R>() }.to_ocaml(lock) {
        Ok(root) => Ok(root.into_any()),
        Err(error) => Err(error),
    }
}
