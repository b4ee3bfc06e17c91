//! Lists, and code that lists and arrays share.

use super::depth::level;
use super::form::Form;
use super::{FromOCaml, Made, ToOCaml};
use crate::raw::ValueExt;
use crate::{
    ffi, Boxroot, ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, RootRef, Value,
};
use ocaml_boxroot_sys as sys;
use std::marker::PhantomData;

marker! {
    /// The type of OCaml's `T list`. Covariant.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlList, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(lock)?;
    /// assert_eq!(list.to_rust::<Vec<i64>>(lock)?, [1, 2, 3]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("Val_emptylist", "cons"))]
    OCamlList<T>(PhantomData<T>);
}

impl<T> Form for OCamlList<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Immediate(0) | Kind::Block { tag: 0, size: 2 })
    }
}

impl<'l, T> Value<'l, OCamlList<T>> {
    /// The elements, in order. For a cyclic list, the iterator does not end.
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        let mut list = self;
        std::iter::from_fn(move || {
            let (first, rest) = list.first_and_rest()?;
            list = rest;
            Some(first)
        })
    }

    #[track_caller]
    pub(crate) fn first_and_rest(self) -> Option<(Value<'l, T>, Self)> {
        if self.checked().is_immediate() {
            return None;
        }
        // SAFETY: a list that is not an immediate is a block with the first element and the rest
        // (by its type).
        Some(unsafe { (self.field(0), self.field(1)) })
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlList<A>> for [R] {
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlList<A>> {
        let _level = level(R::NESTS)?;
        let mut list = Boxroot::try_new(lock, Value::int(0).any())?;
        for element in self.iter().rev() {
            let first = element.to_value(lock)?.0.raw();
            // SAFETY: the collector has not run since the element was made.
            unsafe { prepend(first, &mut list, lock) }?;
        }
        // SAFETY: the empty list is the immediate 0. Elements of type `A` were added to it.
        Ok((unsafe { Value::from_raw(list.into_value(lock).raw()) }, lock))
    }
}

/// Prepends an element to a list. This function is not generic, so that it is compiled only once.
///
/// # Safety
///
/// `first` is a valid value.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn prepend(
    first: sys::Value,
    list: &mut Boxroot<OCamlAny>,
    lock: &mut DomainLock,
) -> Result<(), ConversionError> {
    let rest = list.as_any() as *const RootRef<OCamlAny>;
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. `first` is valid until then (caller), and `rest` is the place of a live root.
    let list_of_one_more = unsafe { Value::from_raw(ffi::obx_alloc_cons(first, rest.cast())) };
    list.try_set(lock, list_of_one_more)
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlList<A>> for Vec<R> {
    fn from_ocaml<'l>(
        value: Value<'l, OCamlList<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let _level = level(R::NESTS)?;
        let (mut elements, mut rest) = (Vec::new(), value);
        loop {
            // The vector grows with the list, instead of having its final size from the start,
            // because glibc then allocates the elements faster. At each growth, the current cell is
            // remembered, and compared with as many later cells as there are elements so far.
            // Therefore a cycle is detected after at most three times as many steps as the list has
            // cells (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980). No
            // value moves meanwhile, because the token is borrowed.
            let (remembered, steps) = (rest.raw(), elements.len().max(4));
            if elements.try_reserve(steps).is_err() {
                return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
            }
            for _ in 0..steps {
                let Some((element, after)) = rest.first_and_rest() else { return Ok(elements) };
                match element.to_rust(lock) {
                    // SAFETY: the vector has room for `steps` more elements, and this loop has
                    // written fewer. `push` would check for room again, and would be compiled for
                    // each type.
                    Ok(element) => unsafe {
                        let count = elements.len();
                        elements.as_mut_ptr().add(count).write(element);
                        elements.set_len(count + 1);
                    },
                    Err(error) => return Err(error),
                }
                if after.raw() == remembered {
                    return Err(ConversionError::new(ConversionErrorKind::Mismatch));
                }
                rest = after;
            }
        }
    }

    with_form!(OCamlList<A>);
}

/// Converts vectors and Rust arrays through the conversions of slices and vectors.
macro_rules! like_slices {
    ($ocaml:ident) => {
        impl<A, R: ToOCaml<A>> ToOCaml<$ocaml<A>> for Vec<R> {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, $ocaml<A>> {
                self.as_slice().to_value(lock)
            }
        }

        impl<A, R: ToOCaml<A>, const N: usize> ToOCaml<$ocaml<A>> for [R; N] {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, $ocaml<A>> {
                self.as_slice().to_value(lock)
            }
        }

        impl<A, R: ToOCaml<A>> ToOCaml<$ocaml<A>> for std::collections::VecDeque<R> {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, $ocaml<A>> {
                crate::types::memory::collect(self.iter())?.to_value(lock)
            }
        }

        impl<A, R: FromOCaml<A>> FromOCaml<$ocaml<A>> for std::collections::VecDeque<R> {
            fn from_ocaml<'l>(
                value: Value<'l, $ocaml<A>>,
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                Vec::from_ocaml(value, lock).map(Self::from)
            }

            with_form!($ocaml<A>);
        }

        /// Returns [`Mismatch`](crate::ConversionErrorKind::Mismatch) if there are more or fewer
        /// than `N` elements.
        impl<A, R: FromOCaml<A>, const N: usize> FromOCaml<$ocaml<A>> for [R; N] {
            fn from_ocaml<'l>(
                value: Value<'l, $ocaml<A>>,
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                Vec::from_ocaml(value, lock)?
                    .try_into()
                    .map_err(|_| ConversionError::new(ConversionErrorKind::Mismatch))
            }

            with_form!($ocaml<A>);
        }
    };
}

like_slices!(OCamlList);
pub(super) use like_slices;
