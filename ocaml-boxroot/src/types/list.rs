//! Lists; and what lists and arrays have in common.

use super::block::{block, rooted};
use super::form::Form;
use super::memory::push;
use super::{FromOCaml, ToOCaml};
use crate::{Boxroot, DomainLock, Error, Kind, OCamlAny, Value};
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
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(lock)?;
    /// assert_eq!(list.to_rust::<Vec<i64>>(lock)?, [1, 2, 3]);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
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
    /// The elements, from the first to the last. For a cyclic list, the iterator does not end.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlInt, OCamlList, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let list = ToOCaml::<OCamlList<OCamlInt>>::to_ocaml(&[1, 2, 3], lock)?;
    /// assert_eq!(list.get(lock).iter().map(|n| n.to_int()).sum::<isize>(), 6);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        let mut list = self;
        std::iter::from_fn(move || {
            let (first, rest) = list.first_and_rest()?;
            list = rest;
            Some(first)
        })
    }

    #[track_caller]
    fn first_and_rest(self) -> Option<(Value<'l, T>, Self)> {
        // SAFETY: a list that is not an immediate is a block with the first element and the rest (type).
        (!self.checked().is_immediate()).then(|| unsafe { (self.field(0), self.field(1)) })
    }
}

/// Finds out that a list is cyclic, at the latest when it was followed three times as far as it has cells (R. P. Brent, "An
/// improved Monte Carlo factorization algorithm", 1980). It remembers one cell at a time, each for twice as many steps as the
/// last one.
struct CycleFinder {
    remembered: sys::Value,
    cells: usize,
}

impl CycleFinder {
    fn new<T>(list: Value<'_, OCamlList<T>>) -> CycleFinder {
        CycleFinder { remembered: list.raw(), cells: 0 }
    }

    /// Whether this, the next cell or the end, is the cell that is remembered. No value moves meanwhile, because the token is
    /// borrowed.
    fn closes_at<T>(&mut self, list: Value<'_, OCamlList<T>>) -> bool {
        let was_there = list.raw() == self.remembered;
        self.cells += 1;
        if self.cells.is_power_of_two() {
            self.remembered = list.raw();
        }
        was_there
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlList<A>> for [R] {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlList<A>>, Error> {
        let mut list = empty(lock)?;
        for element in self.iter().rev() {
            list = cons(element.to_ocaml(lock)?.into_any(), list, lock)?;
        }
        // SAFETY: a list of what the elements become, which are of type `A`.
        Ok(unsafe { list.cast_into() })
    }
}

/// The empty list.
#[track_caller]
fn empty(lock: &DomainLock) -> Result<Boxroot<OCamlAny>, Error> {
    // SAFETY: the empty list is the immediate 0.
    unsafe { rooted(Value::int(0).raw(), lock) }
}

/// The list with another first element.
#[track_caller]
fn cons(
    first: Boxroot<OCamlAny>,
    rest: Boxroot<OCamlAny>,
    lock: &mut DomainLock,
) -> Result<Boxroot<OCamlAny>, Error> {
    // SAFETY: a cons cell is a block of tag 0 with the first element and the rest.
    unsafe { block(lock, 0, &[&first, &rest]) }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlList<A>> for Vec<R> {
    fn convert_from<'l>(
        value: Value<'l, OCamlList<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, Error> {
        let mut elements = Vec::new();
        let mut cycle = CycleFinder::new(value);
        let mut rest = value;
        while let Some((element, after)) = rest.first_and_rest() {
            push(&mut elements, R::from_ocaml(element, lock)?)?;
            rest = after;
            if cycle.closes_at(rest) {
                return Err(Error::Mismatch);
            }
        }
        Ok(elements)
    }

    with_form!(OCamlList<A>);
}

/// The conversions of vectors and Rust arrays, by those of slices and vectors.
macro_rules! like_slices {
    ($ocaml:ident) => {
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

            with_form!($ocaml<A>);
        }
    };
}

like_slices!(OCamlList);
pub(super) use like_slices;
