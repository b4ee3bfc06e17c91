//! Makes values of declared types from their parts, and takes them apart.

use super::form::{
    constructor, constructors, is_flat, is_polymorphic, is_unboxed, size, Constructor,
    Constructors, Declared, Part, Public,
};
use crate::raw::ValueExt;
use crate::types::array::flat_array;
use crate::types::block::block;
use crate::types::form::{Form, DOUBLE_ARRAY_TAG, DOUBLE_TAG};
use crate::types::kept::{Copies, Kept};
use crate::types::markers::OCamlFloat;
use crate::types::{FromOCaml, Made, ToOCaml};
use crate::value::block_head;
use crate::{Boxroot, ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, Value};
use std::marker::PhantomData;

// Types with many parts instantiate the generic functions here many times. Therefore these
// functions are short, and call functions with fewer type parameters or none.

/// The constructor of `M` that has the number `CONSTRUCTOR`.
pub struct Numbered<M, const CONSTRUCTOR: isize>(pub PhantomData<M>);

/// The parts of a new `M` that are converted so far. Its constructor `CONSTRUCTOR` has `N` parts.
pub struct Making<'a, M, const CONSTRUCTOR: isize, const N: usize> {
    parts: Copies<'a, N>,
    /// The parts of a record in the flat form. `parts` then has units instead.
    numbers: [f64; N],
    _type: PhantomData<M>,
}

impl<'a, M: Public, const C: isize, const N: usize> Making<'a, M, C, N> {
    /// Begins without parts. Errors use these names for the parts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn new(Numbered(marker): Numbered<M, C>, names: &'static [&'static str; N]) -> Self {
        const { assert!(size(constructor::<M>(C)) == N) };
        Making { parts: Copies::new(names), numbers: [0.; N], _type: marker }
    }

    /// Converts a Rust value, and adds it as the part with the number `P`.
    ///
    /// # Panics
    ///
    /// If this is not the next part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn add<const P: usize, T, R: ToOCaml<T>>(
        &mut self,
        value: &'a R,
        lock: &mut DomainLock,
    ) -> Result<(), ConversionError>
    where
        M: Part<C, P, T>,
    {
        match const { is_flat::<M>() } {
            true => match number(value, lock) {
                Ok(number) => {
                    self.numbers[P] = number;
                    self.parts.add_next::<(), ()>(P, &(), lock)
                }
                Err(error) => Err(error),
            },
            false => self.parts.add_next::<T, R>(P, value, lock),
        }
    }

    /// The parts so far.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn parts(&self) -> &Copies<'a, N> {
        &self.parts
    }

    /// Makes the value.
    ///
    /// # Panics
    ///
    /// If not all parts were added.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn make(self, lock: &mut DomainLock) -> Made<'_, M> {
        // SAFETY: the constructor has `N` parts (`new`).
        match unsafe { construct(lock, const { constructor::<M>(C) }, self.parts, self.numbers) } {
            // SAFETY: these are all parts of the constructor, in order, and each has its type
            // (`add`). The new value is OCaml's representation of an `M` (`Declared`), which Rust
            // may make (`Public`).
            Ok((value, lock)) => Ok((unsafe { Value::from_raw(value.raw()) }, lock)),
            Err(error) => Err(error),
        }
    }
}

/// Adds the name of the next part to the error: that part failed.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn part_failed<const N: usize>(
    error: ConversionError,
    before: &Copies<'_, N>,
) -> ConversionError {
    error.within(before.next_name())
}

/// The value of a constructor without parts. Generated code is shorter with this function than with
/// [`Making`].
#[inline(always)]
pub fn constant<M: Public, const C: isize>(_: PhantomData<M>, lock: &DomainLock) -> Made<'_, M> {
    let n = const {
        match constructor::<M>(C) {
            Constructor::Constant(n) => n,
            _ => panic!("a constructor with parts"),
        }
    };
    // SAFETY: this is OCaml's representation of the constructor (`Declared`), which Rust may make
    // (`Public`).
    Ok((unsafe { Value::from_raw(Value::int(n).raw()) }, lock))
}

/// [`FromOCaml`] for a declared type, without counting the level. In this separate function, the
/// many exits need not drop the level.
pub trait FromParts<M>: Sized {
    /// Like [`FromOCaml::from_ocaml`].
    #[track_caller]
    fn from_parts<'l>(value: Value<'l, M>, lock: &'l DomainLock) -> Result<Self, ConversionError>;
}

/// Calls `f` in a separate stack frame. Without optimisation, a function's frame has room for every
/// value in its body. With separate frames, the space for one constructor of a type is not in use
/// while a part of another constructor is converted.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn apart<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Makes a value of this constructor from these parts or, in the flat form, from these numbers.
///
/// # Panics
///
/// If not all parts were added.
///
/// # Safety
///
/// The constructor has `N` parts.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn construct<'l, const N: usize>(
    lock: &'l mut DomainLock,
    constructor: Constructor,
    parts: Copies<'_, N>,
    numbers: [f64; N],
) -> Made<'l, OCamlAny> {
    let mut parts = parts.all();
    // SAFETY: the tags are those of blocks with fields, and every block is an `OCamlAny`. The
    // collector does not run after a part was taken.
    unsafe {
        match constructor {
            Constructor::Constant(n) => Ok((Value::int(n).any(), lock)),
            Constructor::Block(tag, _) => block(lock, tag, parts),
            Constructor::Tagged(hash, 1) => block(lock, 0, [Kept::int(hash), parts[0].replace()]),
            Constructor::Tagged(hash, _) => {
                let (tuple, now) = block::<OCamlAny, N>(lock, 0, parts)?;
                let tuple = Kept::Copy(Boxroot::try_new(now, tuple)?);
                block(lock, 0, [Kept::int(hash), tuple])
            }
            Constructor::Flat(_) => flat(lock, &numbers),
            // `made` would take 0 for an error, but the part may be 0: a NULL pointer (OCaml 4).
            Constructor::Unboxed => Ok((Value::from_raw(parts[0].replace().take(lock)), lock)),
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

/// Makes a record in the flat form.
fn flat<'l>(lock: &'l mut DomainLock, numbers: &[f64]) -> Made<'l, OCamlAny> {
    let (record, lock) = flat_array::<OCamlFloat, f64>(numbers, lock)?;
    Ok((record.any(), lock))
}

impl<M: Declared> Form for M {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        is_one_of(value, const { constructors::<M>() })
    }
}

/// Whether a value may have one of these constructors.
fn is_one_of(value: Value<'_, OCamlAny>, constructors: Constructors) -> bool {
    let head = match value.kind() {
        Kind::Block { tag, size } => block_head(tag, size),
        Kind::Immediate(_) => 0,
    };
    let is_one =
        |(_, constructor): &(isize, Constructor)| take_apart(value, head, *constructor).is_some();
    constructors.iter().any(is_one) || is_polymorphic(constructors) && is_tagged(value)
}

/// Whether a value may be of a polymorphic variant, with any constructor. An open type has
/// constructors that the declaration does not name.
fn is_tagged(value: Value<'_, OCamlAny>) -> bool {
    match value.kind() {
        Kind::Immediate(_) => true,
        // SAFETY: the block has two fields (just checked).
        Kind::Block { tag: 0, size: 2 } => unsafe { value.field::<OCamlAny>(0) }.is_immediate(),
        _ => false,
    }
}

/// The parts of a value with this constructor. The field `parts` is the value that holds them.
pub struct Parts<'l, M, const CONSTRUCTOR: isize> {
    parts: Value<'l, OCamlAny>,
    _type: PhantomData<M>,
}

impl<M, const C: isize> Clone for Parts<'_, M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, const C: isize> Copy for Parts<'_, M, C> {}

/// A value and its head (tag and size), or 0 if it is not a block.
pub struct Opened<'l, M>(Value<'l, OCamlAny>, usize, PhantomData<M>);

/// Reads a value's head, so that the value can be taken apart.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn open<M: Declared>(value: Value<'_, M>) -> Opened<'_, M> {
    let value = value.any();
    let head = match const { is_unboxed::<M>() } {
        true => 0, // the value is its part, which may be of any type
        // SAFETY: the value is of a declared type, and so a block or an immediate.
        false => unsafe { value.head() },
    };
    Opened(value, head, PhantomData)
}

/// The parts, if the value has the constructor `C`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn parts<'l, M: Declared, const C: isize>(
    Opened(value, head, _): &Opened<'l, M>,
) -> Option<Parts<'l, M, C>> {
    match take_apart(*value, *head, const { constructor::<M>(C) }) {
        Some(parts) => Some(Parts { parts, _type: PhantomData }),
        None => None,
    }
}

/// If `value`, a block with this head or an immediate, has this constructor, returns the value that
/// holds the parts.
#[cfg_attr(not(debug_assertions), inline(always))]
fn take_apart(
    value: Value<'_, OCamlAny>,
    head: usize,
    constructor: Constructor,
) -> Option<Value<'_, OCamlAny>> {
    match constructor {
        Constructor::Constant(n) if value.raw() == Value::int(n).raw() => Some(value),
        Constructor::Block(tag, size) if head == block_head(tag, size) => Some(value),
        Constructor::Tagged(hash, count) if head == block_head(0, 2) => {
            // SAFETY: the block has two fields (just checked).
            unsafe { tagged(value, hash, count) }
        }
        // The size is not compared, because on some systems a number takes two words.
        Constructor::Flat(_) if head as u8 == DOUBLE_ARRAY_TAG => Some(value),
        Constructor::Unboxed => Some(value),
        _ => None,
    }
}

/// The block that holds the parts of a polymorphic variant. A single part is in the second field of
/// the value itself. Several parts are in a tuple in that field.
///
/// # Safety
///
/// The value is a block of tag 0 and size 2.
unsafe fn tagged(
    value: Value<'_, OCamlAny>,
    hash: isize,
    count: usize,
) -> Option<Value<'_, OCamlAny>> {
    // SAFETY: the block has two fields (caller).
    let (first, argument): (Value<'_, OCamlAny>, Value<'_, OCamlAny>) =
        unsafe { (value.field(0), value.field(1)) };
    match argument.kind() {
        _ if first.kind() != Kind::Immediate(hash) => None,
        _ if count == 1 => Some(value),
        kind => (kind == Kind::Block { tag: 0, size: count }).then_some(argument),
    }
}

impl<'l, M: Declared, const C: isize> Parts<'l, M, C> {
    /// Whether the parts are fields of a block.
    const ARE_FIELDS: bool = !is_flat::<M>() && !is_unboxed::<M>();

    /// The number of the field that is the first part.
    const FIRST: usize = match constructor::<M>(C) {
        Constructor::Tagged(_, 1) => 1,
        _ => 0,
    };

    /// Copies the part with the number `P`. An error names the part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub fn read<const P: usize, T, R: FromOCaml<T>>(
        self,
        name: &'static str,
        lock: &'l DomainLock,
    ) -> Result<R, ConversionError>
    where
        M: Part<C, P, T>,
    {
        if Self::ARE_FIELDS {
            // SAFETY: these are the parts of a value of this constructor (`parts`), and this one is
            // a `T` (`Part`).
            unsafe { read(self.parts, Self::FIRST + P, name, lock) }
        } else {
            // SAFETY: the value is a record in the flat form, or the part itself, a `T` (`Part`).
            unsafe { read_other(self.parts, const { is_flat::<M>() }.then_some(P), name, lock) }
        }
    }
}

/// Copies the field with this index. An error names the part. The function depends only on the
/// types of the part, so all declared types share it.
///
/// # Safety
///
/// The block has this field, and it is a `T`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn read<'l, T, R: FromOCaml<T>>(
    block: Value<'l, OCamlAny>,
    index: usize,
    name: &'static str,
    lock: &'l DomainLock,
) -> Result<R, ConversionError> {
    // SAFETY: the block has this field, which is a `T` (caller).
    match unsafe { block.field::<T>(index) }.to_rust(lock) {
        Ok(part) => Ok(part),
        Err(error) => Err(error.within(name)),
    }
}

/// Like [`read`], for the number with this index in a record in the flat form of floats. Without an
/// index, copies the value itself.
///
/// # Safety
///
/// Without an index, the value is a `T`.
#[track_caller]
unsafe fn read_other<'l, T, R: FromOCaml<T>>(
    value: Value<'l, OCamlAny>,
    index: Option<usize>,
    name: &'static str,
    lock: &'l DomainLock,
) -> Result<R, ConversionError> {
    let part = match index {
        // SAFETY: the value is a `T` (caller).
        None => unsafe { Value::<T>::from_raw(value.raw()) }.to_rust(lock),
        Some(index) => match value.flat_float(index) {
            Some(x) => R::from_float(x),
            None => Err(ConversionError::new(ConversionErrorKind::Mismatch)),
        },
    };
    part.map_err(|error| error.within(name))
}

/// Copies the only part of an unboxed value that an array or a record in the flat form stores as
/// the number `x`.
pub fn read_float<M: Part<C, 0, T>, const C: isize, T, R: FromOCaml<T>>(
    x: f64,
) -> Result<R, ConversionError> {
    match const { constructor::<M>(C) } {
        Constructor::Unboxed => R::from_float(x),
        _ => Err(ConversionError::new(ConversionErrorKind::Mismatch)),
    }
}
