//! Fields of records.

use super::form::{is_flat, is_record, HasParts};
use super::parts::has_parts;
use crate::raw::ValueExt;
use crate::types::form::{mismatch, Form};
use crate::types::several::{Nth, Types};
use crate::types::FromOCaml;
use crate::value::CHECKS;
use crate::{ConversionError, ConversionErrorKind, DomainLock, RootRef, Value};
use std::marker::PhantomData;

/// A field of type `F` in records of type `T`, declared by [`ocaml_type!`](crate::ocaml_type!).
/// Every `T` has this field. If `FLAT`, the record is in the flat form of floats: its fields are
/// numbers in a row, not values.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{ocaml_type, OCamlInt, OCamlString, ToOCaml};
///
/// ocaml_type! {
///     /// `type city = { name : string; height : int }`
///     struct OCamlCity for City { name: OCamlString, height: OCamlInt }
/// }
///
/// struct City {
///     name: String,
///     height: u16,
/// }
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let city = City { name: "Bern".into(), height: 540 }.to_ocaml(lock)?;
/// // `OCamlCity::name` is a `Field`.
/// assert_eq!(city.get(lock).at(OCamlCity::name).as_str()?, "Bern");
/// # Ok(()) });
/// ```
pub struct Field<T, F, const FLAT: bool> {
    index: usize,
    name: &'static str,
    _types: PhantomData<fn(T) -> F>,
}

impl<T, F, const FLAT: bool> Clone for Field<T, F, FLAT> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F, const FLAT: bool> Copy for Field<T, F, FLAT> {}

impl<'l, T: Form> Value<'l, T> {
    /// Copies a field of a record to a Rust type.
    ///
    /// # Errors
    ///
    /// Same as [`to_rust`](Value::to_rust).
    #[doc(alias = "Field")]
    #[track_caller]
    pub fn read<F, R: FromOCaml<F>, const FLAT: bool>(
        self,
        lock: &'l DomainLock,
        field: Field<T, F, FLAT>,
    ) -> Result<R, ConversionError> {
        let result = if CHECKS && !self.has_form() {
            Err(mismatch(self))
        } else if FLAT {
            self.flat_float(field.index)
                .ok_or_else(|| ConversionError::new(ConversionErrorKind::Mismatch))
                .and_then(R::from_float)
        } else {
            // SAFETY: every `T` has this field, which is an `F` (`Field`).
            unsafe { self.field::<F>(field.index) }.to_rust(lock)
        };
        result.map_err(|error| error.within(field.name))
    }

    /// The value of a field of a record. For records in the flat form of floats, whose fields are
    /// not values, use [`read`](Value::read) instead.
    ///
    /// # Panics
    ///
    /// In [builds with checks](crate#builds-with-checks), if this is not a record with this field.
    #[doc(alias = "Field")]
    #[track_caller]
    pub fn at<F>(self, field: Field<T, F, false>) -> Value<'l, F> {
        if CHECKS && !self.has_form() {
            panic!("boxroot: {}", mismatch(self).within(field.name));
        }
        // SAFETY: every `T` has this field, which is an `F` (`Field`).
        unsafe { self.field(field.index) }
    }
}

impl<T: Form> RootRef<T> {
    /// Copies a field of a record to a Rust type; see [`Value::read`].
    ///
    /// # Errors
    ///
    /// Same as [`Value::to_rust`].
    #[doc(alias = "Field")]
    #[track_caller]
    pub fn read<F, R: FromOCaml<F>, const FLAT: bool>(
        &self,
        lock: &DomainLock,
        field: Field<T, F, FLAT>,
    ) -> Result<R, ConversionError> {
        self.get(lock).read(lock, field)
    }
}

/// The field number `I` of a record. Errors use this name for it.
pub const fn field<M, T, const I: usize, F, const FLAT: bool>(
    name: &'static str,
) -> Field<M, F, FLAT>
where
    M: HasParts<0, T>,
    T: Types + Nth<I, Type = F>,
{
    assert!(is_record::<M>() && FLAT == is_flat::<M>() && has_parts::<M, T, 0>(T::COUNT));
    Field { index: I, name, _types: PhantomData }
}
