//! OCaml's types. Each has a *marker* (a Rust type that only names it, in `Value<'l, T>` and
//! `Boxroot<T>`), methods that read its values, and conversions. The table of conversions is in the
//! documentation of [`ToOCaml`].
//!
//! Markers have no values. Two rules keep safe code sound:
//!
//! * *Threads.* A root may move to another thread if its marker is `Send` and `Sync`. A marker with
//!   parameters is both if all its parameters are.
//! * *Variance.* Lifetimes in a parameter may be shortened if OCaml only produces values of that
//!   type (covariant: lists, options, function results). They may be lengthened if OCaml only
//!   consumes such values (contravariant: function arguments). They may not change if OCaml does
//!   both (invariant: arrays and references, which are mutable).

/// Declares markers. The types in parentheses determine the marker's variance, and whether it is
/// `Send` and `Sync`.
macro_rules! marker {
    ($($(#[$attribute:meta])* $name:ident;)+) => {$(
        $(#[$attribute])*
        #[derive(Debug)]
        pub enum $name {}

        // SAFETY: the marker stands for one OCaml type.
        unsafe impl crate::markers::OneType for $name {}
    )+};
    ($($(#[$attribute:meta])* $name:ident<$($parameter:ident),+>($($phantom:ty),+);)+) => {$(
        $(#[$attribute])*
        pub struct $name<$($parameter),+>(std::convert::Infallible, $($phantom),+);

        // SAFETY: the marker stands for one OCaml type. Its values are blocks or immediates,
        // whatever they contain.
        unsafe impl<$($parameter),+> crate::markers::OneType for $name<$($parameter),+> {}

        impl<$($parameter),+> std::fmt::Debug for $name<$($parameter),+> {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.0 {}
            }
        }
    )+};
}

/// Implements `FromOCaml` for a marker that is a [`Form`]. The expression copies the value. Other
/// methods of the trait may follow in braces.
macro_rules! from_ocaml {
    ($($(#[$attribute:meta])* $marker:ty => $rust:ty: |$value:ident, $lock:pat_param| $copy:expr $(, {$($more:tt)*})?;)+) => {$(
        $(#[$attribute])*
        impl FromOCaml<$marker> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn from_ocaml<'l>(
                $value: Value<'l, $marker>,
                $lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                $copy
            }

            with_form!($marker);

            $($($more)*)?
        }
    )+};
}

/// Implements `FromOCaml::has_form` for a marker that is a [`Form`].
macro_rules! with_form {
    ($marker:ty) => {
        #[inline]
        fn has_form(value: Value<'_, $marker>) -> bool {
            value.has_form()
        }
    };
}

mod array;
pub(crate) mod bigarray;
pub(crate) mod block;
pub(crate) mod boxed;
pub(crate) mod declare;
pub(crate) mod depth;
pub(crate) mod exception;
pub(crate) mod form;
mod function;
pub(crate) mod kept;
mod lazy;
mod list;
mod map;
mod memory;
#[cfg(feature = "ndarray")]
mod ndarray;
mod number;
pub(crate) mod predefined;
mod reference;
mod seq;
pub(crate) mod several;
mod string;
mod text;
mod tuple;

pub use exception::{CallError, Exception};

/// The *markers*, and related types. A marker is a Rust type that only stands for an OCaml type, as
/// the `T` of [`Value<'l, T>`](crate::Value) and [`Boxroot<T>`](crate::Boxroot). The most common
/// markers are also in the crate's root. Those of bigarrays are in [`bigarray`](crate::bigarray).
///
/// OCaml's `unit`, `bool`, `'a option`, `('a, 'b) result` and tuples have Rust's own types as
/// markers: `()`, `bool`, `Option<A>`, `Result<A, B>` and `(A, B)`.
/// [`ocaml_type!`](crate::ocaml_type!) and bindings declare markers for records and variants. The
/// table of [`ToOCaml`](crate::ToOCaml) lists the Rust types that each marker's values convert to.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::markers::{OCamlInt, OCamlList, OCamlString};
/// use ocaml_boxroot::{Boxroot, ConversionError, DomainLock, ToOCaml};
///
/// type OCamlAges = OCamlList<(OCamlString, OCamlInt)>; // (string * int) list
///
/// fn ages(lock: &mut DomainLock) -> Result<Boxroot<OCamlAges>, ConversionError> {
///     [("Ada", 36), ("Blaise", 39)].to_ocaml(lock)
/// }
/// # ocaml_boxroot::macro_support::example(|lock| Ok(drop(ages(lock)?)));
/// ```
pub mod markers {
    pub use super::array::OCamlArray;
    pub use super::boxed::OCamlBox;
    pub use super::declare::Field;
    pub use super::exception::OCamlException;
    pub use super::form::Form;
    pub use super::function::{Function, Labelled, Optional};
    pub use super::lazy::OCamlLazy;
    pub use super::list::OCamlList;
    pub use super::map::{OCamlHashtbl, OCamlMap, OCamlSet};
    pub use super::number::{
        OCamlChar, OCamlFloat, OCamlInt, OCamlInt32, OCamlInt64, OCamlNativeint, OCamlUchar,
    };
    pub use super::reference::OCamlRef;
    pub use super::seq::{Elements, OCamlSeq};
    pub use super::string::{OCamlBytes, OCamlString};
    pub use super::OneType;
    pub use crate::value::OCamlAny;
}

use crate::value::CHECKS;
use crate::{Boxroot, ConversionError, ConversionErrorKind, DomainLock, RootRef, Value};
use form::mismatch;
use memory::{converted, number};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

/// A new value, and the token. The collector does not run while the token is borrowed.
pub type Made<'l, T> = Result<(Value<'l, T>, &'l DomainLock), ConversionError>;

/// A struct with a field of this type is invariant in `T`.
type Invariant<T> = PhantomData<fn(T) -> T>;

/// A marker whose values are all of one OCaml type. All markers implement the trait except
/// [`OCamlAny`](crate::OCamlAny), the markers that bindings declare for `Obj.t` and its aliases,
/// and unboxed types with a part of one of these types. [Bindings](crate::include_bindings) require
/// it for type variables, because OCaml's polymorphic functions rely on one type for each variable:
/// an array that was created with a float holds only floats. You may implement it for your own
/// markers.
///
/// # Safety
///
/// All values of the marker are of one OCaml type: either all are floats, or none is.
///
/// ```
/// enum Connection {}
/// // SAFETY: the marker stands for OCaml's type `connection`.
/// unsafe impl ocaml_boxroot::markers::OneType for Connection {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for an OCaml type variable",
    label = "this type variable is `{Self}`, which may stand for several OCaml types",
    note = "roots of `OCamlAny`, and of OCaml's `Obj.t`, may own values of different types, but OCaml would use them as values \
            of one type: use roots of the marker that names the type",
    note = "your own markers can implement `OneType`"
)]
pub unsafe trait OneType {
    /// Fails to compile if the marker's declaration is wrong. Functions with type variables
    /// evaluate it.
    #[doc(hidden)]
    const CHECKED: () = ();
}

/// A Rust value that can be copied into the OCaml heap as a `T`.
///
/// | Rust | OCaml | marker `T` |
/// |---|---|---|
/// | `()`, `bool` | `unit`, `bool` | `()`, `bool` |
/// | every integer type | `int` (63 bits), `int32`, `int64`, `nativeint` (returns [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if the number does not fit) | [`OCamlInt`](crate::OCamlInt), [`OCamlInt32`](crate::markers::OCamlInt32), [`OCamlInt64`](crate::markers::OCamlInt64), [`OCamlNativeint`](crate::markers::OCamlNativeint) |
/// | `Wrapping<u32>`, `Wrapping<u64>`, `Wrapping<usize>` | `int32`, `int64`, `nativeint` (with the same bits) | the same |
/// | `u8`, `char` (up to U+00FF) | `char` | [`OCamlChar`](crate::markers::OCamlChar) |
/// | `char` | `Uchar.t` | [`OCamlUchar`](crate::markers::OCamlUchar) |
/// | `f64`, `f32` (the nearest one), `Duration` (seconds) | `float` | [`OCamlFloat`](crate::OCamlFloat) |
/// | `str`, `String`, `Cow<str>` | `string` (returns [`NotUtf8`](crate::ConversionErrorKind::NotUtf8) if it is not UTF-8) | [`OCamlString`](crate::OCamlString) |
/// | `Path`, `PathBuf`, `OsStr`, `OsString` | `string` (any bytes) | [`OCamlString`](crate::OCamlString) |
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | `string`, `bytes` | [`OCamlString`](crate::OCamlString), [`OCamlBytes`](crate::OCamlBytes) |
/// | `Option<A>`, `Result<A, B>` | `'a option`, `('a, 'b) result` | `Option<A>`, `Result<A, B>` |
/// | `(A, B)` to `(A, …, H)` | `'a * 'b`, … | `(A, B)`, … |
/// | `[A]`, `[A; N]`, `Vec<A>`, `VecDeque<A>` | `'a list`, `'a array`; to OCaml, also `'a Seq.t` | [`OCamlList<A>`](crate::OCamlList), [`OCamlArray<A>`](crate::OCamlArray), [`OCamlSeq<A>`](crate::markers::OCamlSeq) |
/// | `BTreeMap<A, B>`, `HashMap<A, B>` | `('a * 'b) list`; to OCaml, also `('a * 'b) Seq.t`; from OCaml, also maps of `Map.Make` | [`OCamlList<(A, B)>`](crate::OCamlList), [`OCamlSeq<(A, B)>`](crate::markers::OCamlSeq), [`OCamlMap<A, B>`](crate::markers::OCamlMap) |
/// | `BTreeSet<A>`, `HashSet<A>` | to OCaml, `'a list` and `'a Seq.t`; from OCaml, sets of `Set.Make` | [`OCamlList<A>`](crate::OCamlList), [`OCamlSeq<A>`](crate::markers::OCamlSeq), [`OCamlSet<A>`](crate::markers::OCamlSet) |
/// | a root | `'a ref`, `'a Lazy.t`, `('a, 'b) Hashtbl.t` | [`OCamlRef<A>`](crate::markers::OCamlRef), [`OCamlLazy<A>`](crate::markers::OCamlLazy), [`OCamlHashtbl<A, B>`](crate::markers::OCamlHashtbl) |
/// | `&A`, `Box<A>`, `Rc<A>`, `Arc<A>` | as `A` | as `A` |
/// | `Boxroot<T>`, `RootRef<T>` | the root's value, not a copy | `T` |
///
/// The last row means that existing roots can be elements of lists and tuples, and arguments of
/// calls. Slices (`str`, `[A]`), `[u8; N]` for strings, references, `Rc`, `Arc` and `RootRef` can
/// only be copied to OCaml, not from it. But a string can be copied to a `Box<str>`, `Rc<str>` or
/// `Arc<str>`. For records and variants, see [`ocaml_type!`](crate::ocaml_type!); for bigarrays,
/// see [`OCamlArray1`](crate::bigarray::OCamlArray1).
///
/// # Deep values
///
/// Conversions of nested values recurse. They return
/// [`TooDeep`](crate::ConversionErrorKind::TooDeep) beyond 512 levels, or when less than a quarter
/// of the thread's stack is left, so that data cannot exhaust the stack. Each list, array, map,
/// tuple, option, result, record and constructor is a level, unless it contains only numbers,
/// strings and roots; a list is one level, however many elements it has. Types with your own
/// conversions are not levels; if such a conversion recurses, begin it with a
/// [`Level`](crate::depth::Level). A cyclic list returns
/// [`Mismatch`](crate::ConversionErrorKind::Mismatch).
///
/// A conversion may need stack space of 30 times the size of the value, plus 200 bytes for each
/// field or constructor of its type. Keep values below 1/200 of the stack (10 KB of 2 MiB), and
/// types below a thousand constructors. Use vectors instead of larger arrays (`[A; N]`).
///
/// [`depth::set_limit`](crate::depth::set_limit) changes the limit. A higher limit must also be
/// safe for what the program does with the Rust values: dropping, printing and comparing them
/// recurses as well. A part that occurs several times in a value is converted each time, so a small
/// value with many shared parts may become very large.
///
/// A call from Rust to OCaml also needs a quarter of the stack, and at least 320 KiB. If less is
/// left, the call raises `Stack_overflow`. Endless recursion between Rust and OCaml does not crash
/// the process. The size of stacks made by coroutines or `stacker::grow` is unknown. On such
/// stacks, a level needs 64 KiB of free space, and a call needs 320 KiB. On Linux, this is checked
/// if the stack has a guard page. On other systems, a stack overflow ends the process with
/// `SIGSEGV`.
///
/// # Conversions of other types
///
/// Implement [`to_value`](ToOCaml::to_value) and [`from_ocaml`](FromOCaml::from_ocaml), and convert
/// the parts with [`to_ocaml`](ToOCaml::to_ocaml) (or `to_value` for the last part) and
/// [`to_rust`](Value::to_rust).
///
/// ```
/// # ocaml_boxroot::macro_support::example(|lock| {
/// use ocaml_boxroot::{ConversionError, DomainLock, FromOCaml, OCamlFloat, ToOCaml, Value};
///
/// #[derive(Debug, PartialEq)]
/// struct Complex { re: f64, im: f64 }
///
/// impl ToOCaml<(OCamlFloat, OCamlFloat)> for Complex {
///     fn to_value<'l>(
///         &self,
///         lock: &'l mut DomainLock,
///     ) -> Result<(Value<'l, (OCamlFloat, OCamlFloat)>, &'l DomainLock), ConversionError> {
///         (self.re, self.im).to_value(lock)
///     }
/// }
///
/// impl FromOCaml<(OCamlFloat, OCamlFloat)> for Complex {
///     fn from_ocaml<'l>(
///         value: Value<'l, (OCamlFloat, OCamlFloat)>,
///         lock: &'l DomainLock,
///     ) -> Result<Self, ConversionError> {
///         let (re, im) = value.to_pair();
///         Ok(Complex { re: re.to_rust(lock)?, im: im.to_rust(lock)? })
///     }
/// }
///
/// let x = Complex { re: 1.5, im: -1. };
/// assert_eq!(x.to_ocaml(lock)?.to_rust::<Complex>(lock)?, x);
/// # Ok(()) });
/// ```
///
/// # Examples
///
/// ```
/// # ocaml_boxroot::macro_support::example(|lock| {
/// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlList, ToOCaml};
///
/// let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(lock)?;
/// let back: Vec<u8> = list.to_rust(lock)?;
/// assert_eq!(back, [1, 2, 3]);
///
/// let lists: Boxroot<OCamlList<OCamlList<OCamlInt>>> = [&list, &list].to_ocaml(lock)?;
/// assert_eq!(lists.to_rust::<Vec<Vec<i64>>>(lock)?, [[1, 2, 3], [1, 2, 3]]);
/// # Ok(()) });
/// ```
#[doc(alias("caml_copy_string", "caml_copy_double", "caml_alloc", "Val_int"))]
#[diagnostic::on_unimplemented(
    message = "cannot convert `{Self}` to the OCaml type `{T}`",
    label = "no conversion from this type to an OCaml `{T}`",
    note = "an OCamlInt can be made from any integer type, an OCamlFloat from f64, an OCamlString from str, String, [u8] or Vec<u8>, \
            an OCamlList<A> or OCamlArray<A> from a vector, array or slice whose elements convert to A, \
            and any type from a root of that type, `&Boxroot<{T}>`",
    note = "to make a Function from a closure, call `Function::<(A,), R>::from_rust_converting(lock, |lock, a: i64| Ok(…))?`",
    note = "collect an iterator into a `Vec` first; let OCaml make an OCamlMap: call `names::of_seq(lock, &map)?`, if the OCaml code has \
            `module Names = Map.Make (String)`",
    note = "the documentation of ToOCaml has a table of all types; `ocaml_type!` declares the conversion of a Rust type, named after `for`, \
            to a record or a variant: `struct OCamlPoint for Point {{ … }}`"
)]
pub trait ToOCaml<T: ?Sized> {
    /// Copies the value to OCaml, and returns a root for the copy. The collector may run.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if no `T` can represent this value;
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch) for an array of
    /// [`OCamlAny`](crate::OCamlAny) in which only some elements are floats;
    /// [`TooDeep`](crate::ConversionErrorKind::TooDeep);
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[doc(alias("caml_copy_string", "Val_int", "caml_copy_double"))]
    #[inline]
    #[track_caller]
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, ConversionError> {
        match self.to_value(lock) {
            Ok((value, lock)) => Boxroot::try_new(lock, value),
            Err(error) => Err(error),
        }
    }

    /// Like `to_ocaml`, but without a root, for a caller that uses the copy immediately. Also
    /// returns the token as a shared reference. The collector may run before the copy is made.
    /// Implement this method; convert the parts of the value with *their* `to_value` or `to_ocaml`.
    ///
    /// # Errors
    ///
    /// Same as [`to_ocaml`](ToOCaml::to_ocaml).
    #[track_caller]
    fn to_value<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, T>, &'l DomainLock), ConversionError>;

    /// The root that already owns the value, if `self` is a root or points to one. The value then
    /// needs no second root when OCaml receives it as an argument or a part.
    #[inline]
    fn as_root(&self) -> Option<&RootRef<T>> {
        None
    }

    /// Returns the number if `self` converts to OCaml's `float`. Arrays and records in the flat
    /// form use it.
    #[doc(hidden)]
    #[inline]
    fn as_float(&self) -> Option<FloatOf<T>> {
        None
    }

    /// Whether the conversion may convert parts of the value, so that deep values could exhaust the
    /// stack.
    #[doc(hidden)]
    const NESTS: bool = true;
}

/// A number that is a `T` in OCaml. Exists only if `T` stands for `float`.
#[doc(hidden)]
pub struct FloatOf<T: ?Sized>(f64, PhantomData<T>);

impl<T: ?Sized> FloatOf<T> {
    /// The number.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn get(self) -> f64 {
        self.0
    }
}

/// A Rust value that can be copied from an OCaml `T`; see [`Value::to_rust`] and
/// [`RootRef::to_rust`]. The documentation of [`ToOCaml`] has the table of types, and says which
/// values are too deep.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::{FromOCaml, OCamlInt, Value};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let n: u8 = Value::int(7).to_rust(lock)?; // `u8` is `FromOCaml<OCamlInt>`
/// assert_eq!(n, 7);
/// # Ok(()) });
/// ```
#[diagnostic::on_unimplemented(
    message = "cannot convert the OCaml type `{T}` to `{Self}`",
    label = "no conversion from an OCaml `{T}` to this type",
    note = "an OCamlInt can be copied to any integer type, an OCamlFloat to f64, an OCamlString to String or Vec<u8>, \
            an OCamlList<A> or OCamlArray<A> to a vector or array whose elements can be copied from A; \
            a value of any type can stay in OCaml, with a root, `Boxroot<{T}>`",
    note = "the documentation of ToOCaml has a table of all types; `ocaml_type!` declares the conversion of a record or a variant \
            to a Rust type, named after `for`: `struct OCamlPoint for Point {{ … }}`"
)]
pub trait FromOCaml<T: ?Sized>: Sized {
    /// Copies the value. The collector does not run. Implement this method; [`Value::to_rust`]
    /// calls it. Convert the parts of the value with [`Value::to_rust`] or [`Value::read`].
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) for a number that does not fit;
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch) if the value does not have the form of
    /// this type; [`NotUtf8`](crate::ConversionErrorKind::NotUtf8);
    /// [`TooDeep`](crate::ConversionErrorKind::TooDeep);
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[track_caller]
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, ConversionError>;

    /// Returns `false` if the value is certainly not a `T`. [Builds with
    /// checks](crate#builds-with-checks) call this before each conversion, which returns
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch) if the result is `false`. If `T` is a
    /// [`Form`](crate::markers::Form), implement this as `value.has_form()`.
    #[inline]
    fn has_form(value: Value<'_, T>) -> bool {
        let _ = value;
        true
    }

    /// Converts an element of an OCaml array or record in the flat form of floats, whose elements
    /// are numbers, not values. Implement this if `T` is OCaml's `float` under another name.
    ///
    /// # Errors
    ///
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch) unless the type implements this method.
    fn from_float(_: f64) -> Result<Self, ConversionError> {
        Err(ConversionError::new(ConversionErrorKind::Mismatch))
    }

    /// Converts the elements of an OCaml array in the flat form of floats, from their bits.
    #[doc(hidden)]
    fn from_floats(numbers: &[AtomicU64]) -> Result<Vec<Self>, ConversionError> {
        converted(numbers.iter().map(number), Self::from_float)
    }

    /// Like [`ToOCaml::NESTS`].
    #[doc(hidden)]
    const NESTS: bool = true;
}

impl<'l, T: ?Sized> Value<'l, T> {
    /// Copies the value to a Rust type, or returns a root for it if `R` is a
    /// [`Boxroot<T>`](crate::Boxroot).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange),
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch) and
    /// [`NotUtf8`](crate::ConversionErrorKind::NotUtf8) if `R` cannot represent the value;
    /// [`TooDeep`](crate::ConversionErrorKind::TooDeep);
    /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
    #[doc(alias("Int_val", "String_val", "Double_val"))]
    #[inline]
    #[track_caller]
    pub fn to_rust<R: FromOCaml<T>>(self, lock: &'l DomainLock) -> Result<R, ConversionError> {
        if CHECKS && !R::has_form(self) {
            return Err(mismatch(self));
        }
        R::from_ocaml(self, lock)
    }
}

impl<T: ?Sized> RootRef<T> {
    /// Copies the value to a Rust type; see [`Value::to_rust`].
    ///
    /// # Errors
    ///
    /// Same as [`Value::to_rust`].
    #[track_caller]
    pub fn to_rust<R: FromOCaml<T>>(&self, lock: &DomainLock) -> Result<R, ConversionError> {
        self.get(lock).to_rust(lock)
    }
}

macro_rules! roots {
    ($($root:ty),+) => {$(
        impl<T: ?Sized> ToOCaml<T> for $root {
            const NESTS: bool = false;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, T> {
                Ok((self.get(lock), lock))
            }

            #[inline]
            fn as_root(&self) -> Option<&RootRef<T>> {
                Some(self)
            }
        }
    )+};
}

roots!(RootRef<T>, Boxroot<T>);

impl<T: ?Sized> FromOCaml<T> for Boxroot<T> {
    const NESTS: bool = false;

    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, ConversionError> {
        Boxroot::try_new(lock, value)
    }
}

macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<T: ?Sized, R: ToOCaml<T> + ?Sized> ToOCaml<T> for $pointer {
            const NESTS: bool = R::NESTS;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, T> {
                (**self).to_value(lock)
            }

            #[inline]
            fn as_root(&self) -> Option<&RootRef<T>> {
                (**self).as_root()
            }

            #[inline]
            fn as_float(&self) -> Option<FloatOf<T>> {
                (**self).as_float()
            }
        }
    )+};
}

pointers!(&R, Box<R>, Rc<R>, Arc<R>);

impl<T: ?Sized, R: FromOCaml<T>> FromOCaml<T> for Box<R> {
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, ConversionError> {
        Ok(Box::new(value.to_rust(lock)?))
    }

    fn has_form(value: Value<'_, T>) -> bool {
        R::has_form(value)
    }

    fn from_float(x: f64) -> Result<Self, ConversionError> {
        Ok(Box::new(R::from_float(x)?))
    }
}
