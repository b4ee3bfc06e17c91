//! Several values that are converted together: the arguments of a call, or the parts of a value.
//! Generated code has them in tuples, so that one call converts all of them. rustc takes several
//! times as long for a call per value.

use super::form::DOUBLE_TAG;
use super::kept::Kept;
use super::{FromOCaml, ToOCaml};
use crate::raw::ValueExt;
use crate::{ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlFloat, Value};

/// What a tuple of eight lacks: the first eight, and the others.
#[derive(Clone, Copy, Debug)]
pub struct More<A, B>(pub A, pub B);

/// The OCaml types of several values: a tuple of at most eight, or [`More`].
pub trait Types {
    /// The number of values.
    const COUNT: usize;
}

/// The type number `I` of several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no type number {I}",
    note = "a declared record has at most 256 fields"
)]
pub trait Nth<const I: usize> {
    /// The type.
    type Type;
}

/// References to Rust values that convert to these types. Their errors come with the index of the
/// value.
pub trait Sources<'a, T>: Copy {
    /// Whether the conversion of any value [nests](ToOCaml::NESTS).
    const NEST: bool;

    /// Converts the values, and keeps them in these places, which have immediates.
    ///
    /// # Panics
    ///
    /// If there are not as many places as values.
    #[track_caller]
    fn keep(
        self,
        kept: &mut [Kept<'a>],
        lock: &mut DomainLock,
    ) -> Result<(), (usize, ConversionError)>;

    /// Writes the numbers that the values convert to.
    ///
    /// # Panics
    ///
    /// If there are not as many numbers as values.
    fn write(
        self,
        numbers: &mut [f64],
        lock: &mut DomainLock,
    ) -> Result<(), (usize, ConversionError)>;
}

/// What holds the parts of a value.
pub trait Holder<'l>: Copy {
    /// Copies the part with this index. An error names the part.
    ///
    /// # Safety
    ///
    /// There is such a part, and it is a `T`.
    #[track_caller]
    unsafe fn read<T, R: FromOCaml<T>>(
        self,
        index: usize,
        names: &'static [&'static str],
        lock: &'l DomainLock,
    ) -> Result<R, ConversionError>;
}

/// Rust values to which values of these types convert.
pub trait Targets<T>: Sized {
    /// Whether the conversion of any value [nests](FromOCaml::NESTS).
    const NEST: bool;

    /// Converts the parts from number `first` on. `names` are those of all parts.
    ///
    /// # Safety
    ///
    /// The parts have these types.
    #[track_caller]
    unsafe fn read<'l, X: Holder<'l>>(
        holder: X,
        first: usize,
        names: &'static [&'static str],
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError>;
}

impl<A: Types, B: Types> Types for More<A, B> {
    const COUNT: usize = A::COUNT + B::COUNT;
}

impl<'a, A: Sources<'a, S>, B: Sources<'a, T>, S: Types, T> Sources<'a, More<S, T>> for More<A, B> {
    const NEST: bool = A::NEST || B::NEST;

    #[inline]
    fn keep(
        self,
        kept: &mut [Kept<'a>],
        lock: &mut DomainLock,
    ) -> Result<(), (usize, ConversionError)> {
        let (first, others) = kept.split_at_mut(S::COUNT);
        self.0.keep(first, lock)?;
        self.1.keep(others, lock).map_err(|(index, error)| (S::COUNT + index, error))
    }

    #[inline]
    fn write(
        self,
        numbers: &mut [f64],
        lock: &mut DomainLock,
    ) -> Result<(), (usize, ConversionError)> {
        let (first, others) = numbers.split_at_mut(S::COUNT);
        self.0.write(first, lock)?;
        self.1.write(others, lock).map_err(|(index, error)| (S::COUNT + index, error))
    }
}

impl<A: Targets<S>, B: Targets<T>, S: Types, T> Targets<More<S, T>> for More<A, B> {
    const NEST: bool = A::NEST || B::NEST;

    #[inline]
    unsafe fn read<'l, X: Holder<'l>>(
        holder: X,
        first: usize,
        names: &'static [&'static str],
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        // SAFETY: the parts have these types (caller).
        unsafe {
            let start = A::read(holder, first, names, lock)?;
            Ok(More(start, B::read(holder, first + S::COUNT, names, lock)?))
        }
    }
}

/// Converts a Rust value to a `T`, and returns its number.
///
/// # Errors
///
/// [`Mismatch`](crate::ConversionErrorKind::Mismatch) if the `T` is not a float.
#[inline]
fn number<T, R: ToOCaml<T>>(value: &R, lock: &mut DomainLock) -> Result<f64, ConversionError> {
    if let Some(number) = value.as_float() {
        return Ok(number.get());
    }
    let (value, _) = value.to_value(lock)?;
    if !matches!(value.kind(), Kind::Block { tag: DOUBLE_TAG, .. }) {
        return Err(ConversionError::new(ConversionErrorKind::Mismatch));
    }
    // SAFETY: the value is a block with the tag of floats, which only floats have.
    Ok(unsafe { Value::<OCamlFloat>::from_raw(value.raw()) }.to_float())
}

/// Not inlined, because there are many callers.
#[cold]
#[inline(never)]
fn different_numbers() -> ! {
    unreachable!("there are more or fewer places than values")
}

macro_rules! several {
    ($($count:literal: $($rust:ident $ocaml:ident $index:tt),*;)*) => {$(
        impl<$($ocaml),*> Types for ($($ocaml,)*) {
            const COUNT: usize = $count;
        }

        #[allow(unused_variables, non_snake_case)]
        impl<'a, $($ocaml, $rust: ToOCaml<$ocaml>),*> Sources<'a, ($($ocaml,)*)> for ($(&'a $rust,)*) {
            const NEST: bool = false $(|| $rust::NESTS)*;

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn keep(
                self,
                kept: &mut [Kept<'a>],
                lock: &mut DomainLock,
            ) -> Result<(), (usize, ConversionError)> {
                let [$($rust),*] = kept else { different_numbers() };
                $(
                    // This does the work of `?`, which takes longer to compile.
                    if let Err(error) = $rust.set::<$ocaml, $rust>(self.$index, lock) {
                        return Err(($index, error));
                    }
                )*
                Ok(())
            }

            fn write(
                self,
                numbers: &mut [f64],
                lock: &mut DomainLock,
            ) -> Result<(), (usize, ConversionError)> {
                let [$($rust),*] = numbers else { different_numbers() };
                $(match number::<$ocaml, $rust>(self.$index, lock) {
                    Ok(number) => *$rust = number,
                    Err(error) => return Err(($index, error)),
                })*
                Ok(())
            }
        }

        #[allow(unused_variables)]
        impl<$($ocaml, $rust: FromOCaml<$ocaml>),*> Targets<($($ocaml,)*)> for ($($rust,)*) {
            const NEST: bool = false $(|| $rust::NESTS)*;

            #[cfg_attr(not(debug_assertions), inline(always))]
            unsafe fn read<'l, X: Holder<'l>>(
                holder: X,
                first: usize,
                names: &'static [&'static str],
                lock: &'l DomainLock,
            ) -> Result<Self, ConversionError> {
                Ok(($(
                    // SAFETY: the part has this type (caller).
                    match unsafe { holder.read::<$ocaml, $rust>(first + $index, names, lock) } {
                        Ok(part) => part,
                        Err(error) => return Err(error),
                    },
                )*))
            }
        }
    )*};
}

several! {
    0: ;
    1: P A 0;
    2: P A 0, Q B 1;
    3: P A 0, Q B 1, R C 2;
    4: P A 0, Q B 1, R C 2, S D 3;
    5: P A 0, Q B 1, R C 2, S D 3, T E 4;
    6: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5;
    7: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6;
    8: P A 0, Q B 1, R C 2, S D 3, T E 4, U F 5, V G 6, W H 7;
}

// The numbers are literals, because rustc takes half a second to compare all pairs of
// implementations if they are expressions.
macro_rules! nth {
    ($($($first:ident)* > $($others:ident)*: $index:literal $($more:literal)*;)*) => {$(
        nth! { @tuples $index [$($first)*] [$($others)*] }

        impl<S: Nth<$index>, T> Nth<$index> for More<S, T> {
            type Type = S::Type;
        }

        nth! { @more $index $($more)* }
    )*};
    (@tuples $index:literal [$($first:ident)*] []) => {
        nth! { @tuple $index [$($first)*] [] }
    };
    (@tuples $index:literal [$($first:ident)*] [$other:ident $($others:ident)*]) => {
        nth! { @tuple $index [$($first)*] [] }
        nth! { @longer $index [$($first)*] [$other] [$($others)*] }
    };
    (@longer $index:literal $first:tt [$($more:ident)*] []) => {
        nth! { @tuple $index $first [$($more)*] }
    };
    (@longer $index:literal $first:tt [$($more:ident)*] [$other:ident $($others:ident)*]) => {
        nth! { @tuple $index $first [$($more)*] }
        nth! { @longer $index $first [$($more)* $other] [$($others)*] }
    };
    (@tuple $index:literal [$($first:ident)*] [$($more:ident)*]) => {
        impl<$($first,)* X, $($more),*> Nth<$index> for ($($first,)* X, $($more,)*) {
            type Type = X;
        }
    };
    (@more $last:literal) => {};
    (@more $index:literal $later:literal $($more:literal)*) => {
        impl<S, T: Nth<$index>> Nth<$later> for More<S, T> {
            type Type = T::Type;
        }

        nth! { @more $later $($more)* }
    };
}

// For records of at most 256 fields.
nth! {
    > B C D E F G H: 0 8 16 24 32 40 48 56 64 72 80 88 96 104 112 120
        128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248;
    A > C D E F G H: 1 9 17 25 33 41 49 57 65 73 81 89 97 105 113 121
        129 137 145 153 161 169 177 185 193 201 209 217 225 233 241 249;
    A B > D E F G H: 2 10 18 26 34 42 50 58 66 74 82 90 98 106 114 122
        130 138 146 154 162 170 178 186 194 202 210 218 226 234 242 250;
    A B C > E F G H: 3 11 19 27 35 43 51 59 67 75 83 91 99 107 115 123
        131 139 147 155 163 171 179 187 195 203 211 219 227 235 243 251;
    A B C D > F G H: 4 12 20 28 36 44 52 60 68 76 84 92 100 108 116 124
        132 140 148 156 164 172 180 188 196 204 212 220 228 236 244 252;
    A B C D E > G H: 5 13 21 29 37 45 53 61 69 77 85 93 101 109 117 125
        133 141 149 157 165 173 181 189 197 205 213 221 229 237 245 253;
    A B C D E F > H: 6 14 22 30 38 46 54 62 70 78 86 94 102 110 118 126
        134 142 150 158 166 174 182 190 198 206 214 222 230 238 246 254;
    A B C D E F G >: 7 15 23 31 39 47 55 63 71 79 87 95 103 111 119 127
        135 143 151 159 167 175 183 191 199 207 215 223 231 239 247 255;
}

/// For the macros: several types or values as a tuple or [`More`]. `fields` are expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_several {
    (type $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $($more:tt)+) => {
        $crate::macro_support::More<
            ($a, $b, $c, $d, $e, $f, $g, $h), $crate::ocaml_several!(type $($more)+)
        >
    };
    (value $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $($more:tt)+) => {
        $crate::macro_support::More(
            ($a, $b, $c, $d, $e, $f, $g, $h), $crate::ocaml_several!(value $($more)+)
        )
    };
    (fields $($value:expr),*) => {
        $crate::ocaml_several!(value $($value)*)
    };
    ($kind:ident $($one:tt)*) => {
        ($($one,)*)
    };
}
