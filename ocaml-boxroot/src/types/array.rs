//! Arrays, and the flat form of floats, which records may have, too.

use super::block::rooted;
use super::form::{Form, DOUBLE_ARRAY_TAG};
use super::list::like_slices;
use super::memory::{push, with_capacity};
use super::{FromOCaml, Invariant, OCamlFloat, ToOCaml};
use crate::{ffi, Boxroot, DomainLock, Error, Kind, OCamlAny, Value};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

marker! {
    /// The type of OCaml's `T array`, also for arrays of floats. Invariant, because arrays change.
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
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlInt, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlInt>>::to_ocaml(&[1, 2, 3], lock)?;
    /// assert_eq!(root.get(lock).len(), 3);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("caml_array_length", "Wosize_val"))]
    #[track_caller]
    pub fn len(self) -> usize {
        // SAFETY: the value is a live array (type and lifetime).
        unsafe { ffi::obx_size(self.checked().raw()) }
    }

    /// Whether there are no elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlInt, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlInt>>::to_ocaml(&[1, 2, 3], lock)?;
    /// assert!(!root.get(lock).is_empty());
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, if there is one. Always `None` for an array in the flat form of floats, whose
    /// elements are numbers and not values; see [`get_float`](Value::get_float).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlInt, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlInt>>::to_ocaml(&[1, 2, 3], lock)?;
    /// assert_eq!(root.get(lock).get(2).map(|n| n.to_int()), Some(3));
    /// assert!(root.get(lock).get(3).is_none());
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "Field")]
    #[track_caller]
    pub fn get(self, index: usize) -> Option<Value<'l, T>> {
        let is_there = !self.is_flat_floats() && index < self.len();
        // SAFETY: an array that is not flat is a block of its elements (type), and has this one (just checked).
        is_there.then(|| unsafe { self.field(index) })
    }

    /// The elements, from the first to the last. For an array in the flat form of floats, the iterator is empty; use
    /// [`floats`](Value::floats) there. Each element is read when it is asked for; another domain may change it before.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlInt, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlInt>>::to_ocaml(&[1, 2, 3], lock)?;
    /// assert_eq!(root.get(lock).iter().map(|n| n.to_int()).sum::<isize>(), 6);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Value<'l, T>> {
        let length = if self.is_flat_floats() { 0 } else { self.len() };
        // SAFETY: an array that is not flat is a block of its elements (type). Its length does not change.
        (0..length).map(move |index| unsafe { self.field(index) })
    }
}

impl<'l> Value<'l, OCamlArray<OCamlFloat>> {
    /// The number at `index`, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlFloat, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlFloat>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// assert_eq!(root.get(lock).get_float(1), Some(1.5));
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("Double_array_field", "Double_flat_field"))]
    pub fn get_float(self, index: usize) -> Option<f64> {
        match self.get(index) {
            Some(boxed) => Some(boxed.to_float()),
            None => self.flat_float(index),
        }
    }

    /// The numbers, from the first to the last.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlArray, OCamlFloat, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlArray<OCamlFloat>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// assert_eq!(root.get(lock).floats().sum::<f64>(), 2.);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn floats(self) -> impl ExactSizeIterator<Item = f64> + use<'l> {
        (0..self.len()).map(move |index| self.get_float(index).expect("the length does not change"))
    }
}

impl<T: ?Sized> Value<'_, T> {
    /// The number at `index` of an array or a record in the flat form of floats. `None` if the value does not have this
    /// form, or is too short.
    pub(crate) fn flat_float(self, index: usize) -> Option<f64> {
        // SAFETY: the size is read only if the value is a block, which is live.
        if !self.is_flat_floats() || index >= unsafe { ffi::obx_size(self.raw()) } {
            return None;
        }
        let element = (self.raw() as *mut u64).wrapping_add(index);
        // SAFETY: a live block of floats, which has this one (just checked). The load is atomic, because another
        // domain may be changing the number.
        Some(f64::from_bits(unsafe { AtomicU64::from_ptr(element) }.load(Ordering::Relaxed)))
    }

    pub(crate) fn is_flat_floats(self) -> bool {
        // SAFETY: the tag is read only if the value is a block, which is live.
        !self.is_immediate() && unsafe { ffi::obx_is_flat_floats(self.raw()) != 0 }
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

    with_form!(OCamlArray<A>);
}

like_slices!(OCamlArray);
