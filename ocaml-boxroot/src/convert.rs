//! Copies between Rust and OCaml, for the common types.
//!
//! | Rust | OCaml | marker |
//! |---|---|---|
//! | `()` | `unit` | `()` |
//! | `bool` | `bool` | `bool` |
//! | `isize` | `int` (63 bits) | [`OCamlInt`] |
//! | `f64` | `float` | [`OCamlFloat`] |
//! | `str`, `String` | `string` | [`OCamlString`] |
//! | `[u8]`, `Vec<u8>` | `string`, `bytes` | [`OCamlString`], [`OCamlBytes`] |
//! | `Option<A>` | `'a option` | `Option<A>` |
//! | `(A, B)` | `'a * 'b` | `(A, B)` |
//! | `[A]`, `Vec<A>` | `'a list` | [`OCamlList<A>`] |
//! | `[A]`, `Vec<A>` | `'a array` | [`OCamlArray<A>`] |

use crate::value::{OCamlArray, OCamlBytes, OCamlFloat, OCamlInt, OCamlList, OCamlString};
use crate::{ffi, Boxroot, DomainLock, Error, RootRef, Value};
use ocaml_boxroot_sys as sys;

/// A Rust value that can be copied into the OCaml heap as a `T`.
///
/// ```
/// use ocaml_boxroot::{Boxroot, OCamlInt, OCamlList, Runtime, ToOCaml};
///
/// let mut runtime = Runtime::start()?;
/// let list: Boxroot<OCamlList<OCamlInt>> = [1, 2, 3].to_ocaml(runtime.lock())?;
/// assert_eq!(list.get(runtime.lock()).to_rust::<Vec<isize>>(), [1, 2, 3]);
/// # Ok::<(), ocaml_boxroot::Error>(())
/// ```
pub trait ToOCaml<T: ?Sized> {
    /// A root for the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<T>, Error>;
}

/// A Rust value that can be copied from an OCaml `T`; see [`Value::to_rust`].
pub trait FromOCaml<T: ?Sized>: Sized {
    /// The copy.
    fn from_ocaml(value: Value<'_, T>) -> Self;

    /// The copy of an element of an array of floats, where there are no values of type `T`.
    #[doc(hidden)]
    fn from_flat_float(_: f64) -> Self {
        panic!("an array of floats was given a type of other elements")
    }
}

/// Roots a new value; 0 says that memory ran out.
///
/// # Safety
///
/// `raw` is 0, or a valid value and a `T`.
unsafe fn rooted<T: ?Sized>(raw: sys::Value, lock: &DomainLock) -> Result<Boxroot<T>, Error> {
    if raw == 0 {
        return Err(Error::OutOfMemory);
    }
    // SAFETY: valid (caller), and the collector does not run before it is rooted.
    Boxroot::try_new(lock, unsafe { Value::from_raw(raw) })
}

/// A block with these fields.
///
/// # Safety
///
/// Such a block is a `T`. There is a field, and not more than 256.
unsafe fn block<T: ?Sized>(
    lock: &mut DomainLock,
    tag: i32,
    fields: &[*const sys::Value],
) -> Result<Boxroot<T>, Error> {
    // SAFETY: the token proves that the lock is held, and is borrowed mutably; the fields are
    // the cells of live roots (`cell`).
    unsafe { rooted(ffi::obx_alloc_block(tag, fields.len(), fields.as_ptr()), lock) }
}

/// Where a root keeps its value: current also after a collection.
fn cell<T: ?Sized>(root: &RootRef<T>) -> *const sys::Value {
    (root as *const RootRef<T>).cast()
}

macro_rules! immediate {
    ($rust:ty, $ocaml:ty, $self:ident => $raw:expr, $value:ident => $from:expr) => {
        impl ToOCaml<$ocaml> for $rust {
            fn to_ocaml(&$self, lock: &mut DomainLock) -> Result<Boxroot<$ocaml>, Error> {
                // SAFETY: an immediate of this type.
                unsafe { rooted($raw, lock) }
            }
        }

        impl FromOCaml<$ocaml> for $rust {
            fn from_ocaml($value: Value<'_, $ocaml>) -> Self {
                $from
            }
        }
    };
}

immediate!((), (), self => Value::unit().raw(), _value => ());
immediate!(bool, bool, self => Value::int(*self as isize).raw(), value => value.to_bool());
immediate!(isize, OCamlInt, self => Value::int(*self).raw(), value => value.to_int());

impl ToOCaml<OCamlFloat> for f64 {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlFloat>, Error> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably.
        unsafe { rooted(ffi::obx_alloc_float(*self), lock) }
    }
}

impl FromOCaml<OCamlFloat> for f64 {
    fn from_ocaml(value: Value<'_, OCamlFloat>) -> Self {
        value.to_float()
    }

    fn from_flat_float(x: f64) -> Self {
        x
    }
}

impl ToOCaml<OCamlString> for [u8] {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlString>, Error> {
        let (value, lock) = lock.alloc_string(self)?;
        Boxroot::try_new(lock, value)
    }
}

impl ToOCaml<OCamlString> for str {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlString>, Error> {
        self.as_bytes().to_ocaml(lock)
    }
}

impl ToOCaml<OCamlString> for String {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlString>, Error> {
        self.as_bytes().to_ocaml(lock)
    }
}

/// Bytes that are not UTF-8 are replaced.
impl FromOCaml<OCamlString> for String {
    fn from_ocaml(value: Value<'_, OCamlString>) -> Self {
        value.to_text()
    }
}

impl FromOCaml<OCamlString> for Vec<u8> {
    fn from_ocaml(value: Value<'_, OCamlString>) -> Self {
        value.to_bytes()
    }
}

impl ToOCaml<OCamlBytes> for [u8] {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlBytes>, Error> {
        let (value, lock) = lock.alloc_string(self)?;
        // SAFETY: bytes are laid out like a string, and nobody else has this string.
        Boxroot::try_new(lock, unsafe { Value::from_raw(value.raw()) })
    }
}

impl FromOCaml<OCamlBytes> for Vec<u8> {
    fn from_ocaml(value: Value<'_, OCamlBytes>) -> Self {
        value.to_bytes()
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<Option<A>> for Option<R> {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<Option<A>>, Error> {
        match self {
            // SAFETY: `None` is the immediate 0.
            None => unsafe { rooted(Value::int(0).raw(), lock) },
            Some(x) => {
                let x = x.to_ocaml(lock)?;
                // SAFETY: `Some x` is a block of tag 0 with this field.
                unsafe { block(lock, 0, &[cell(&x)]) }
            }
        }
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<Option<A>> for Option<R> {
    fn from_ocaml(value: Value<'_, Option<A>>) -> Self {
        value.to_option().map(R::from_ocaml)
    }
}

impl<A, B, P: ToOCaml<A>, Q: ToOCaml<B>> ToOCaml<(A, B)> for (P, Q) {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<(A, B)>, Error> {
        let (first, second) = (self.0.to_ocaml(lock)?, self.1.to_ocaml(lock)?);
        // SAFETY: a pair is a block of tag 0 with these fields.
        unsafe { block(lock, 0, &[cell(&first), cell(&second)]) }
    }
}

impl<A, B, P: FromOCaml<A>, Q: FromOCaml<B>> FromOCaml<(A, B)> for (P, Q) {
    fn from_ocaml(value: Value<'_, (A, B)>) -> Self {
        let (first, second) = value.to_pair();
        (P::from_ocaml(first), Q::from_ocaml(second))
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlList<A>> for [R] {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlList<A>>, Error> {
        // SAFETY: the empty list is the immediate 0.
        let mut list = unsafe { rooted(Value::int(0).raw(), lock) }?;
        for element in self.iter().rev() {
            let element = element.to_ocaml(lock)?;
            // SAFETY: a cons cell is a block of tag 0 with the first element and the rest.
            list = unsafe { block(lock, 0, &[cell(&element), cell(&list)]) }?;
        }
        Ok(list)
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlList<A>> for Vec<R> {
    fn from_ocaml(value: Value<'_, OCamlList<A>>) -> Self {
        value.iter().map(R::from_ocaml).collect()
    }
}

impl<A, R: ToOCaml<A>> ToOCaml<OCamlArray<A>> for [R] {
    fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlArray<A>>, Error> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably; an array of
        // units will be an array of A.
        let mut array = unsafe { rooted(ffi::obx_alloc_array(self.len()), lock) }?;
        let mut floats = Vec::new();
        for (i, element) in self.iter().enumerate() {
            let element = element.to_ocaml(lock)?;
            let raw = element.get(lock).raw();
            // SAFETY: the lock is held; the array has the element, and is of the form that OCaml
            // gives it: arrays of floats are flat, where OCaml is configured so.
            unsafe {
                if ffi::obx_float_arrays_are_flat != 0 && ffi::obx_is_float(raw) != 0 {
                    floats.push(ffi::obx_float(raw));
                } else {
                    ffi::obx_store(array.get(lock).raw(), i, raw);
                }
            }
        }
        if !floats.is_empty() {
            assert_eq!(floats.len(), self.len(), "an array of floats has no other elements");
            // SAFETY: as above; all elements have the type of the first one.
            array =
                unsafe { rooted(ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()), lock) }?;
        }
        Ok(array)
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<OCamlArray<A>> for Vec<R> {
    fn from_ocaml(value: Value<'_, OCamlArray<A>>) -> Self {
        (0..value.len())
            .filter_map(|i| match value.get_float(i) {
                Some(x) => Some(R::from_flat_float(x)),
                None => value.get(i).map(R::from_ocaml),
            })
            .collect()
    }
}

macro_rules! vector_like_slice {
    ($($ocaml:ident),*) => {$(
        impl<A, R> ToOCaml<$ocaml<A>> for Vec<R>
        where
            [R]: ToOCaml<$ocaml<A>>,
        {
            fn to_ocaml(&self, lock: &mut DomainLock) -> Result<Boxroot<$ocaml<A>>, Error> {
                self.as_slice().to_ocaml(lock)
            }
        }
    )*};
}

vector_like_slice!(OCamlList, OCamlArray);
