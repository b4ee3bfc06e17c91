//! Lists, and code that lists and arrays share.

// rustc takes longer for `?`, and programs have many of these conversions.
#![allow(clippy::question_mark)]

use super::depth::{level, Level};
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
        let mut list = match Growing::new(lock, R::NESTS) {
            Ok(list) => list,
            Err(error) => return Err(error),
        };
        let mut elements = self;
        while let [others @ .., last] = elements {
            let added = match last.to_value(lock) {
                // SAFETY: the collector has not run since the element was made.
                Ok((last, _)) => unsafe { list.prepend(last.raw(), lock) },
                Err(error) => Err(error),
            };
            if let Err(error) = added {
                return Err(error);
            }
            elements = others;
        }
        // SAFETY: all elements are of type `A`.
        Ok((unsafe { Value::from_raw(list.done(lock)) }, lock))
    }
}

/// A list that grows at its beginning. Not generic, so that it is compiled only once.
struct Growing {
    list: Boxroot<OCamlAny>,
    _level: Option<Level>,
}

impl Growing {
    /// The empty list. `nest` says whether the conversions of elements do.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    fn new(lock: &DomainLock, nest: bool) -> Result<Growing, ConversionError> {
        let _level = level(nest)?;
        Ok(Growing { list: Boxroot::try_new(lock, Value::int(0).any())?, _level })
    }

    /// Prepends an element.
    ///
    /// # Safety
    ///
    /// `first` is a valid value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    unsafe fn prepend(
        &mut self,
        first: sys::Value,
        lock: &mut DomainLock,
    ) -> Result<(), ConversionError> {
        let rest = self.list.as_any() as *const RootRef<OCamlAny>;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. `first` is valid until then (caller), and `rest` is the place of a live root.
        let list = unsafe { Value::from_raw(ffi::obx_alloc_cons(first, rest.cast())) };
        self.list.try_set(lock, list)
    }

    /// The list. It is valid until the collector runs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn done(self, lock: &DomainLock) -> sys::Value {
        self.list.into_value(lock).raw()
    }
}

/// The cells of a list that are not copied yet. Not generic, so that it is compiled only once.
struct Cells<'l> {
    rest: Value<'l, OCamlList<OCamlAny>>,
    /// An earlier cell. If the list comes back to it, the list is cyclic. No value moves meanwhile,
    /// because the token is borrowed.
    remembered: sys::Value,
    _level: Option<Level>,
}

impl<'l> Cells<'l> {
    /// The cells of a list. `nest` says whether the conversions of elements do.
    ///
    /// # Safety
    ///
    /// The value is a list.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn new(list: Value<'l, OCamlAny>, nest: bool) -> Result<Cells<'l>, ConversionError> {
        // SAFETY: the value is a list (caller), and every value is an `OCamlAny`.
        let rest = unsafe { Value::from_raw(list.raw()) };
        Ok(Cells { rest, remembered: 0, _level: level(nest)? })
    }

    /// Remembers the current cell, with `count` elements before it. Returns with how many later
    /// cells it is to be compared: as many, so that a cycle is detected after at most three times
    /// as many steps as the list has cells (R. P. Brent, "An improved Monte Carlo factorization
    /// algorithm", 1980).
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn remember(&mut self, count: usize) -> usize {
        self.remembered = self.rest.raw();
        count.max(4)
    }

    /// The next element, or `None` at the end.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<sys::Value> {
        let (first, rest) = self.rest.first_and_rest()?;
        self.rest = rest;
        Some(first.raw())
    }

    /// Whether the list has come back to the remembered cell.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn are_cyclic(&self) -> bool {
        self.rest.raw() == self.remembered
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlList<A>> for Vec<R> {
    fn from_ocaml<'l>(
        value: Value<'l, OCamlList<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        // SAFETY: the value is a list, as its type says.
        let mut cells = match unsafe { Cells::new(value.any(), R::NESTS) } {
            Ok(cells) => cells,
            Err(error) => return Err(error),
        };
        let mut elements = Vec::new();
        loop {
            let mut steps = cells.remember(elements.len());
            // The vector grows with the list, instead of having its final size from the start,
            // because glibc then allocates the elements faster.
            if elements.try_reserve(steps).is_err() {
                return Err(ConversionError::new(ConversionErrorKind::OutOfMemory));
            }
            while steps != 0 {
                steps -= 1;
                let Some(element) = cells.next() else { return Ok(elements) };
                // SAFETY: the elements of the list are of type `A`. The vector has room for `steps`
                // more, and this loop has written fewer. `push` would check for room again, and
                // would be compiled for each type.
                unsafe {
                    match Value::<A>::from_raw(element).to_rust(lock) {
                        Ok(element) => {
                            let count = elements.len();
                            elements.as_mut_ptr().add(count).write(element);
                            elements.set_len(count + 1);
                        }
                        Err(error) => return Err(error),
                    }
                }
                if cells.are_cyclic() {
                    return Err(ConversionError::new(ConversionErrorKind::Mismatch));
                }
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
