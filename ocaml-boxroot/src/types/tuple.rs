//! Tuples, options and results. Rust's own types serve as markers.

// rustc takes longer for `?`, and programs have many of these conversions.
#![allow(clippy::question_mark)]

use super::block::{block, made};
use super::depth::level;
use super::form::Form;
use super::kept::Kept;
use super::{FromOCaml, Made, OneType, ToOCaml};
use crate::raw::ValueExt;
use crate::{ConversionError, DomainLock, Kind, OCamlAny, Value};

// SAFETY: the marker stands for OCaml's `option`.
unsafe impl<T> OneType for Option<T> {}
// SAFETY: the marker stands for OCaml's `result`.
unsafe impl<T, E> OneType for Result<T, E> {}

impl<T> Form for Option<T> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Immediate(0) | Kind::Block { tag: 0, size: 1 })
    }
}

impl<T, E> Form for Result<T, E> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        matches!(value.kind(), Kind::Block { tag: 0 | 1, size: 1 })
    }
}

impl<'l, T> Value<'l, Option<T>> {
    /// `Some` with the contained value, or `None`.
    #[doc(alias("Is_some", "Some_val"))]
    #[track_caller]
    pub fn to_option(self) -> Option<Value<'l, T>> {
        // SAFETY: a block is `Some x`, whose field 0 is x (by its type).
        (!self.checked().is_immediate()).then(|| unsafe { self.field(0) })
    }
}

impl<'l, T, E> Value<'l, Result<T, E>> {
    /// `Ok` or `Err` with the contained value.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::{OCamlInt, OCamlString, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let result: Result<i64, String> = Err("none".into());
    /// let root = ToOCaml::<Result<OCamlInt, OCamlString>>::to_ocaml(&result, lock)?;
    /// assert_eq!(root.get(lock).to_result().unwrap_err().as_str()?, "none");
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn to_result(self) -> Result<Value<'l, T>, Value<'l, E>> {
        let is_ok = matches!(self.checked().kind(), Kind::Block { tag: 0, .. });
        // SAFETY: `Ok x` is a block of tag 0, and `Error x` of tag 1. In both, field 0 is x.
        unsafe {
            match is_ok {
                true => Ok(self.field(0)),
                false => Err(self.field(0)),
            }
        }
    }
}

impl<'l, A, B> Value<'l, (A, B)> {
    /// The two components.
    #[track_caller]
    pub fn to_pair(self) -> (Value<'l, A>, Value<'l, B>) {
        self.checked();
        // SAFETY: a pair is a block of two fields (by its type).
        unsafe { (self.field(0), self.field(1)) }
    }
}

macro_rules! tuple {
    ($size:literal: $($rust:ident $ocaml:ident $index:tt),+) => {
        // SAFETY: the marker stands for OCaml's tuple of this size.
        unsafe impl<$($ocaml),+> OneType for ($($ocaml,)+) {}

        impl<$($ocaml),+> Form for ($($ocaml,)+) {
            fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
                value.kind() == Kind::Block { tag: 0, size: $size }
            }
        }

        impl<$($ocaml, $rust: ToOCaml<$ocaml>),+> ToOCaml<($($ocaml,)+)> for ($($rust,)+) {
            fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, ($($ocaml,)+)> {
                let _level = level(false $(|| $rust::NESTS)+)?;
                let fields = [$(Kept::new::<$ocaml, $rust>(&self.$index, lock)?),+];
                // SAFETY: a tuple is a block of tag 0 with these fields.
                unsafe { block(lock, 0, fields) }
            }
        }

        impl<$($ocaml, $rust: FromOCaml<$ocaml>),+> FromOCaml<($($ocaml,)+)> for ($($rust,)+) {
            fn from_ocaml<'l>(
                value: Value<'l, ($($ocaml,)+)>,
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                let _level = level(false $(|| $rust::NESTS)+)?;
                // SAFETY: a tuple is a block of these fields (by its type).
                unsafe { Ok(($(value.field::<$ocaml>($index).to_rust::<$rust>(lock)?,)+)) }
            }

            with_form!(($($ocaml,)+));
        }
    };
}

tuple!(2: P A 0, Q B 1);
tuple!(3: P A 0, Q B 1, R C 2);
tuple!(4: P A 0, Q B 1, R C 2, S D 3);
tuple!(5: P A 0, Q B 1, R C 2, S D 3, T E 4);
tuple!(6: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5);
tuple!(7: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6);
tuple!(8: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6, W H 7);

impl<A, R: ToOCaml<A>> ToOCaml<Option<A>> for Option<R> {
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, Option<A>> {
        let _level = level(R::NESTS)?;
        match self {
            // SAFETY: `None` is the immediate 0.
            None => unsafe { made(Value::int(0).raw(), lock) },
            Some(x) => {
                let x = Kept::new::<A, R>(x, lock)?;
                // SAFETY: `Some x` is a block of tag 0 with this field.
                unsafe { block(lock, 0, [x]) }
            }
        }
    }
}

impl<A, R: FromOCaml<A>> FromOCaml<Option<A>> for Option<R> {
    fn from_ocaml<'l>(
        value: Value<'l, Option<A>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let _level = match level(R::NESTS) {
            Ok(level) => level,
            Err(error) => return Err(error),
        };
        match value.to_option() {
            None => Ok(None),
            Some(x) => match x.to_rust(lock) {
                Ok(x) => Ok(Some(x)),
                Err(error) => Err(error),
            },
        }
    }

    with_form!(Option<A>);
}

impl<A, B, P: ToOCaml<A>, Q: ToOCaml<B>> ToOCaml<Result<A, B>> for Result<P, Q> {
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, Result<A, B>> {
        let _level = level(P::NESTS || Q::NESTS)?;
        match self {
            Ok(x) => {
                let x = Kept::new::<A, P>(x, lock)?;
                // SAFETY: `Ok x` is a block of tag 0 with this field.
                unsafe { block(lock, 0, [x]) }
            }
            Err(x) => {
                let x = Kept::new::<B, Q>(x, lock)?;
                // SAFETY: `Error x` is a block of tag 1 with this field.
                unsafe { block(lock, 1, [x]) }
            }
        }
    }
}

impl<A, B, P: FromOCaml<A>, Q: FromOCaml<B>> FromOCaml<Result<A, B>> for Result<P, Q> {
    fn from_ocaml<'l>(
        value: Value<'l, Result<A, B>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let _level = level(P::NESTS || Q::NESTS)?;
        match value.to_result() {
            Ok(x) => Ok(Ok(x.to_rust(lock)?)),
            Err(x) => Ok(Err(x.to_rust(lock)?)),
        }
    }

    with_form!(Result<A, B>);
}
