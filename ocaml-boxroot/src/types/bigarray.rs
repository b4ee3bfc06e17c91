//! Bigarrays.

use super::block::made;
use super::boxed::Holder;
use super::form::{custom_name, Form};
use super::markers::{OCamlChar, OCamlFloat, OCamlInt, OCamlInt32, OCamlInt64, OCamlNativeint};
use super::memory::collect;
use super::number::is_ocaml_int;
use super::{FromOCaml, Invariant, Made, ToOCaml};
use crate::{
    ffi, Boxroot, ConversionError, ConversionErrorKind, DomainLock, OCamlAny, RootRef, Value,
};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{
    AtomicI16, AtomicI32, AtomicI64, AtomicI8, AtomicIsize, AtomicU16, AtomicU32, AtomicU64,
    AtomicU8, Ordering,
};

/// The type of OCaml's one-dimensional bigarrays (`Bigarray.Array1.t`) with elements `E` in the
/// layout `L`.
///
/// | `E` | OCaml's kind |
/// |---|---|
/// | `f32`, `f64` | `float32`, `float64` |
/// | `i8`, `u8`, `i16`, `u16`, `i32`, `i64` | `int8_signed`, `int8_unsigned`, … `int32`, `int64` |
/// | [`OCamlInt`], [`OCamlNativeint`] (`isize`) | `int`, `nativeint` |
/// | [`OCamlChar`] (`u8`) | `char` |
///
/// Rust's vectors, slices and arrays can be copied to these bigarrays, and these bigarrays to
/// vectors. Without copying, OCaml can [take over](Bigarray::from_owner) a vector, and Rust can use
/// the elements as [cells](RootRef::cells). Bigarrays of [two](OCamlArray2), [three](OCamlArray3)
/// or [any number of](OCamlGenarray) dimensions have different types, as in OCaml.
///
/// The elements are outside OCaml's heap, and do not move. Other threads and domains may change
/// them at any time. Therefore Rust gets a slice of cells, which it reads and writes one by one, at
/// the cost of ordinary memory accesses.
///
/// ```
/// use ocaml_boxroot::bigarray::OCamlArray1;
/// use ocaml_boxroot::{Boxroot, ToOCaml};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let samples: Boxroot<OCamlArray1<f64>> = [0.5, 1.5].to_ocaml(lock)?;
/// let cells = samples.get(lock).cells();
/// cells[0].set(2.5);
/// assert_eq!(cells.iter().map(|cell| cell.get()).sum::<f64>(), 4.);
/// assert_eq!(samples.to_rust::<Vec<f64>>(lock)?, [2.5, 1.5]);
/// # Ok(()) });
/// ```
pub type OCamlArray1<E, L = CLayout> = Bigarray<Array1, Ocaml<E>, Elt<E>, L>;

/// The type of OCaml's two-dimensional bigarrays: `Bigarray.Array2.t`. The parameters are those of
/// [`OCamlArray1`].
///
/// ```
/// use ocaml_boxroot::bigarray::{FortranLayout, OCamlArray2};
/// use ocaml_boxroot::Value;
///
/// /// `(float, float64_elt, fortran_layout) Bigarray.Array2.t`
/// fn rows(matrix: Value<OCamlArray2<f64, FortranLayout>>) -> usize {
///     matrix.dimensions()[0]
/// }
/// ```
pub type OCamlArray2<E, L = CLayout> = Bigarray<Array2, Ocaml<E>, Elt<E>, L>;

/// The type of OCaml's three-dimensional bigarrays: `Bigarray.Array3.t`. The parameters are those
/// of [`OCamlArray1`].
pub type OCamlArray3<E, L = CLayout> = Bigarray<Array3, Ocaml<E>, Elt<E>, L>;

/// The type of OCaml's bigarrays with any number of dimensions: `Bigarray.Genarray.t`. The
/// parameters are those of [`OCamlArray1`]. OCaml functions such as `genarray_of_array2` and
/// `array2_of_genarray` convert between this type and those with a fixed number of dimensions.
///
/// ```
/// use ocaml_boxroot::bigarray::OCamlGenarray;
/// use ocaml_boxroot::Value;
///
/// fn size(tensor: Value<OCamlGenarray<f32>>) -> usize {
///     tensor.dimensions().iter().product()
/// }
/// ```
pub type OCamlGenarray<E, L = CLayout> = Bigarray<Genarray, Ocaml<E>, Elt<E>, L>;

/// The type of the elements in OCaml: `float` for `f64`.
type Ocaml<E> = <E as sealed::Element>::Ocaml;
/// The second parameter of the OCaml type: `float64_elt` for `f64`.
type Elt<E> = <E as sealed::Element>::Elt;

marker! {
    /// The type of all bigarrays. `D` is [`Array1`], [`Array2`], [`Array3`] or [`Genarray`], and
    /// the other parameters are those of the OCaml type. Programs use the shorter names
    /// [`OCamlArray1`] and so on; rustc's messages spell the type out: an `OCamlArray2<f64>` is a
    /// `Bigarray<Array2, OCamlFloat, Float64Elt, CLayout>`. [Bindings](crate::include_bindings) use
    /// this name if the OCaml type has variables, as in `('a, 'b, c_layout) Array1.t`.
    Bigarray<D, A, B, L>(PhantomData<(D, A, B, L)>, Invariant<(D, A, B, L)>);
}

marker! {
    /// OCaml's `Bigarray.c_layout`: the last index varies fastest in memory.
    CLayout;
    /// OCaml's `Bigarray.fortran_layout`: the first index varies fastest in memory, and indices
    /// begin with 1.
    FortranLayout;
}

/// Declares the types that stand for OCaml's modules in the first parameter of [`Bigarray`].
macro_rules! dimensions {
    ($($name:ident $count:expr, $numbers:ty, $ndarray:ident;)+) => {$(
        #[doc = concat!("For [`Bigarray`]: a `Bigarray.", stringify!($name), ".t`.")]
        #[derive(Debug)]
        pub enum $name {}

        impl sealed::Dimensions for $name {
            const COUNT: Option<usize> = $count;
            type Numbers = $numbers;
            #[cfg(feature = "ndarray")]
            type Ndarray = ::ndarray::$ndarray;
        }
    )+};
}

dimensions! {
    Array1 Some(1), [usize; 1], Ix1;
    Array2 Some(2), [usize; 2], Ix2;
    Array3 Some(3), [usize; 3], Ix3;
    Genarray None, Vec<usize>, IxDyn;
}

impl sealed::Sliced for Array2 {
    type Slice = Array1;
}

impl sealed::Sliced for Array3 {
    type Slice = Array2;
}

impl sealed::Sliced for Genarray {
    type Slice = Genarray;
}

impl sealed::Layout for CLayout {
    const FLAG: c_int = 0;
    const FIRST: usize = 0;
}

impl sealed::Layout for FortranLayout {
    const FLAG: c_int = 0x100;
    const FIRST: usize = 1;
}

/// The types of elements that Rust can read and write; see the table of [`OCamlArray1`].
pub trait BigarrayElement: sealed::Element {}

pub(super) mod sealed {
    use super::{c_int, BigarrayElement};

    pub trait Dimensions {
        /// The number of dimensions, if the type determines it.
        const COUNT: Option<usize>;
        /// A number for each dimension.
        type Numbers: AsRef<[usize]>;
        /// The dimensions in the crate `ndarray`.
        #[cfg(feature = "ndarray")]
        type Ndarray: ::ndarray::Dimension + 'static;
    }

    #[diagnostic::on_unimplemented(
        message = "a bigarray of one dimension has no slices",
        note = "`cells` gives its elements, and `sub` gives a part of it"
    )]
    pub trait Sliced: Dimensions {
        /// The dimensions of a slice, which has one dimension less.
        type Slice: Dimensions;
    }

    pub trait Layout {
        /// OCaml's flag for this layout.
        const FLAG: c_int;
        /// The first index.
        const FIRST: usize;
    }

    /// The second parameter of a bigarray's type whose first parameter is `A`.
    pub trait Kind<A> {
        /// OCaml's number for this kind of element.
        const KIND: c_int;
    }

    /// A [`Kind`] of elements that Rust can read.
    pub trait Known<A>: Kind<A> {
        type Element: BigarrayElement;
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be the element type of a bigarray",
        label = "not an element type",
        note = "the element types are f32, f64, i8, u8, i16, u16, i32, i64, OCamlInt, OCamlNativeint and OCamlChar"
    )]
    pub trait Element: Sized {
        /// The element's type in OCaml.
        type Ocaml;
        /// The second parameter of the bigarray's type.
        type Elt: Known<Self::Ocaml, Element = Self>;
        /// The element's type in Rust.
        type Rust: Copy + Send + 'static;
        /// The atomic type with the same size and alignment.
        type Cell;
        /// Whether OCaml can represent this element.
        fn fits(_: Self::Rust) -> bool {
            true
        }
        fn load(cell: &Self::Cell) -> Self::Rust;
        fn store(cell: &Self::Cell, element: Self::Rust);
    }
}

/// An element of a bigarray, in place. Other threads may change it at any time.
#[repr(transparent)]
pub struct BigarrayCell<E: BigarrayElement>(E::Cell);

impl<E: BigarrayElement> BigarrayCell<E> {
    /// Reads the element with a `Relaxed` atomic load.
    #[inline]
    pub fn get(&self) -> E::Rust {
        E::load(&self.0)
    }

    /// Changes the element with a `Relaxed` atomic store. If the elements are OCaml's integers
    /// ([`OCamlInt`]), OCaml does not see the highest bit, as with [`Value::int`].
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

macro_rules! elts {
    ($($elt:ident<$ocaml:ty> $kind:literal $name:literal;)*) => {
        $(
            impl sealed::Kind<$ocaml> for $elt {
                const KIND: c_int = $kind;
            }
        )*

        /// OCaml's name for a kind.
        fn kind_name(kind: c_int) -> &'static str {
            match kind {
                10 => "complex32",
                11 => "complex64",
                $($kind => $name,)*
                _ => "an unknown kind",
            }
        }
    };
}

marker! {
    /// OCaml's `Bigarray.float32_elt`.
    Float32Elt;
    /// OCaml's `Bigarray.float64_elt`.
    Float64Elt;
    /// OCaml's `Bigarray.int8_signed_elt`.
    Int8SignedElt;
    /// OCaml's `Bigarray.int8_unsigned_elt`, for integers and characters.
    Int8UnsignedElt;
    /// OCaml's `Bigarray.int16_signed_elt`.
    Int16SignedElt;
    /// OCaml's `Bigarray.int16_unsigned_elt`.
    Int16UnsignedElt;
    /// OCaml's `Bigarray.int32_elt`.
    Int32Elt;
    /// OCaml's `Bigarray.int64_elt`.
    Int64Elt;
    /// OCaml's `Bigarray.int_elt`.
    IntElt;
    /// OCaml's `Bigarray.nativeint_elt`.
    NativeintElt;
    /// OCaml's `Bigarray.complex32_elt`. Rust cannot read the elements of these bigarrays.
    Complex32Elt;
    /// OCaml's `Bigarray.complex64_elt`. Rust cannot read the elements of these bigarrays.
    Complex64Elt;
    /// `Bigarray.float16_elt` (OCaml 5.2 and later). Rust cannot read the elements of these
    /// bigarrays.
    Float16Elt;
}

elts! {
    Float32Elt<OCamlFloat> 0 "float32";
    Float64Elt<OCamlFloat> 1 "float64";
    Int8SignedElt<OCamlInt> 2 "int8_signed";
    Int8UnsignedElt<OCamlInt> 3 "int8_unsigned";
    Int16SignedElt<OCamlInt> 4 "int16_signed";
    Int16UnsignedElt<OCamlInt> 5 "int16_unsigned";
    Int32Elt<OCamlInt32> 6 "int32";
    Int64Elt<OCamlInt64> 7 "int64";
    IntElt<OCamlInt> 8 "int";
    NativeintElt<OCamlNativeint> 9 "nativeint";
    Int8UnsignedElt<OCamlChar> 12 "char";
    Float16Elt<OCamlFloat> 13 "float16";
}

// The marker of OCaml's `Complex.t` comes from bindings, so it can be any type `A`.
impl<A> sealed::Kind<A> for Complex32Elt {
    const KIND: c_int = 10;
}

impl<A> sealed::Kind<A> for Complex64Elt {
    const KIND: c_int = 11;
}

macro_rules! elements {
    ($($element:ty: $elt:ident<$ocaml:ty>, $rust:ty, $cell:ty $(| $fits:path)? $(, $from:ident, $to:ident)?;)*) => {$(
        impl BigarrayElement for $element {}

        impl sealed::Known<$ocaml> for $elt {
            type Element = $element;
        }

        impl sealed::Element for $element {
            type Ocaml = $ocaml;
            type Elt = $elt;
            type Rust = $rust;
            type Cell = $cell;

            $(
                fn fits(element: $rust) -> bool {
                    $fits(element)
                }
            )?

            #[inline]
            fn load(cell: &$cell) -> $rust {
                $(<$rust>::$from)?(cell.load(Ordering::Relaxed))
            }

            #[inline]
            fn store(cell: &$cell, element: $rust) {
                cell.store($(<$rust>::$to)?(element), Ordering::Relaxed)
            }
        }

        impl<L: sealed::Layout> ToOCaml<OCamlArray1<$element, L>> for [$rust] {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlArray1<$element, L>> {
                if !self.iter().all(|element| <$element as sealed::Element>::fits(*element)) {
                    return Err(ConversionError::new(ConversionErrorKind::OutOfRange));
                }
                let kind = <$elt as sealed::Kind<$ocaml>>::KIND;
                // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the
                // collector may run. The function copies the data, which is of this kind.
                // One-dimensional arrays are the same in both layouts.
                unsafe {
                    let data = self.as_ptr().cast();
                    made(ffi::obx_alloc_bigarray(kind | L::FLAG, data, self.len(), size_of_val(self)), lock)
                }
            }
        }

        impl<L: sealed::Layout> ToOCaml<OCamlArray1<$element, L>> for Vec<$rust> {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlArray1<$element, L>> {
                self.as_slice().to_value(lock)
            }
        }

        impl<L: sealed::Layout, const N: usize> ToOCaml<OCamlArray1<$element, L>> for [$rust; N] {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlArray1<$element, L>> {
                self.as_slice().to_value(lock)
            }
        }

        impl<L: sealed::Layout> FromOCaml<OCamlArray1<$element, L>> for Vec<$rust> {
            fn from_ocaml<'l>(
                value: Value<'l, OCamlArray1<$element, L>>,
                _: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                collect(value.cells().iter().map(BigarrayCell::get))
            }

            with_form!(OCamlArray1<$element, L>);
        }
    )*};
}

elements! {
    f32: Float32Elt<OCamlFloat>, f32, AtomicU32, from_bits, to_bits;
    f64: Float64Elt<OCamlFloat>, f64, AtomicU64, from_bits, to_bits;
    i8: Int8SignedElt<OCamlInt>, i8, AtomicI8;
    u8: Int8UnsignedElt<OCamlInt>, u8, AtomicU8;
    i16: Int16SignedElt<OCamlInt>, i16, AtomicI16;
    u16: Int16UnsignedElt<OCamlInt>, u16, AtomicU16;
    i32: Int32Elt<OCamlInt32>, i32, AtomicI32;
    i64: Int64Elt<OCamlInt64>, i64, AtomicI64;
    OCamlInt: IntElt<OCamlInt>, isize, AtomicIsize | is_ocaml_int;
    OCamlNativeint: NativeintElt<OCamlNativeint>, isize, AtomicIsize;
    OCamlChar: Int8UnsignedElt<OCamlChar>, u8, AtomicU8;
}

/// # Rust's memory
///
/// OCaml can take over memory that Rust filled. The owner, such as a vector, is dropped after OCaml
/// has collected the bigarray and all bigarrays that were made from it (`sub`, `slice_left`,
/// `reshape` and so on).
///
/// The owner can have any type that provides a `&mut` slice, because OCaml may write to its
/// bigarrays: `Vec<T>`, `Box<[T]>`, `[T; N]`, `bytes::BytesMut`, or your own type for a mapped
/// file. Owners that share their memory, such as `Arc<[T]>` and `bytes::Bytes`, do not provide such
/// a slice: OCaml has no read-only bigarrays, and the other owners would see the memory change
/// behind a `&[T]`. A sole owner can be converted to a type that provides one
/// (`bytes::Bytes::try_into_mut`).
impl<A, B: sealed::Known<A>, L: sealed::Layout> Bigarray<Array1, A, B, L> {
    /// Gives the elements of `owner` to OCaml without copying them. The collector may run.
    ///
    /// The owner is dropped once, during a collection, on any thread. The rules for its `drop` are
    /// those of [`OCamlBox`](crate::markers::OCamlBox). If OCaml still has the owner when the
    /// runtime shuts down, the owner is not dropped.
    ///
    /// The more memory these bigarrays have, the more often OCaml collects, as with its own
    /// bigarrays. If the elements are OCaml's integers, OCaml does not see their highest bits.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory). The owner is then dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray1};
    /// use ocaml_boxroot::Boxroot;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let samples: Boxroot<OCamlArray1<f64>> = Bigarray::from_owner(lock, vec![0.5; 1 << 17])?;
    /// let cells = samples.cells(lock);
    /// // Other threads can read and write them, even while OCaml runs.
    /// lock.release(|| std::thread::scope(|scope| {
    ///     for part in cells.chunks(1 << 16) {
    ///         scope.spawn(|| part.iter().for_each(|cell| cell.set(2. * cell.get())));
    ///     }
    /// }));
    /// assert_eq!(samples.get(lock).cells()[100_000].get(), 1.);
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_ba_alloc", "CAML_BA_EXTERNAL"))]
    #[track_caller]
    pub fn from_owner<O>(lock: &mut DomainLock, owner: O) -> Result<Boxroot<Self>, ConversionError>
    where
        O: AsMut<[Rust<A, B>]> + Send + 'static,
    {
        own(lock, owner, None)
    }
}

impl<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout> Bigarray<D, A, B, L> {
    /// Like [`from_owner`](Bigarray::from_owner), for a bigarray with these dimensions: an array of
    /// their sizes, or a vector for an [`OCamlGenarray`]. The elements are in memory order.
    ///
    /// # Errors
    ///
    /// Same as [`from_owner`](Bigarray::from_owner).
    ///
    /// # Panics
    ///
    /// If there are more than 16 dimensions, or if the product of their sizes is not the number of
    /// elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray2};
    /// use ocaml_boxroot::Boxroot;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let numbers = vec![1, 2, 3, 4, 5, 6].into_boxed_slice();
    /// let matrix: Boxroot<OCamlArray2<i32>> = Bigarray::from_owner_shaped(lock, numbers, [2, 3])?;
    /// assert_eq!(matrix.get(lock).dimensions(), [2, 3]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn from_owner_shaped<O>(
        lock: &mut DomainLock,
        owner: O,
        dimensions: D::Numbers,
    ) -> Result<Boxroot<Self>, ConversionError>
    where
        O: AsMut<[Rust<A, B>]> + Send + 'static,
    {
        own(lock, owner, Some(dimensions.as_ref()))
    }
}

/// The Rust type of a bigarray's elements.
pub(super) type Rust<A, B> = <<B as sealed::Known<A>>::Element as sealed::Element>::Rust;

/// Makes a bigarray of the owner's elements. Without sizes, it has one dimension.
#[track_caller]
pub(super) fn own<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout, O>(
    lock: &mut DomainLock,
    owner: O,
    sizes: Option<&[usize]>,
) -> Result<Boxroot<Bigarray<D, A, B, L>>, ConversionError>
where
    O: AsMut<[Rust<A, B>]> + Send + 'static,
{
    let (value, lock) = own_value(lock, owner, sizes)?;
    Boxroot::try_new(lock, value)
}

/// Like [`own`], without a root.
#[track_caller]
pub(super) fn own_value<'l, D, A, B, L, O>(
    lock: &'l mut DomainLock,
    owner: O,
    sizes: Option<&[usize]>,
) -> Made<'l, Bigarray<D, A, B, L>>
where
    D: sealed::Dimensions,
    B: sealed::Known<A>,
    L: sealed::Layout,
    O: AsMut<[Rust<A, B>]> + Send + 'static,
{
    let mut owner = Holder::new(None, owner)?;
    let elements = owner.value().as_mut();
    let (data, length, bytes) = (elements.as_mut_ptr(), elements.len(), size_of_val(elements));
    let sizes = sizes.unwrap_or(std::slice::from_ref(&length));
    assert!(
        sizes.len() <= 16 && is_product(length, sizes),
        "boxroot: {length} elements cannot form a bigarray with the dimensions {sizes:?}: their product \
         must be {length}, and there can be at most 16"
    );
    let (flags, held) = (B::KIND | L::FLAG, owner.give());
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. The elements are of this kind. Their number is the product of the sizes, none of which
    // is negative in OCaml. They are borrowed as `&mut` from the owner, so nothing else uses them.
    // Nothing uses the owner until it is dropped, after all bigarrays with the elements. Any thread
    // may drop the owner (`Send`), and use the elements, which are numbers.
    let raw = unsafe {
        ffi::obx_own_bigarray(flags, held, data.cast(), bytes, sizes.len(), sizes.as_ptr())
    };
    if raw == 0 {
        // SAFETY: there is no bigarray, so nothing else has the owner.
        unsafe { Holder::<O>::take_back(held) };
    }
    // SAFETY: `raw` is 0, or a new bigarray of this type.
    unsafe { made(raw, lock) }
}

/// Whether `length` is the product of the sizes, and no size is too large for OCaml.
fn is_product(length: usize, sizes: &[usize]) -> bool {
    sizes.iter().all(|&size| isize::try_from(size).is_ok())
        && sizes.iter().try_fold(1, |n: usize, &size| n.checked_mul(size)) == Some(length)
}

/// Whether the value has the operations of a bigarray.
fn is_bigarray(value: Value<'_, OCamlAny>) -> bool {
    custom_name(value) == Some(c"_bigarr02")
}

/// Describes a bigarray's block. `None` for other values.
pub(super) fn describe(value: Value<'_, OCamlAny>) -> Option<String> {
    if !is_bigarray(value) {
        return None;
    }
    // SAFETY: the value is a live bigarray (just checked).
    let (kind, layout, dimensions) = unsafe {
        let raw = value.raw();
        (ffi::obx_ba_kind(raw), ffi::obx_ba_layout(raw), ffi::obx_ba_dimensions(raw))
    };
    let layout =
        if layout == <CLayout as sealed::Layout>::FLAG { "c_layout" } else { "fortran_layout" };
    Some(format!("a bigarray ({}, {layout}, dimensions: {dimensions})", kind_name(kind)))
}

impl<D: sealed::Dimensions, A, B: sealed::Kind<A>, L: sealed::Layout> Form
    for Bigarray<D, A, B, L>
{
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        let raw = value.raw();
        // SAFETY: the value is a live bigarray, because it has a bigarray's operations.
        is_bigarray(value)
            && unsafe {
                ffi::obx_ba_kind(raw) == B::KIND
                    && ffi::obx_ba_layout(raw) == L::FLAG
                    && D::COUNT.is_none_or(|count| ffi::obx_ba_dimensions(raw) == count)
            }
    }
}

impl<'l, D: sealed::Dimensions, A, B: sealed::Kind<A>, L: sealed::Layout>
    Value<'l, Bigarray<D, A, B, L>>
{
    /// The sizes of the dimensions, in OCaml's order.
    #[doc(alias("Caml_ba_array_val", "caml_ba_alloc"))]
    #[track_caller]
    pub fn dimensions(self) -> Vec<usize> {
        self.checked();
        self.sizes().collect()
    }

    fn sizes(
        self,
    ) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + use<'l, D, A, B, L> {
        // SAFETY: `self` is a bigarray (by its type), live during 'l. Its dimensions do not change.
        let count = unsafe { ffi::obx_ba_dimensions(self.raw()) };
        // SAFETY: as above; the iterator lives no longer than 'l.
        (0..count).map(move |i| unsafe { ffi::obx_ba_dimension(self.raw(), i) })
    }
}

impl<'l, D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout>
    Value<'l, Bigarray<D, A, B, L>>
{
    /// The elements, in memory order.
    ///
    /// # Panics
    ///
    /// If the bigarray is of another kind, or if its memory is not aligned for this kind, which can
    /// happen if C code made it.
    #[doc(alias = "Caml_ba_data_val")]
    #[track_caller]
    pub fn cells(self) -> &'l [BigarrayCell<B::Element>] {
        self.checked();
        // On OCaml 4, the product of the sizes may overflow. The number of elements is then the
        // wrapped product.
        let length = self.sizes().fold(1, |n: usize, size| n.wrapping_mul(size));
        let data: *const BigarrayCell<B::Element> = self.data().cast();
        if length == 0 {
            return &[];
        }
        // SAFETY: the bigarray is live during 'l, and has `length` elements. `data` has checked
        // their kind and alignment. Cells are atomic, so other threads may change them.
        unsafe { std::slice::from_raw_parts(data, length) }
    }

    /// The cell at the index `[i, j]`, which is `array.{i, j}` in OCaml. For an [`OCamlGenarray`],
    /// the index is a vector. Indices begin with 0 in OCaml's `c_layout`, and with 1 in
    /// `fortran_layout`. Returns `None` if OCaml would raise an exception.
    ///
    /// # Panics
    ///
    /// Same as [`cells`](Value::cells).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray2};
    /// use ocaml_boxroot::Boxroot;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let matrix: Boxroot<OCamlArray2<i32>> =
    ///     Bigarray::from_owner_shaped(lock, [1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let matrix = matrix.get(lock);
    /// matrix.cell([1, 0]).unwrap().set(7);
    /// assert_eq!(matrix.cells()[3].get(), 7);
    /// assert!(matrix.cell([2, 0]).is_none());
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn cell(self, index: D::Numbers) -> Option<&'l BigarrayCell<B::Element>> {
        let cells = self.cells();
        let index = index.as_ref();
        let is_c = L::FLAG == <CLayout as sealed::Layout>::FLAG;
        let step = |place: usize, (i, size): (&usize, usize)| {
            let i = if is_c { *i } else { i.wrapping_sub(1) };
            (i < size).then(|| place.wrapping_mul(size).wrapping_add(i))
        };
        let mut pairs = index.iter().zip(self.sizes());
        let place = match index.len() == self.sizes().len() {
            false => None,
            true if is_c => pairs.try_fold(0, step),
            true => pairs.rev().try_fold(0, step),
        }?;
        cells.get(place)
    }

    /// The elements as a slice, in memory order.
    ///
    /// # Panics
    ///
    /// Same as [`cells`](Value::cells).
    ///
    /// # Safety
    ///
    /// Nothing changes the elements during `'l`: neither code that uses this bigarray or one that
    /// shares its memory, nor another domain, nor code that runs without the lock.
    #[doc(alias = "Caml_ba_data_val")]
    pub unsafe fn as_slice(self) -> &'l [<B::Element as sealed::Element>::Rust] {
        let cells = self.cells();
        // SAFETY: a cell has the size and alignment of its element (`sealed::Element`), and nothing
        // changes it (caller).
        unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
    }

    fn data(self) -> *const u8 {
        // SAFETY: `self` is a live bigarray (by its type and lifetime).
        let (kind, data) = unsafe { (ffi::obx_ba_kind(self.raw()), ffi::obx_ba_data(self.raw())) };
        assert_eq!(kind, B::KIND, "the bigarray has another kind");
        assert!(
            data.cast::<<B::Element as sealed::Element>::Cell>().is_aligned(),
            "the memory of the bigarray is not aligned"
        );
        data.cast()
    }
}

impl<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout>
    RootRef<Bigarray<D, A, B, L>>
{
    /// The elements, in memory order. They can be used as long as the root is borrowed, even while
    /// the collector runs, and on other threads without the lock.
    ///
    /// The memory of a bigarray stays in place until the bigarray is collected. OCaml code must not
    /// free it earlier, as `Bigstring.unsafe_destroy` of the library `core` does.
    ///
    /// # Panics
    ///
    /// Same as [`Value::cells`].
    ///
    /// # Examples
    ///
    /// See [`from_owner`](Bigarray::from_owner). The cells do not outlive the root:
    ///
    /// ```compile_fail,E0505
    /// # use ocaml_boxroot::{bigarray::OCamlArray1, Boxroot, DomainLock};
    /// fn first(lock: &mut DomainLock, samples: Boxroot<OCamlArray1<f64>>) -> f64 {
    ///     let cells = samples.cells(lock);
    ///     drop(samples);
    ///     cells[0].get()
    /// }
    /// ```
    #[doc(alias("Caml_ba_data_val"))]
    #[track_caller]
    pub fn cells(&self, lock: &DomainLock) -> &[BigarrayCell<B::Element>] {
        let cells: *const _ = self.get(lock).cells();
        // SAFETY: the root keeps the bigarray alive, and is not set to another one, while `self` is
        // borrowed. The memory does not move, and only the bigarray's finaliser frees it. This
        // crate's shutdown runs no finalisers. Cells are atomic, so other threads may change them.
        unsafe { &*cells }
    }
}

/// A bigarray with one dimension less.
type Slice<D, A, B, L> = Bigarray<<D as sealed::Sliced>::Slice, A, B, L>;

/// # Parts
///
/// Parts share the memory of the whole, and keep it alive. Indices are those of OCaml: they begin
/// with 1 in `fortran_layout`.
///
/// Several domains may use these functions on one bigarray at the same time. OCaml's own functions
/// allow this only if Rust owns the memory. If OCaml owns the memory, make the first part before
/// other domains call OCaml's functions. Otherwise OCaml frees the memory too early.
impl<D: sealed::Dimensions, A, B: sealed::Kind<A>, L: sealed::Layout>
    RootRef<Bigarray<D, A, B, L>>
{
    /// Makes a bigarray of `length` rows from the row `start` on, without copying: OCaml's
    /// `Array1.sub`, or `sub_left` if there are more dimensions. In `fortran_layout` it is
    /// `sub_right`, for the last dimension. The collector may run.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`](crate::ConversionErrorKind::OutOfBounds),
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray2};
    /// use ocaml_boxroot::Boxroot;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let matrix: Boxroot<OCamlArray2<i32>> =
    ///     Bigarray::from_owner_shaped(lock, [1, 2, 3, 4, 5, 6], [3, 2])?;
    /// let last = matrix.sub(lock, 1, 2)?;
    /// assert_eq!(last.get(lock).dimensions(), [2, 2]);
    /// let row = matrix.slice(lock, 1)?; // an OCamlArray1<i32>
    /// row.cells(lock)[0].set(7);
    /// assert_eq!(last.cells(lock)[0].get(), 7);
    /// assert!(matrix.slice(lock, 3).is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_ba_sub", "sub_left", "sub_right"))]
    #[track_caller]
    pub fn sub(
        &self,
        lock: &mut DomainLock,
        start: usize,
        length: usize,
    ) -> Result<Boxroot<Bigarray<D, A, B, L>>, ConversionError> {
        self.part(lock, start, Some(length))
    }

    /// Makes a bigarray of one row, with one dimension less, without copying: OCaml's `slice_left`,
    /// or in `fortran_layout` its `slice_right`, for the last dimension. The collector may run.
    ///
    /// # Errors
    ///
    /// Same as [`sub`](RootRef::sub).
    ///
    /// # Examples
    ///
    /// See [`sub`](RootRef::sub).
    #[doc(alias("caml_ba_slice", "slice_left", "slice_right"))]
    #[track_caller]
    pub fn slice(
        &self,
        lock: &mut DomainLock,
        index: usize,
    ) -> Result<Boxroot<Slice<D, A, B, L>>, ConversionError>
    where
        D: sealed::Sliced,
    {
        self.part(lock, index, None)
    }

    /// Makes a bigarray of `length` rows or, without a length, of one row with one dimension less.
    #[track_caller]
    fn part<P>(
        &self,
        lock: &mut DomainLock,
        start: usize,
        length: Option<usize>,
    ) -> Result<Boxroot<Bigarray<P, A, B, L>>, ConversionError> {
        let out_of_bounds = || ConversionError::new(ConversionErrorKind::OutOfBounds);
        let mut sizes = self.get(lock).dimensions();
        let dimension = if L::FIRST == 0 { 0 } else { sizes.len().wrapping_sub(1) };
        let rows = *sizes.get(dimension).ok_or_else(out_of_bounds)?;
        let start = start.checked_sub(L::FIRST).ok_or_else(out_of_bounds)?;
        let end = start.checked_add(length.unwrap_or(1));
        if end.is_none_or(|end| end > rows) {
            return Err(out_of_bounds());
        }
        // On OCaml 4, the product of the sizes may overflow.
        let all = sizes.iter().try_fold(1, |n: usize, &size| n.checked_mul(size));
        let row = all.ok_or_else(out_of_bounds)?.checked_div(rows).unwrap_or(0);
        match length {
            Some(length) => sizes[dimension] = length,
            None => drop(sizes.remove(dimension)),
        }
        let whole: *const Self = self;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The root is borrowed, and a `RootRef` has the layout of its cell
        // (`repr(transparent)`). The part is within the bigarray, which has `all` elements.
        let raw =
            unsafe { ffi::obx_ba_part(whole.cast(), start * row, sizes.len(), sizes.as_ptr()) };
        // SAFETY: `raw` is 0, or a new bigarray of this kind and layout, with the dimensions
        // `sizes`.
        let (part, lock) = unsafe { made(raw, lock) }?;
        Boxroot::try_new(lock, part)
    }
}

impl<D: sealed::Dimensions, A, B: sealed::Kind<A>, L: sealed::Layout>
    Value<'_, Bigarray<D, A, B, L>>
{
    /// Copies all elements to another bigarray, as OCaml's `blit` does. Their memory may overlap.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`](crate::ConversionErrorKind::OutOfBounds) if the sizes differ.
    ///
    /// # Panics
    ///
    /// If the bigarrays are not of this kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray1};
    /// use ocaml_boxroot::Boxroot;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let numbers: Boxroot<OCamlArray1<f64>> = Bigarray::from_owner(lock, [1., 2., 3.])?;
    /// let last = numbers.sub(lock, 1, 2)?;
    /// let first = numbers.sub(lock, 0, 2)?;
    /// last.get(lock).blit(first.get(lock))?;
    /// assert_eq!(numbers.to_rust::<Vec<f64>>(lock)?, [2., 3., 3.]);
    /// last.get(lock).fill(0.5);
    /// assert_eq!(numbers.to_rust::<Vec<f64>>(lock)?, [2., 0.5, 0.5]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_ba_blit"))]
    #[track_caller]
    pub fn blit(self, to: Self) -> Result<(), ConversionError> {
        let (from, to) = (self.checked(), to.checked());
        for array in [from, to] {
            // SAFETY: the value is a live bigarray (by its type and lifetime).
            let kind = unsafe { ffi::obx_ba_kind(array.raw()) };
            assert_eq!(kind, B::KIND, "the bigarray has another kind");
        }
        if !from.sizes().eq(to.sizes()) {
            return Err(ConversionError::new(ConversionErrorKind::OutOfBounds));
        }
        // SAFETY: both are live bigarrays of one kind and size. The C code copies the elements as
        // OCaml's own code does. Other threads may use the cells meanwhile.
        unsafe { ffi::obx_ba_copy(from.raw(), to.raw()) }
        Ok(())
    }
}

impl<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout>
    Value<'_, Bigarray<D, A, B, L>>
{
    /// Sets all elements to `element`, as OCaml's `fill` does.
    ///
    /// # Panics
    ///
    /// Same as [`cells`](Value::cells).
    ///
    /// # Examples
    ///
    /// See [`blit`](Value::blit).
    #[doc(alias("caml_ba_fill"))]
    #[track_caller]
    pub fn fill(self, element: <B::Element as sealed::Element>::Rust) {
        self.cells().iter().for_each(|cell| cell.set(element))
    }
}
