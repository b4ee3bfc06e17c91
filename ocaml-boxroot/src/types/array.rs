//! Arrays, and the flat form of floats, which records can also have.

use super::block::made;
use super::depth::level;
use super::form::{Form, DOUBLE_ARRAY_TAG, DOUBLE_TAG};
use super::list::like_slices;
use super::markers::OCamlFloat;
use super::memory::{converted, number, push};
use super::{FromOCaml, Invariant, Made, ToOCaml};
use crate::raw::ValueExt;
use crate::{
    ffi, Boxroot, ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, RootRef, Value,
};
use std::marker::PhantomData;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

marker! {
    /// The type of OCaml's `T array`, including arrays of floats. Invariant: arrays are mutable.
    ///
    /// ```compile_fail
    /// # use ocaml_boxroot::{Boxroot, OCamlArray};
    /// # struct Name<'a>(&'a ());
    /// fn shorten<'a>(array: Boxroot<OCamlArray<Name<'static>>>) -> Boxroot<OCamlArray<Name<'a>>> {
    ///     array
    /// }
    /// ```
    OCamlArray<T>(PhantomData<T>, Invariant<T>);
}

impl<T> Form for OCamlArray<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Block { tag: 0 | DOUBLE_ARRAY_TAG, .. })
    }
}

impl<'l, T> Value<'l, OCamlArray<T>> {
    /// The number of elements.
    #[doc(alias("caml_array_length", "Wosize_val"))]
    #[track_caller]
    pub fn len(self) -> usize {
        // SAFETY: the value is a live array (by its type and lifetime).
        unsafe { self.checked().size_of_block() }
    }

    /// Whether the array has no elements.
    #[track_caller]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, if there is one. Always `None` for an array in the flat form of
    /// floats, whose elements are numbers, not values; see [`get_float`](Value::get_float).
    #[doc(alias = "Field")]
    #[track_caller]
    pub fn get(self, index: usize) -> Option<Value<'l, T>> {
        let is_there = !self.is_flat_floats() && index < self.len();
        // SAFETY: an array that is not flat is a block of its elements (by its type), and has this
        // element (just checked).
        is_there.then(|| unsafe { self.field(index) })
    }

    /// The elements, in order. For an array in the flat form of floats, the iterator is empty; use
    /// [`floats`](Value::floats) instead. The iterator reads an element only when it yields it.
    /// Another domain may change the element before that.
    #[track_caller]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'l, T>> {
        let length = if self.is_flat_floats() { 0 } else { self.len() };
        // SAFETY: an array that is not flat is a block of its elements (by its type). Its length
        // does not change.
        (0..length).map(move |index| unsafe { self.field(index) })
    }
}

impl<T> RootRef<OCamlArray<T>> {
    /// Changes an element, as OCaml's `array.(index) <- value` does. The collector may run.
    ///
    /// # Errors
    ///
    /// The errors of the conversion. [`Mismatch`](crate::ConversionErrorKind::Mismatch) for a float
    /// in an array of other values, and for another value in an array of floats, if the marker of
    /// the elements allows both. If an error is returned, the array is unchanged.
    ///
    /// # Panics
    ///
    /// If there is no element at `index`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlArray, OCamlString, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let names: Boxroot<OCamlArray<OCamlString>> = ["Ada", "Blaise"].to_ocaml(lock)?;
    /// names.set_at(lock, 1, "Brian")?;
    /// assert_eq!(names.to_rust::<Vec<String>>(lock)?, ["Ada", "Brian"]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("set", "caml_modify", "Store_field", "Store_double_field"))]
    #[track_caller]
    pub fn set_at(
        &self,
        lock: &mut DomainLock,
        index: usize,
        value: impl ToOCaml<T>,
    ) -> Result<(), ConversionError> {
        let (value, lock) = value.to_value(lock)?;
        let (array, value) = (self.get(lock).checked(), value.any());
        let flat = array.flat_floats().map(|floats| floats.len());
        let length = flat.unwrap_or(array.len());
        assert!(index < length, "boxroot: no element {index} in an array of {length}");
        match flat.is_some() {
            // In OCaml, either all elements of an array are floats or none is.
            is_flat if is_flat != (are_flat() && is_boxed_float(value)) => {
                Err(ConversionError::new(ConversionErrorKind::Mismatch))
            }
            true => {
                // SAFETY: the value is a float (just checked).
                let number: Value<'_, OCamlFloat> = unsafe { Value::from_raw(value.raw()) };
                // SAFETY: the array has this element (just checked), and does not move while the
                // token is borrowed. The store is atomic, because another domain may be using the
                // number.
                let place = unsafe { AtomicU64::from_ptr((array.raw() as *mut u64).add(index)) };
                place.store(number.to_float().to_bits(), Ordering::Relaxed);
                Ok(())
            }
            false => {
                // SAFETY: the lock is held. The array has this element (just checked), which is of
                // this type. In OCaml, all code that has an array may change it. Both values are
                // live, because the token is borrowed.
                unsafe { ffi::obx_store(array.raw(), index, value.raw()) };
                Ok(())
            }
        }
    }
}

impl<'l> Value<'l, OCamlArray<OCamlFloat>> {
    /// The number at `index`, if there is one.
    #[doc(alias("Double_array_field", "Double_flat_field"))]
    pub fn get_float(self, index: usize) -> Option<f64> {
        match self.get(index) {
            Some(boxed) => Some(boxed.to_float()),
            None => self.flat_float(index),
        }
    }

    /// The numbers, in order.
    pub fn floats(self) -> impl ExactSizeIterator<Item = f64> + use<'l> {
        (0..self.len()).map(move |index| self.get_float(index).expect("the length does not change"))
    }
}

impl<'l, T: ?Sized> Value<'l, T> {
    /// The number at `index` of an array or a record in the flat form of floats. `None` if the
    /// value does not have this form, or is too short.
    #[inline]
    pub(crate) fn flat_float(self, index: usize) -> Option<f64> {
        self.flat_floats()?.get(index).map(number)
    }

    /// The bits of the numbers of an array or a record in the flat form of floats, which other
    /// domains may be changing. `None` if the value does not have this form. `T` is the type of an
    /// array or a record.
    #[inline]
    pub(crate) fn flat_floats(self) -> Option<&'l [AtomicU64]> {
        if !self.is_flat_floats() {
            return None;
        }
        // SAFETY: the value is a live block (just checked), has this many floats, and does not move
        // during 'l.
        Some(unsafe {
            let length = self.size_of_block() / (8 / size_of::<usize>());
            slice::from_raw_parts(self.raw() as *const AtomicU64, length)
        })
    }

    #[inline]
    pub(crate) fn is_flat_floats(self) -> bool {
        // SAFETY: the tag is read only if the value is a block, which is live.
        !self.is_immediate() && unsafe { self.tag_of_block() == DOUBLE_ARRAY_TAG }
    }
}

/// Whether OCaml's arrays of floats have the flat form.
#[inline]
fn are_flat() -> bool {
    // SAFETY: this static is a constant in C.
    unsafe { ffi::obx_float_arrays_are_flat != 0 }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlArray<A>> for [R] {
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlArray<A>> {
        let _level = level(R::NESTS)?;
        match self.first() {
            Some(first) if first.as_float().is_some() && are_flat() => flat_array(self, lock),
            _ => array(self, lock),
        }
    }
}

/// Makes an array of numbers in the flat form.
pub(super) fn flat_array<'l, A, R: ToOCaml<A>>(
    numbers: &[R],
    lock: &'l mut DomainLock,
) -> Made<'l, OCamlArray<A>> {
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. An array of numbers is in the flat form.
    let (array, lock) = unsafe { made(ffi::obx_alloc_flat_array(numbers.len()), lock) }?;
    let first = array.raw() as *mut f64;
    for (i, number) in numbers.iter().enumerate() {
        // In OCaml, either all elements of an array are floats or none is.
        let Some(number) = number.as_float() else {
            return Err(ConversionError::new(ConversionErrorKind::Mismatch));
        };
        // SAFETY: the new array has this element. Nothing else refers to the array yet.
        unsafe { first.add(i).write(number.get()) };
    }
    Ok((array, lock))
}

/// Makes an array by converting its elements one by one.
fn array<'l, A, R: ToOCaml<A>>(
    elements: &[R],
    lock: &'l mut DomainLock,
) -> Made<'l, OCamlArray<A>> {
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. The array of units becomes an array of `A` only after all elements are stored.
    let (array, now) =
        unsafe { made::<OCamlArray<A>>(ffi::obx_alloc_array(elements.len()), lock) }?;
    let array = Boxroot::try_new(now, array)?;
    let mut floats = Vec::new();
    for (i, element) in elements.iter().enumerate() {
        let (element, now) = element.to_value(lock)?;
        if are_flat() && is_boxed_float(element.any()) {
            // SAFETY: the value is a float (just checked).
            let number: Value<'_, OCamlFloat> = unsafe { Value::from_raw(element.raw()) };
            push(&mut floats, number.to_float())?;
        } else {
            // SAFETY: the lock is held, and the array has the field i. No float is stored in it if
            // OCaml's arrays of floats are flat.
            unsafe { ffi::obx_store(array.get(now).raw(), i, element.raw()) };
        }
    }
    if !floats.is_empty() {
        if floats.len() != elements.len() {
            // In OCaml, either all elements of an array are floats or none is.
            return Err(ConversionError::new(ConversionErrorKind::Mismatch));
        }
        array.delete_in(lock);
        let (flat, lock) = flat_array::<OCamlFloat, f64>(&floats, lock)?;
        // SAFETY: this is an array of the converted elements, which are floats.
        return unsafe { made(flat.raw(), lock) };
    }
    Ok((array.into_value(lock), lock))
}

/// Whether the value is a boxed float. On OCaml 4, the value may also be a pointer to memory
/// outside the heap.
#[inline]
fn is_boxed_float(value: Value<'_, OCamlAny>) -> bool {
    matches!(value.kind(), Kind::Block { tag: DOUBLE_TAG, .. })
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlArray<A>> for Vec<R> {
    fn from_ocaml<'l>(
        value: Value<'l, OCamlArray<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let _level = level(R::NESTS)?;
        if let Some(numbers) = value.flat_floats() {
            return R::from_floats(numbers);
        }
        converted(value.iter(), |element| element.to_rust(lock))
    }

    with_form!(OCamlArray<A>);
}

like_slices!(OCamlArray);
