//! Lists; and what lists and arrays have in common.

use super::block::{block, rooted};
use super::memory::push;
use super::{FromOCaml, ToOCaml};
use crate::{Boxroot, DomainLock, Error, Value};
use std::marker::PhantomData;

marker! {
    /// The type of OCaml's `T list`. Covariant.
    OCamlList<T>(PhantomData<T>);
}

impl<'l, T> Value<'l, OCamlList<T>> {
    /// The elements, from the first to the last.
    pub fn iter(self) -> impl Iterator<Item = Value<'l, T>> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_immediate() {
                return None;
            }
            // SAFETY: a list that is not an immediate is a block with the first element and the rest (type).
            unsafe {
                let first = rest.field(0);
                rest = rest.field(1);
                Some(first)
            }
        })
    }
}

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
        }
    };
}

like_slices!(OCamlList);
pub(super) use like_slices;
