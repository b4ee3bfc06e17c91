//! Numbers and characters, `unit` and `bool`.

use super::block::made;
use super::form::{custom_name, Form, DOUBLE_TAG};
use super::memory::copied_numbers;
use super::{FloatOf, FromOCaml, Made, OneType, ToOCaml};
use crate::raw::ValueExt;
use crate::{ffi, ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, Value};
use std::marker::PhantomData;
use std::num::Wrapping;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

marker! {
    /// The type of OCaml's `int`, for `Value<'l, OCamlInt>` and `Boxroot<OCamlInt>`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlInt, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let n: Boxroot<OCamlInt> = 7.to_ocaml(lock)?;
    /// assert_eq!(n.get(lock).to_int(), 7);
    /// # Ok(()) });
    /// ```
    OCamlInt;
    /// The type of OCaml's `int32`; see [`OCamlInt64`].
    #[doc(alias("caml_copy_int32", "Int32_val"))]
    OCamlInt32;
    /// The type of OCaml's `int64`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::markers::OCamlInt64;
    /// use ocaml_boxroot::{Boxroot, ToOCaml};
    /// use std::num::Wrapping;
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let n: Boxroot<OCamlInt64> = 7.to_ocaml(lock)?;
    /// assert_eq!(n.get(lock).to_int64(), 7);
    ///
    /// // A hash: OCaml gets the same bits.
    /// let hash: Boxroot<OCamlInt64> = Wrapping(u64::MAX).to_ocaml(lock)?;
    /// assert_eq!(hash.get(lock).to_int64(), -1);
    /// assert_eq!(hash.to_rust::<Wrapping<u64>>(lock)?.0, u64::MAX);
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_copy_int64", "Int64_val"))]
    OCamlInt64;
    /// The type of OCaml's `nativeint`; see [`OCamlInt64`].
    #[doc(alias("caml_copy_nativeint", "Nativeint_val"))]
    OCamlNativeint;
    /// The type of OCaml's `char`: a byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::markers::OCamlChar;
    /// use ocaml_boxroot::{Boxroot, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let letter: Boxroot<OCamlChar> = 'a'.to_ocaml(lock)?;
    /// assert_eq!(letter.get(lock).to_byte(), b'a');
    /// # Ok(()) });
    /// ```
    OCamlChar;
    /// The type of OCaml's `Uchar.t`: a Unicode character, like Rust's `char`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::markers::OCamlUchar;
    /// use ocaml_boxroot::{Boxroot, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let letter: Boxroot<OCamlUchar> = 'ł'.to_ocaml(lock)?;
    /// assert_eq!(letter.to_rust::<char>(lock)?, 'ł');
    /// # Ok(()) });
    /// ```
    OCamlUchar;
    /// The type of OCaml's `float`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{Boxroot, OCamlFloat, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let x: Boxroot<OCamlFloat> = 0.5.to_ocaml(lock)?;
    /// assert_eq!(x.get(lock).to_float(), 0.5);
    /// # Ok(()) });
    /// ```
    #[doc(alias("caml_copy_double", "Double_val"))]
    OCamlFloat;
}

// SAFETY: the marker stands for OCaml's `bool`.
unsafe impl OneType for bool {}
// SAFETY: the marker stands for OCaml's `unit`.
unsafe impl OneType for () {}

/// Implements [`Form`] for immediates in a range.
macro_rules! immediates {
    ($($marker:ty: $range:pat,)*) => {$(
        impl Form for $marker {
            fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
                matches!(value.kind(), Kind::Immediate($range))
            }
        }
    )*};
}

immediates! {
    OCamlInt: _,
    OCamlChar: 0..=255,
    OCamlUchar: _,
    bool: 0..=1,
    (): 0,
}

/// Implements [`Form`] for custom blocks whose operations have this identifier.
macro_rules! custom_numbers {
    ($($marker:ident: $name:literal;)*) => {$(
        impl Form for $marker {
            fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
                custom_name(value) == Some($name)
            }
        }
    )*};
}

custom_numbers! {
    OCamlInt32: c"_i";
    OCamlInt64: c"_j";
    OCamlNativeint: c"_n";
}

impl Form for OCamlFloat {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Block { tag: DOUBLE_TAG, .. })
    }
}

impl Value<'_, ()> {
    /// OCaml's `()`.
    #[doc(alias = "Val_unit")]
    #[inline]
    pub fn unit() -> Value<'static, ()> {
        // SAFETY: 1 is the immediate 0, which is `()`.
        unsafe { Value::from_raw(1) }
    }
}

impl Value<'_, OCamlInt> {
    /// Makes an OCaml integer. It is an immediate, which is always valid. OCaml's integers have one
    /// bit less than `isize`: the highest bit of `n` is lost, as in OCaml's own arithmetic.
    #[doc(alias("Val_int", "Val_long"))]
    #[inline]
    pub fn int(n: isize) -> Value<'static, OCamlInt> {
        // SAFETY: the lowest bit makes this an immediate, and every immediate is a valid `int`.
        unsafe { Value::from_raw((n << 1) | 1) }
    }

    /// The integer.
    #[doc(alias("Int_val", "Long_val"))]
    #[track_caller]
    #[inline]
    pub fn to_int(self) -> isize {
        self.checked().raw() >> 1
    }
}

impl Value<'_, OCamlChar> {
    /// Makes an OCaml character, which is a byte.
    #[inline]
    pub fn char(byte: u8) -> Value<'static, OCamlChar> {
        // SAFETY: the lowest bit makes this an immediate. It is from 0 to 255, so it is a `char`.
        unsafe { Value::from_raw(isize::from(byte) << 1 | 1) }
    }

    /// The byte.
    #[track_caller]
    #[inline]
    pub fn to_byte(self) -> u8 {
        (self.checked().raw() >> 1) as u8
    }
}

impl Value<'_, OCamlInt32> {
    /// The number.
    #[track_caller]
    #[inline]
    pub fn to_int32(self) -> i32 {
        // SAFETY: the value is a live `int32` (by its type and lifetime).
        unsafe { ffi::obx_int32(self.checked().raw()) }
    }
}

impl Value<'_, OCamlInt64> {
    /// The number.
    #[track_caller]
    #[inline]
    pub fn to_int64(self) -> i64 {
        // SAFETY: the value is a live `int64` (by its type and lifetime).
        unsafe { ffi::obx_int64(self.checked().raw()) }
    }
}

impl Value<'_, OCamlNativeint> {
    /// The number.
    #[track_caller]
    #[inline]
    pub fn to_nativeint(self) -> isize {
        // SAFETY: the value is a live `nativeint` (by its type and lifetime).
        unsafe { ffi::obx_nativeint(self.checked().raw()) }
    }
}

impl Value<'_, bool> {
    /// The boolean.
    #[doc(alias = "Bool_val")]
    #[track_caller]
    #[inline]
    pub fn to_bool(self) -> bool {
        self.checked().raw() != 1
    }
}

impl Value<'_, OCamlFloat> {
    /// The number.
    #[doc(alias = "Double_val")]
    #[track_caller]
    #[inline]
    pub fn to_float(self) -> f64 {
        // SAFETY: the value is a live float (by its type and lifetime). Floats are immutable.
        unsafe { *(self.checked().raw() as *const f64) }
    }
}

impl ToOCaml<()> for () {
    const NESTS: bool = false;

    #[inline]
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, ()> {
        Ok((Value::unit(), lock))
    }
}

impl ToOCaml<bool> for bool {
    const NESTS: bool = false;

    #[inline]
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, bool> {
        // SAFETY: `false` is the immediate 0, and `true` the immediate 1.
        unsafe { made(Value::int(isize::from(*self)).raw(), lock) }
    }
}

from_ocaml! {
    () => (): |_value, _| Ok(());
    bool => bool: |value, _| Ok(value.to_bool());
    OCamlFloat => f64: |value, _| Ok(value.to_float()), {
        #[inline]
        fn from_float(x: f64) -> Result<Self, ConversionError> {
            Ok(x)
        }

        #[inline]
        fn from_floats(numbers: &[AtomicU64]) -> Result<Vec<f64>, ConversionError> {
            copied_numbers(numbers)
        }
    };
    OCamlChar => u8: |value, _| Ok(value.to_byte());
    /// OCaml's characters are bytes, which this conversion reads as Latin-1.
    OCamlChar => char: |value, _| Ok(value.to_byte().into());
    /// Returns [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if OCaml made the value with
    /// `Uchar.unsafe_of_int` from a number that is not a Unicode scalar value.
    OCamlUchar => char: |value, _| {
        let number = u32::try_from(value.raw() >> 1).ok();
        number.and_then(char::from_u32).ok_or_else(|| ConversionErrorKind::OutOfRange.into())
    };
}

/// Whether `n` fits into an OCaml integer, which has one bit less than `isize`.
#[inline]
pub(super) fn is_ocaml_int(n: isize) -> bool {
    Value::int(n).to_int() == n
}

/// Converts integers to and from OCaml's four integer types. Each conversion goes through the Rust
/// type that has the range of the OCaml type, or one bit more.
macro_rules! integers {
    ($($ocaml:ident: $own:ident, $make:expr, $read:ident;)*) => {$(
        integers!{ @all $ocaml, $own, $make, $read:
            i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }
    )*};
    (@all $ocaml:ident, $own:ident, $make:expr, $read:ident: $($rust:ident)*) => {$(
        /// Returns [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if it does not fit.
        impl ToOCaml<$ocaml> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, $ocaml> {
                let make: fn($own, &'l mut DomainLock) -> Made<'l, $ocaml> = $make;
                match $own::try_from(*self) {
                    Ok(n) => make(n, lock),
                    Err(_) => Err(ConversionErrorKind::OutOfRange.into()),
                }
            }
        }

        /// Returns [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if it does not fit.
        impl FromOCaml<$ocaml> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn from_ocaml<'l>(
                value: Value<'l, $ocaml>,
                _: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                $rust::try_from(value.$read()).map_err(|_| ConversionErrorKind::OutOfRange.into())
            }

            with_form!($ocaml);
        }
    )*};
}

integers! {
    OCamlInt: isize, |n, lock| match n.checked_mul(2) {
        // SAFETY: an immediate, as in `Value::int`.
        Some(twice) => Ok((unsafe { Value::from_raw(twice | 1) }, lock)),
        None => Err(ConversionErrorKind::OutOfRange.into()),
    }, to_int;
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. The new block has this type.
    OCamlInt32: i32, |n, lock| unsafe { made(ffi::obx_alloc_int32(n), lock) }, to_int32;
    // SAFETY: as above.
    OCamlInt64: i64, |n, lock| unsafe { made(ffi::obx_alloc_int64(n), lock) }, to_int64;
    // SAFETY: as above.
    OCamlNativeint: isize, |n, lock| unsafe { made(ffi::obx_alloc_nativeint(n), lock) }, to_nativeint;
}

macro_rules! wrapping {
    ($($rust:ident as $own:ident is $ocaml:ident;)*) => {$(
        /// Converts to the number with the same bits.
        impl ToOCaml<$ocaml> for Wrapping<$rust> {
            const NESTS: bool = false;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, $ocaml> {
                (self.0 as $own).to_value(lock)
            }
        }

        /// Converts to the number with the same bits.
        impl FromOCaml<$ocaml> for Wrapping<$rust> {
            const NESTS: bool = false;

            #[inline]
            fn from_ocaml<'l>(
                value: Value<'l, $ocaml>,
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                $own::from_ocaml(value, lock).map(|n| Wrapping(n as $rust))
            }

            with_form!($ocaml);
        }
    )*};
}

wrapping! {
    u32 as i32 is OCamlInt32;
    u64 as i64 is OCamlInt64;
    usize as isize is OCamlNativeint;
}

impl ToOCaml<OCamlFloat> for f64 {
    const NESTS: bool = false;

    #[inline]
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlFloat> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector
        // may run. The new block is a float.
        unsafe { made(ffi::obx_alloc_float(*self), lock) }
    }

    #[inline]
    fn as_float(&self) -> Option<FloatOf<OCamlFloat>> {
        Some(FloatOf(*self, PhantomData))
    }
}

/// Converts a Rust type to and from OCaml's `float` through `f64`.
macro_rules! floats {
    ($($(#[$doc:meta])* $rust:ty: $to:expr, $from:expr;)*) => {$(
        impl ToOCaml<OCamlFloat> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlFloat> {
                let to: fn(&Self) -> f64 = $to;
                to(self).to_value(lock)
            }

            #[inline]
            fn as_float(&self) -> Option<FloatOf<OCamlFloat>> {
                let to: fn(&Self) -> f64 = $to;
                Some(FloatOf(to(self), PhantomData))
            }
        }

        $(#[$doc])*
        impl FromOCaml<OCamlFloat> for $rust {
            const NESTS: bool = false;

            #[inline]
            fn from_ocaml<'l>(
                value: Value<'l, OCamlFloat>,
                _: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                Self::from_float(value.to_float())
            }

            with_form!(OCamlFloat);

            #[inline]
            fn from_float(x: f64) -> Result<Self, ConversionError> {
                let from: fn(f64) -> Option<Self> = $from;
                from(x).ok_or_else(|| ConversionErrorKind::OutOfRange.into())
            }
        }
    )*};
}

floats! {
    /// Rounds to the nearest `f32`. Returns [`OutOfRange`](crate::ConversionErrorKind::OutOfRange)
    /// for a finite number that is too large.
    f32: |x| f64::from(*x), |x| Some(x as f32).filter(|near| near.is_finite() || !x.is_finite());
    /// The number is in seconds, as in `Unix.gettimeofday` and `Unix.sleepf`. Returns
    /// [`OutOfRange`](crate::ConversionErrorKind::OutOfRange) if it is negative, too large or NaN.
    Duration: Duration::as_secs_f64, |x| Duration::try_from_secs_f64(x).ok();
}

impl ToOCaml<OCamlChar> for u8 {
    const NESTS: bool = false;

    #[inline]
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlChar> {
        Ok((Value::char(*self), lock))
    }
}

/// OCaml's characters are bytes, which this conversion writes as Latin-1 (up to U+00FF). Other
/// characters return [`OutOfRange`](crate::ConversionErrorKind::OutOfRange).
impl ToOCaml<OCamlChar> for char {
    const NESTS: bool = false;

    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlChar> {
        u8::try_from(*self)
            .map_err(|_| ConversionError::new(ConversionErrorKind::OutOfRange))?
            .to_value(lock)
    }
}

impl ToOCaml<OCamlUchar> for char {
    const NESTS: bool = false;

    #[inline]
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, OCamlUchar> {
        // SAFETY: a `Uchar.t` is a character's number as an immediate.
        unsafe { made(Value::int(u32::from(*self) as isize).raw(), lock) }
    }
}
