//! Copies of values between Rust and OCaml. The table of types is in the documentation of [`ToOCaml`].

mod number;
mod sequence;
mod text;
mod tuple;

use crate::{Boxroot, DomainLock, Error, RootRef, Value};

/// A Rust value that can be copied into the OCaml heap as a `T`.
///
/// | Rust | OCaml | marker `T` |
/// |---|---|---|
/// | `()`, `bool` | `unit`, `bool` | `()`, `bool` |
/// | every integer type | `int` (63 bits; a number that does not fit is [`OutOfRange`](Error::OutOfRange)) | [`OCamlInt`](crate::OCamlInt) |
/// | `i32`, `i64`, `isize` | `int32`, `int64`, `nativeint` | [`OCamlInt32`](crate::OCamlInt32), [`OCamlInt64`](crate::OCamlInt64), [`OCamlNativeint`](crate::OCamlNativeint) |
/// | `u8`, `char` (up to U+00FF) | `char` | [`OCamlChar`](crate::OCamlChar) |
/// | `f64` | `float` | [`OCamlFloat`](crate::OCamlFloat) |
/// | `str`, `String` | `string` | [`OCamlString`](crate::OCamlString) |
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | `string`, `bytes` | [`OCamlString`](crate::OCamlString), [`OCamlBytes`](crate::OCamlBytes) |
/// | `Option<A>`, `Result<A, B>` | `'a option`, `('a, 'b) result` | `Option<A>`, `Result<A, B>` |
/// | `(A, B)` to `(A, …, H)` | `'a * 'b`, … | `(A, B)`, … |
/// | `[A]`, `[A; N]`, `Vec<A>` | `'a list`, `'a array` | [`OCamlList<A>`](crate::OCamlList), [`OCamlArray<A>`](crate::OCamlArray) |
/// | `&A`, `Box<A>` | as `A` | as `A` |
/// | `Boxroot<T>`, `RootRef<T>` | the value that the root owns, without a copy | `T` |
///
/// By the last line, existing roots can be elements of lists and tuples, and arguments of calls. Slices (`str`, `[A]`),
/// references and `RootRef` can only be copied to OCaml, not from it. [`ocaml_type!`](crate::ocaml_type!) adds records
/// and variants, [`OCamlBigarray`](crate::OCamlBigarray) bigarrays.
///
/// ```
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlList, ToOCaml};
///
/// let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(lock)?;
/// let back: Vec<u8> = list.to_rust(lock)?;
/// assert_eq!(back, [1, 2, 3]);
///
/// let lists: Boxroot<OCamlList<OCamlList<OCamlInt>>> = [&list, &list].to_ocaml(lock)?;
/// assert_eq!(lists.to_rust::<Vec<Vec<i64>>>(lock)?, [[1, 2, 3], [1, 2, 3]]);
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ToOCaml<T: ?Sized> {
    /// A root for the copy. The collector may run.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](Error::OutOfRange) if no `T` has this value; [`Mismatch`](Error::Mismatch) for an array of
    /// [`OCamlAny`](crate::OCamlAny) in which only some elements are floats; [`OutOfMemory`](Error::OutOfMemory).
    #[track_caller]
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error>;
}

/// A Rust value that can be copied from an OCaml `T`; see [`Value::to_rust`] and
/// [`RootRef::to_rust`]. The table of types is in the documentation of [`ToOCaml`].
pub trait FromOCaml<T: ?Sized>: Sized {
    /// The copy. The collector does not run.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](Error::OutOfRange) for a number that does not fit;
    /// [`Mismatch`](Error::Mismatch) if the value does not have the form of this type;
    /// [`OutOfMemory`](Error::OutOfMemory) where a root is created.
    #[track_caller]
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, Error>;

    /// The copy of an element of an OCaml array or record in the flat form of floats, whose elements are numbers and
    /// not values. To be implemented for a `T` that is OCaml's `float` under another name.
    ///
    /// # Errors
    ///
    /// [`Mismatch`](Error::Mismatch) if a type does not implement it.
    fn from_float(_: f64) -> Result<Self, Error> {
        Err(Error::Mismatch)
    }
}

impl<T: ?Sized> ToOCaml<T> for RootRef<T> {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error> {
        self.clone_in(lock)
    }
}

impl<T: ?Sized> ToOCaml<T> for Boxroot<T> {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error> {
        self.clone_in(lock)
    }
}

impl<T: ?Sized> FromOCaml<T> for Boxroot<T> {
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, Error> {
        Boxroot::try_new(lock, value)
    }
}

impl<T: ?Sized, R: ToOCaml<T> + ?Sized> ToOCaml<T> for &R {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error> {
        (**self).to_ocaml(lock)
    }
}

impl<T: ?Sized, R: ToOCaml<T> + ?Sized> ToOCaml<T> for Box<R> {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error> {
        (**self).to_ocaml(lock)
    }
}

impl<T: ?Sized, R: FromOCaml<T>> FromOCaml<T> for Box<R> {
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, Error> {
        Ok(Box::new(R::from_ocaml(value, lock)?))
    }

    fn from_float(x: f64) -> Result<Self, Error> {
        Ok(Box::new(R::from_float(x)?))
    }
}
