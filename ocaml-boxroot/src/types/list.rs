//! Lists and arrays.

use super::memory::{push, with_capacity};
use super::{FromOCaml, ToOCaml};
use crate::types::block::{block, rooted};
use crate::{ffi, Boxroot, DomainLock, Error, OCamlArray, OCamlList, Value};

impl<A, R: ToOCaml<A>> ToOCaml<OCamlList<A>> for [R] {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlList<A>>, Error> {
        // SAFETY: the empty list is the immediate 0.
        let mut list = unsafe { rooted(Value::int(0).raw(), lock) }?;
        for element in self.iter().rev() {
            let element = element.to_ocaml(lock)?;
            // SAFETY: a cons cell is a block of tag 0 with the first element and the rest.
            list = unsafe { block(lock, 0, &[element.as_any(), list.as_any()]) }?;
        }
        Ok(list)
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlList<A>> for Vec<R> {
    fn convert_from<'l>(
        value: Value<'l, OCamlList<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, Error> {
        let mut elements = Vec::new();
        for element in value.iter() {
            push(&mut elements, R::from_ocaml(element, lock)?)?;
        }
        Ok(elements)
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlArray<A>> for [R] {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlArray<A>>, Error> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. The
        // array of units is used as an array of A only when all elements were stored.
        let mut array = unsafe { rooted(ffi::obx_alloc_array(self.len()), lock) }?;
        let mut floats = Vec::new();
        for (i, element) in self.iter().enumerate() {
            let element = element.to_ocaml(lock)?;
            let raw = element.get(lock).raw();
            // SAFETY: the lock is held, and the array has the field i. No float is stored in it if OCaml's arrays of
            // floats are flat.
            unsafe {
                if ffi::obx_float_arrays_are_flat != 0 && ffi::obx_is_float(raw) != 0 {
                    push(&mut floats, ffi::obx_float(raw))?;
                } else {
                    ffi::obx_store(array.get(lock).raw(), i, raw);
                }
            }
        }
        if !floats.is_empty() {
            if floats.len() != self.len() {
                return Err(Error::Mismatch); // in OCaml, an array has only floats or none
            }
            // SAFETY: the token proves that the lock is held, and is borrowed mutably. All elements are floats, so their
            // array is in the flat form.
            array =
                unsafe { rooted(ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()), lock) }?;
        }
        Ok(array)
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlArray<A>> for Vec<R> {
    fn convert_from<'l>(
        value: Value<'l, OCamlArray<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, Error> {
        let mut elements = with_capacity(value.len())?;
        for i in 0..value.len() {
            elements.push(match value.get(i) {
                Some(element) => R::from_ocaml(element, lock)?,
                None => R::from_float(value.flat_float(i).ok_or(Error::Mismatch)?)?,
            });
        }
        Ok(elements)
    }
}

macro_rules! like_slices {
    ($($ocaml:ident),*) => {$(
        impl<A, R: ToOCaml<A>> ToOCaml<$ocaml<A>> for Vec<R> {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<$ocaml<A>>, Error> {
                self.as_slice().convert_to(lock)
            }
        }

        impl<A, R: ToOCaml<A>, const N: usize> ToOCaml<$ocaml<A>> for [R; N] {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<$ocaml<A>>, Error> {
                self.as_slice().convert_to(lock)
            }
        }

        /// [`Mismatch`](Error::Mismatch) if there are more or fewer than `N` elements.
        impl<A, R: FromOCaml<A>, const N: usize> FromOCaml<$ocaml<A>> for [R; N] {
            fn convert_from<'l>(
                value: Value<'l, $ocaml<A>>,
                lock: &'l DomainLock,
            ) -> Result<Self, Error> {
                Vec::convert_from(value, lock)?.try_into().map_err(|_| Error::Mismatch)
            }
        }
    )*};
}

like_slices!(OCamlList, OCamlArray);
