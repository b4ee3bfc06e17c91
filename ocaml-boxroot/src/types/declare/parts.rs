//! Values of declared types: made of their parts, and taken apart.

use super::form::{constructor, Constructor, Declared, Layout, Part};
use crate::types::block::{block, rooted};
use crate::types::{FromOCaml, OCamlFloat, ToOCaml};
use crate::{ffi, Boxroot, DomainLock, Error, Kind, OCamlAny, RootRef, Value};
use std::marker::PhantomData;

/// A root of a part of a new value: of that constructor of an `M`, the part with that number.
pub struct PartRoot<M, const CONSTRUCTOR: usize> {
    root: Boxroot<OCamlAny>,
    part: usize,
    _type: PhantomData<M>,
}

/// A copy of a Rust value as a part of an `M`.
#[track_caller]
pub fn part<M: Part<C, P, T>, const C: usize, const P: usize, T, R: ToOCaml<T>>(
    value: &R,
    lock: &mut DomainLock,
) -> Result<PartRoot<M, C>, Error> {
    let root = value.to_ocaml(lock)?.into_any();
    Ok(PartRoot { root, part: P, _type: PhantomData })
}

/// A root for a new value: that constructor, with these parts, which must be all.
#[track_caller]
pub fn make<M: Declared, const C: usize, const N: usize>(
    lock: &mut DomainLock,
    parts: [PartRoot<M, C>; N],
) -> Result<Boxroot<M>, Error> {
    const { assert!(M::FORM[C].1.len() == N) };
    assert!(parts.iter().enumerate().all(|(i, part)| part.part == i));
    let fields = parts.each_ref().map(|part| &*part.root);
    // SAFETY: these are all parts of the constructor, in order, and each has its type (`part`). So each block and each
    // immediate that is made here is OCaml's representation of an `M` (`Declared`). The fields are floats if `IS_FLAT`.
    unsafe {
        match const { constructor::<M>(C) } {
            _ if M::IS_FLAT => flat(lock, &fields),
            Constructor::Constant(n) => {
                Boxroot::try_new(lock, Value::from_raw(Value::int(n).raw()))
            }
            Constructor::Block(tag, _) => block(lock, tag, &fields),
            Constructor::Polymorphic(hash, 1) => {
                let hash = Boxroot::try_new(lock, Value::int(hash))?;
                block(lock, 0, &[hash.as_any(), fields[0]])
            }
            Constructor::Polymorphic(hash, _) => {
                let hash = Boxroot::try_new(lock, Value::int(hash))?;
                let tuple: Boxroot<OCamlAny> = block(lock, 0, &fields)?;
                block(lock, 0, &[hash.as_any(), &tuple])
            }
            Constructor::Unboxed => fields[0].cast().clone_in(lock),
        }
    }
}

/// A root for a new record in the flat form.
///
/// # Safety
///
/// The fields are floats, and such a record is an `M`.
#[track_caller]
unsafe fn flat<M>(
    lock: &mut DomainLock,
    fields: &[&RootRef<OCamlAny>],
) -> Result<Boxroot<M>, Error> {
    let mut floats = Vec::with_capacity(fields.len());
    for field in fields {
        // SAFETY: the field is a float (caller).
        floats.push(unsafe { field.cast::<OCamlFloat>() }.get(lock).to_float());
    }
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. Such a block
    // is an `M` (caller).
    unsafe { rooted(ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()), lock) }
}

/// A copy of a field of a record, or of the only part of an unboxed type.
#[track_caller]
pub fn read<'l, M: Part<0, P, T>, const P: usize, T, R: FromOCaml<T>>(
    value: Value<'l, M>,
    lock: &'l DomainLock,
) -> Result<R, Error> {
    match M::LAYOUT {
        Layout::Record if M::IS_FLAT => R::from_float(value.flat_float(P).ok_or(Error::Mismatch)?),
        // SAFETY: the record has this field (`Part`).
        Layout::Record => R::from_ocaml(unsafe { value.field(P) }, lock),
        // SAFETY: the value is that of its part (`Part`).
        Layout::Unboxed => R::from_ocaml(unsafe { Value::from_raw(value.raw()) }, lock),
        Layout::Ordinary | Layout::Polymorphic => Err(Error::Mismatch),
    }
}

/// [`read`] for a value that is the number `x` in the flat form of an array or a record.
pub fn read_float<M: Part<0, P, T>, const P: usize, T, R: FromOCaml<T>>(
    x: f64,
) -> Result<R, Error> {
    match M::LAYOUT {
        Layout::Unboxed => R::from_float(x),
        _ => Err(Error::Mismatch),
    }
}

/// The arguments of a value of a variant, which is of that constructor. They are fields of a block, from a first one on.
pub struct Parts<'l, M, const CONSTRUCTOR: usize> {
    block: Value<'l, OCamlAny>,
    first: usize,
    _type: PhantomData<M>,
}

impl<M, const C: usize> Clone for Parts<'_, M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, const C: usize> Copy for Parts<'_, M, C> {}

/// The arguments, if the value is of that constructor of a variant.
pub fn parts<M: Declared, const C: usize>(value: Value<'_, M>) -> Option<Parts<'_, M, C>> {
    // SAFETY: every value is an `OCamlAny`.
    let block: Value<'_, OCamlAny> = unsafe { Value::from_raw(value.raw()) };
    let (block, first) = match const { constructor::<M>(C) } {
        Constructor::Constant(n) => (block.kind() == Kind::Immediate(n)).then_some((block, 0)),
        Constructor::Block(tag, size) => {
            (block.kind() == Kind::Block { tag, size }).then_some((block, 0))
        }
        Constructor::Polymorphic(hash, count) => polymorphic_parts(block, hash, count),
        Constructor::Unboxed => None,
    }?;
    Some(Parts { block, first, _type: PhantomData })
}

/// The block of a polymorphic variant with the arguments, and the number of the first one.
fn polymorphic_parts(
    block: Value<'_, OCamlAny>,
    hash: isize,
    count: usize,
) -> Option<(Value<'_, OCamlAny>, usize)> {
    let Kind::Block { tag: 0, size: 2 } = block.kind() else { return None };
    // SAFETY: the block has two fields (just checked).
    let (first, argument): (Value<'_, OCamlAny>, Value<'_, OCamlAny>) =
        unsafe { (block.field(0), block.field(1)) };
    match argument.kind() {
        _ if first.kind() != Kind::Immediate(hash) => None,
        _ if count == 1 => Some((block, 1)),
        kind => (kind == Kind::Block { tag: 0, size: count }).then_some((argument, 0)),
    }
}

impl<'l, M: Declared, const C: usize> Parts<'l, M, C> {
    /// A copy of the argument with that number.
    #[track_caller]
    pub fn read<const P: usize, T, R: FromOCaml<T>>(self, lock: &'l DomainLock) -> Result<R, Error>
    where
        M: Part<C, P, T>,
    {
        // SAFETY: the block has the arguments of this constructor (`parts`), with these types (`Part`).
        R::from_ocaml(unsafe { self.block.field(self.first + P) }, lock)
    }
}
