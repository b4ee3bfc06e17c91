//! Bigarrays.

use super::block::rooted;
use super::form::{custom_name, Form};
use super::memory::collect;
use super::number::is_ocaml_int;
use super::{FromOCaml, Invariant, OCamlChar, OCamlInt, OCamlNativeint, ToOCaml};
use crate::{ffi, Boxroot, DomainLock, Error, OCamlAny, Value};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{
    AtomicI16, AtomicI32, AtomicI64, AtomicI8, AtomicIsize, AtomicU16, AtomicU32, AtomicU64,
    AtomicU8, Ordering,
};

marker! {
    /// The type of OCaml's bigarrays of elements `E`, of any layout and any number of dimensions: `Bigarray.Array1.t` to
    /// `Array3.t`, and `Genarray.t`.
    ///
    /// | `E` | OCaml's kind |
    /// |---|---|
    /// | `f32`, `f64` | `float32`, `float64` |
    /// | `i8`, `u8`, `i16`, `u16`, `i32`, `i64` | `int8_signed`, `int8_unsigned`, … `int32`, `int64` |
    /// | [`OCamlInt`], [`OCamlNativeint`] (`isize`) | `int`, `nativeint` |
    /// | [`OCamlChar`] (`u8`) | `char` |
    ///
    /// The elements are outside of OCaml's heap, and do not move. Other threads and domains may change them at any
    /// time. So Rust gets a slice of cells, which are read and written one by one, at the cost of ordinary memory accesses.
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let samples: Boxroot<OCamlBigarray<f64>> = [0.5, 1.5].to_ocaml(lock)?;
    /// let cells = samples.get(lock).cells();
    /// cells[0].set(2.5);
    /// assert_eq!(cells.iter().map(|cell| cell.get()).sum::<f64>(), 4.);
    /// assert_eq!(samples.to_rust::<Vec<f64>>(lock)?, [2.5, 1.5]);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    OCamlBigarray<E>(PhantomData<E>, Invariant<E>);
}

/// The types of elements that bigarrays have; see the table of [`OCamlBigarray`].
///
/// # Examples
///
/// ```no_run
/// use ocaml_boxroot::{BigarrayElement, OCamlBigarray, Value};
///
/// fn length<E: BigarrayElement>(array: Value<OCamlBigarray<E>>) -> usize {
///     array.cells().len()
/// }
/// ```
pub trait BigarrayElement: sealed::Element {}

mod sealed {
    use super::c_int;

    pub trait Element {
        /// The element's type in Rust.
        type Rust: Copy;
        /// The atomic type of the same size and alignment.
        type Cell;
        /// OCaml's number for this kind of element.
        const KIND: c_int;
        fn load(cell: &Self::Cell) -> Self::Rust;
        fn store(cell: &Self::Cell, element: Self::Rust);
    }
}

/// An element of a bigarray in its place. Other threads may change it at any time.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
/// let cell = &root.get(lock).cells()[0];
/// cell.set(cell.get() * 2.);
/// assert_eq!(cell.get(), 1.);
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[repr(transparent)]
pub struct BigarrayCell<E: BigarrayElement>(E::Cell);

impl<E: BigarrayElement> BigarrayCell<E> {
    /// The element. An atomic load, without ordering (`Relaxed`).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// assert_eq!(root.get(lock).cells()[1].get(), 1.5);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn get(&self) -> E::Rust {
        E::load(&self.0)
    }

    /// Changes the element. An atomic store, without ordering (`Relaxed`). Where the elements are OCaml's integers
    /// ([`OCamlInt`]), OCaml does not see the highest bit, as with [`Value::int`].
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// root.get(lock).cells()[1].set(2.5);
    /// assert_eq!(root.to_rust::<Vec<f64>>(lock)?, [0.5, 2.5]);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn set(&self, element: E::Rust) {
        E::store(&self.0, element)
    }
}

impl<E: BigarrayElement> fmt::Debug for BigarrayCell<E>
where
    E::Rust: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

macro_rules! elements {
    ($($element:ty: $rust:ty, $cell:ty, $kind:literal $(if $fits:path)? $(, $from:ident, $to:ident)?;)*) => {$(
        impl BigarrayElement for $element {}

        impl sealed::Element for $element {
            type Rust = $rust;
            type Cell = $cell;
            const KIND: c_int = $kind;

            #[inline]
            fn load(cell: &$cell) -> $rust {
                $(<$rust>::$from)?(cell.load(Ordering::Relaxed))
            }

            #[inline]
            fn store(cell: &$cell, element: $rust) {
                cell.store($(<$rust>::$to)?(element), Ordering::Relaxed)
            }
        }

        impl ToOCaml<OCamlBigarray<$element>> for [$rust] {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBigarray<$element>>, Error> {
                $(if !self.iter().all(|element| $fits(*element)) {
                    return Err(Error::OutOfRange);
                })?
                // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. The
                // function copies the data, which is of this kind.
                unsafe {
                    let data = self.as_ptr().cast();
                    rooted(ffi::obx_alloc_bigarray($kind, data, self.len(), size_of_val(self)), lock)
                }
            }

            without_parts!(&self);
        }

        impl ToOCaml<OCamlBigarray<$element>> for Vec<$rust> {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBigarray<$element>>, Error> {
                self.as_slice().to_ocaml(lock)
            }

            without_parts!(&self);
        }

        impl<const N: usize> ToOCaml<OCamlBigarray<$element>> for [$rust; N] {
            fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBigarray<$element>>, Error> {
                self.as_slice().to_ocaml(lock)
            }

            without_parts!(&self);
        }

        /// Copies the elements in the order of memory, of all dimensions.
        impl FromOCaml<OCamlBigarray<$element>> for Vec<$rust> {
            fn convert_from<'l>(
                value: Value<'l, OCamlBigarray<$element>>,
                _: &'l DomainLock,
            ) -> Result<Self, Error> {
                collect(value.cells().iter().map(BigarrayCell::get))
            }

            without_parts!();
            with_form!(OCamlBigarray<$element>);
        }
    )*};
}

elements! {
    f32: f32, AtomicU32, 0, from_bits, to_bits;
    f64: f64, AtomicU64, 1, from_bits, to_bits;
    i8: i8, AtomicI8, 2;
    u8: u8, AtomicU8, 3;
    i16: i16, AtomicI16, 4;
    u16: u16, AtomicU16, 5;
    i32: i32, AtomicI32, 6;
    i64: i64, AtomicI64, 7;
    OCamlInt: isize, AtomicIsize, 8 if is_ocaml_int;
    OCamlNativeint: isize, AtomicIsize, 9;
    OCamlChar: u8, AtomicU8, 12;
}

impl<E: BigarrayElement> Form for OCamlBigarray<E> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        // SAFETY: the value is a live bigarray, by its operations.
        custom_name(value) == Some(c"_bigarr02")
            && unsafe { ffi::obx_ba_kind(value.raw()) } == E::KIND
    }
}

impl<'l, E: BigarrayElement> Value<'l, OCamlBigarray<E>> {
    /// The sizes of the dimensions, in OCaml's order.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// assert_eq!(root.get(lock).dimensions(), [2]);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("Caml_ba_array_val", "caml_ba_alloc"))]
    #[track_caller]
    pub fn dimensions(self) -> Vec<usize> {
        self.checked();
        // SAFETY: `self` is a live bigarray (type and lifetime), whose dimensions do not change.
        unsafe {
            let count = ffi::obx_ba_dimensions(self.raw());
            (0..count).map(|i| ffi::obx_ba_dimension(self.raw(), i)).collect()
        }
    }

    /// The elements, in the order of memory.
    ///
    /// # Panics
    ///
    /// If the bigarray is of another kind than `E`, or its memory is not aligned for it, as that of a bigarray
    /// that C code made may be.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// assert_eq!(root.get(lock).cells().iter().map(|cell| cell.get()).sum::<f64>(), 2.);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "Caml_ba_data_val")]
    #[track_caller]
    pub fn cells(self) -> &'l [BigarrayCell<E>] {
        // On OCaml 4, the product of the sizes may overflow. The number of elements is what is left of it.
        let length = self.dimensions().iter().fold(1, |n: usize, size| n.wrapping_mul(*size));
        let data: *const BigarrayCell<E> = self.data().cast();
        if length == 0 {
            return &[];
        }
        // SAFETY: a bigarray that is live in 'l has as many elements. Their kind and alignment were checked by `data`.
        // Cells are atomic, so other threads may change them.
        unsafe { std::slice::from_raw_parts(data, length) }
    }

    /// The elements, in the order of memory, as a slice.
    ///
    /// # Panics
    ///
    /// As [`cells`](Value::cells).
    ///
    /// # Safety
    ///
    /// The elements do not change in `'l`, neither through this bigarray nor through one that shares its memory, neither
    /// by another domain nor by code that runs without the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlBigarray, ToOCaml};
    ///
    /// # let _ocaml = ocaml_boxroot::Runtime::start()?;
    /// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
    /// let root = ToOCaml::<OCamlBigarray<f64>>::to_ocaml(&[0.5, 1.5], lock)?;
    /// // SAFETY: nobody else knows of this bigarray.
    /// let numbers = unsafe { root.get(lock).as_slice() };
    /// assert_eq!(numbers, [0.5, 1.5]);
    /// # Ok(()) })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "Caml_ba_data_val")]
    pub unsafe fn as_slice(self) -> &'l [E::Rust] {
        let cells = self.cells();
        // SAFETY: a cell has the size and alignment of its element (`sealed::Element`), and nothing changes it
        // (caller).
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
    }

    fn data(self) -> *const u8 {
        // SAFETY: `self` is a live bigarray (type and lifetime).
        let (kind, data) = unsafe { (ffi::obx_ba_kind(self.raw()), ffi::obx_ba_data(self.raw())) };
        assert_eq!(kind, E::KIND, "a bigarray of another kind");
        assert!(data.cast::<E::Cell>().is_aligned(), "a bigarray whose memory is not aligned");
        data.cast()
    }
}
