//! Makes values of declared types from their parts, and takes them apart.

// Types with many parts instantiate the generic functions here many times. Therefore these
// functions are short, and call functions with fewer type parameters or none. rustc takes longer
// for `?` and `map`.
#![allow(clippy::question_mark, clippy::manual_map)]

use super::form::{
    constructor, constructors, is_flat, is_polymorphic, is_unboxed, size, Constructor,
    Constructors, Declared, HasParts, Public,
};
use crate::raw::ValueExt;
use crate::types::array::flat_array;
use crate::types::block::block;
use crate::types::depth::level;
use crate::types::form::{does_not_belong, Form, DOUBLE_ARRAY_TAG};
use crate::types::kept::Kept;
use crate::types::markers::OCamlFloat;
use crate::types::several::{Holder, Sources, Targets, Types};
use crate::types::{FromOCaml, Made};
use crate::value::block_head;
use crate::{Boxroot, ConversionError, ConversionErrorKind, DomainLock, Kind, OCamlAny, Value};
use std::any::type_name;
use std::marker::PhantomData;

/// The constructor of `M` that has the number `CONSTRUCTOR`.
pub struct Numbered<M, const CONSTRUCTOR: isize>(pub PhantomData<M>);

/// Whether a constructor has `count` parts, of these types.
pub(super) const fn has_parts<M: HasParts<C, T>, T: Types, const C: isize>(count: usize) -> bool {
    size(constructor::<M>(C)) == count && T::COUNT == count
}

/// Makes a value of this constructor from Rust values. Errors use these names for the parts.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn make<'l, 'a, M, S: Sources<'a, T>, T: Types, const C: isize, const N: usize>(
    _: Numbered<M, C>,
    names: &'static [&'static str; N],
    parts: S,
    lock: &'l mut DomainLock,
) -> Made<'l, M>
where
    M: Public + HasParts<C, T>,
{
    const { assert!(has_parts::<M, T, C>(N)) };
    let made = if const { is_flat::<M>() } {
        make_flat(names, parts, lock)
    } else {
        // SAFETY: the constructor has `N` parts (see above).
        unsafe { make_block(const { constructor::<M>(C) }, names, parts, lock) }
    };
    match made {
        // SAFETY: these are all parts of the constructor, in order, and each has its type
        // (`HasParts`). The new value is OCaml's representation of an `M` (`Declared`), which Rust
        // may make (`Public`).
        Ok((value, lock)) => Ok((unsafe { Value::from_raw(value.raw()) }, lock)),
        Err(error) => Err(error),
    }
}

/// Like [`make`], for a constructor that is not in the flat form. All types with such parts share
/// this function.
///
/// # Safety
///
/// The constructor has `N` parts, of the types `T`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn make_block<'l, 'a, T, S: Sources<'a, T>, const N: usize>(
    constructor: Constructor,
    names: &'static [&'static str; N],
    parts: S,
    lock: &'l mut DomainLock,
) -> Made<'l, OCamlAny> {
    let _level = match level(const { S::NEST }) {
        Ok(level) => level,
        Err(error) => return Err(error),
    };
    let mut kept = Kept::places::<N>();
    let converted = parts.keep(&mut kept, lock);
    // SAFETY: the constructor has these parts (caller).
    unsafe { construct(lock, constructor, kept, names, converted) }
}

/// Like [`make`], for a record in the flat form.
#[track_caller]
fn make_flat<'l, 'a, T, const N: usize>(
    names: &'static [&'static str; N],
    parts: impl Sources<'a, T>,
    lock: &'l mut DomainLock,
) -> Made<'l, OCamlAny> {
    let mut numbers = [0.; N];
    match parts.write(&mut numbers, lock) {
        Ok(()) => {
            let (record, lock) = flat_array::<OCamlFloat, f64>(&numbers, lock)?;
            Ok((record.any(), lock))
        }
        Err((index, error)) => Err(error.within(names[index])),
    }
}

/// The value of a constructor without parts.
#[cfg_attr(not(debug_assertions), inline(always))]
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

/// Calls `f` in a separate stack frame. Without optimisation, a function's frame has room for every
/// value in its body. With separate frames, the space for one constructor of a type is not in use
/// while a part of another constructor is converted.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn apart<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Makes a value of this constructor, which is not flat, from these parts, if the result of
/// converting them is `Ok`.
///
/// # Safety
///
/// The constructor has `N` parts.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn construct<'l, const N: usize>(
    lock: &'l mut DomainLock,
    constructor: Constructor,
    mut parts: [Kept<'_>; N],
    names: &'static [&'static str; N],
    converted: Result<(), (usize, ConversionError)>,
) -> Made<'l, OCamlAny> {
    if let Err((index, error)) = converted {
        return Err(error.within(names[index]));
    }
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
            Constructor::Flat(_) => unreachable!("numbers have no values"),
            // `made` would take 0 for an error, but the part may be 0: a NULL pointer (OCaml 4).
            Constructor::Unboxed => Ok((Value::from_raw(parts[0].replace().take(lock)), lock)),
        }
    }
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

/// The error for a value that has none of the constructors.
#[cold]
pub fn mismatch<M>(Opened(value, ..): Opened<'_, M>) -> ConversionError {
    does_not_belong(value, type_name::<M>())
}

/// Whether the value has the constructor `C`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn is<M: Declared, const C: isize>(Opened(value, head, _): &Opened<'_, M>) -> bool {
    take_apart(*value, *head, const { constructor::<M>(C) }).is_some()
}

/// Copies the parts, if the value has the constructor `C`. Errors use these names for them.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn take<'l, M, T, R, const C: isize>(
    Opened(value, head, _): &Opened<'l, M>,
    names: &'static [&'static str],
    lock: &'l DomainLock,
) -> Option<Result<R, ConversionError>>
where
    M: HasParts<C, T>,
    T: Types,
    R: Targets<T>,
{
    const { assert!(has_parts::<M, T, C>(T::COUNT)) };
    let Some(parts) = take_apart(*value, *head, const { constructor::<M>(C) }) else { return None };
    // SAFETY: these are the parts of a value of this constructor, and have these types
    // (`HasParts`).
    Some(unsafe {
        if const { is_flat::<M>() || is_unboxed::<M>() } {
            read(Whole(parts, const { is_flat::<M>() }), names, lock)
        } else {
            read(Fields(parts, const { first::<M>(C) }), names, lock)
        }
    })
}

/// The number of the field that is the first part of this constructor.
const fn first<M: Declared>(constructor_number: isize) -> usize {
    match constructor::<M>(constructor_number) {
        Constructor::Tagged(_, 1) => 1,
        _ => 0,
    }
}

/// Copies all parts. All types with such parts share this function.
///
/// # Safety
///
/// The parts have the types `T`.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
unsafe fn read<'l, T, R: Targets<T>, H: Holder<'l>>(
    holder: H,
    names: &'static [&'static str],
    lock: &'l DomainLock,
) -> Result<R, ConversionError> {
    let _level = match level(const { R::NEST }) {
        Ok(level) => level,
        Err(error) => return Err(error),
    };
    // SAFETY: the parts have these types (caller).
    unsafe { R::read(holder, 0, names, lock) }
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

/// A block whose fields are the parts, from the field with this index on.
#[derive(Clone, Copy)]
struct Fields<'l>(Value<'l, OCamlAny>, usize);

impl<'l> Holder<'l> for Fields<'l> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn read<T, R: FromOCaml<T>>(
        self,
        index: usize,
        names: &'static [&'static str],
        lock: &'l DomainLock,
    ) -> Result<R, ConversionError> {
        // SAFETY: the block has this field, which is a `T` (caller).
        match unsafe { self.0.field::<T>(self.1 + index) }.to_rust(lock) {
            Ok(part) => Ok(part),
            Err(error) => Err(error.within(names[index])),
        }
    }
}

/// A record in the flat form of floats, if the second field is true. Otherwise, the value of an
/// unboxed type, which is the only part.
#[derive(Clone, Copy)]
struct Whole<'l>(Value<'l, OCamlAny>, bool);

impl<'l> Holder<'l> for Whole<'l> {
    unsafe fn read<T, R: FromOCaml<T>>(
        self,
        index: usize,
        names: &'static [&'static str],
        lock: &'l DomainLock,
    ) -> Result<R, ConversionError> {
        let part = match self.1 {
            // SAFETY: the value is a `T` (caller).
            false => unsafe { Value::<T>::from_raw(self.0.raw()) }.to_rust(lock),
            true => match self.0.flat_float(index) {
                Some(x) => R::from_float(x),
                None => Err(ConversionError::new(ConversionErrorKind::Mismatch)),
            },
        };
        part.map_err(|error| error.within(names[index]))
    }
}

/// Copies the only part of an unboxed value that an array or a record in the flat form stores as
/// the number `x`.
pub fn read_float<M: HasParts<0, (T,)>, T, R: FromOCaml<T>>(x: f64) -> Result<R, ConversionError> {
    match const { constructor::<M>(0) } {
        Constructor::Unboxed => R::from_float(x),
        _ => Err(ConversionError::new(ConversionErrorKind::Mismatch)),
    }
}
