//! Values of declared types: made of their parts, and taken apart.

use super::form::{
    constructor, constructors, is_polymorphic, size, Constructor, Constructors, Declared, Part,
    Public,
};
use crate::types::block::{block, rooted};
use crate::types::form::{Form, DOUBLE_ARRAY_TAG, DOUBLE_TAG};
use crate::types::unconverted::Unconverted;
use crate::types::{FromOCaml, OCamlFloat, ToOCaml};
use crate::{ffi, Boxroot, DomainLock, Error, Kind, OCamlAny, RootRef, Value};
use std::marker::PhantomData;

// Types with many parts make many instances of the generic functions here, so these are short, and call functions with fewer
// parameters or none.

/// A Rust value for a part of a new value, of that constructor of an `M`.
#[repr(transparent)]
pub struct PartOf<'a, M, const CONSTRUCTOR: isize>(Source<'a>, PhantomData<M>);

/// A Rust value for the part with that number.
struct Source<'a> {
    part: usize,
    value: Unconverted<'a>,
}

/// A Rust value for a part of an `M`. An error says that it is in the part of this name.
#[inline]
pub fn part<'a, M: Part<C, P, T>, const C: isize, const P: usize, T, R: ToOCaml<T>>(
    value: &'a R,
    name: &'static str,
) -> PartOf<'a, M, C> {
    PartOf(Source { part: P, value: Unconverted::new(value, name) }, PhantomData)
}

/// Calls `f`, with a frame of its own. What a type with many constructors needs for one of them is not on the stack while a part of
/// another one is converted. (Without optimisation, the frame of a function has room for each value of its whole body.)
#[inline(never)]
pub fn apart<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// A root for a new value: that constructor, with these parts, which must be all.
#[inline]
#[track_caller]
pub fn make<M: Public, const C: isize, const N: usize>(
    lock: &mut DomainLock,
    parts: &[PartOf<'_, M, C>; N],
) -> Result<Boxroot<M>, Error> {
    const { assert!(size(constructor::<M>(C)) == N) };
    // SAFETY: a `PartOf` is laid out like its `Source` (`repr(transparent)`).
    let parts: &[Source<'_>; N] = unsafe { &*(&raw const *parts).cast() };
    // SAFETY: these are as many parts as the constructor has, and each has its type (`part`). So if they are in order, the
    // value that is made here is OCaml's representation of an `M` (`Declared`), which may be made (`Public`).
    match unsafe { construct(lock, const { constructor::<M>(C) }, parts) } {
        // SAFETY: as above.
        Ok(root) => Ok(unsafe { root.cast_into() }),
        Err(error) => Err(error),
    }
}

/// A root for a value of that constructor, with these parts, which are converted in order.
///
/// # Panics
///
/// If the parts are not in order.
///
/// # Safety
///
/// The parts are as many as the constructor has.
#[track_caller]
unsafe fn construct<const N: usize>(
    lock: &mut DomainLock,
    constructor: Constructor,
    parts: &[Source<'_>; N],
) -> Result<Boxroot<OCamlAny>, Error> {
    let mut roots = [const { None }; N];
    for (i, part) in parts.iter().enumerate() {
        assert!(part.part == i);
        match part.value.to_ocaml(lock) {
            Ok(root) => roots[i] = Some(root),
            Err(error) => return Err(error.within(part.value.name)),
        }
    }
    let fields = roots.each_ref().map(|root| &**root.as_ref().expect("all parts are converted"));
    // SAFETY: the fields are as many as the constructor has (caller).
    unsafe { with_fields(lock, constructor, &fields) }
}

/// A root for a value of that constructor, with these fields.
///
/// # Safety
///
/// The fields are as many as the constructor has.
#[track_caller]
unsafe fn with_fields(
    lock: &mut DomainLock,
    constructor: Constructor,
    fields: &[&RootRef<OCamlAny>],
) -> Result<Boxroot<OCamlAny>, Error> {
    // SAFETY: the blocks have tags of blocks with fields, and are of any type.
    unsafe {
        match constructor {
            Constructor::Constant(n) => {
                Boxroot::try_new(lock, Value::from_raw(Value::int(n).raw()))
            }
            Constructor::Block(tag, _) => block(lock, tag, fields),
            Constructor::Tagged(hash, 1) => {
                let hash = Boxroot::try_new(lock, Value::int(hash))?;
                block(lock, 0, &[hash.as_any(), fields[0]])
            }
            Constructor::Tagged(hash, _) => {
                let hash = Boxroot::try_new(lock, Value::int(hash))?;
                let tuple: Boxroot<OCamlAny> = block(lock, 0, fields)?;
                block(lock, 0, &[hash.as_any(), &tuple])
            }
            Constructor::Flat(_) => flat(lock, fields),
            Constructor::Unboxed => fields[0].clone_in(lock),
        }
    }
}

/// A root for a new record in the flat form.
///
/// # Errors
///
/// [`Error::Mismatch`] if a field is no float.
#[track_caller]
fn flat(lock: &mut DomainLock, fields: &[&RootRef<OCamlAny>]) -> Result<Boxroot<OCamlAny>, Error> {
    let mut floats = Vec::with_capacity(fields.len());
    for field in fields {
        if !matches!(field.get(lock).kind(), Kind::Block { tag: DOUBLE_TAG, .. }) {
            return Err(Error::Mismatch);
        }
        // SAFETY: the field is a block with the tag of floats, which only floats have.
        floats.push(unsafe { field.cast::<OCamlFloat>() }.get(lock).to_float());
    }
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. Such a block
    // is of any type.
    unsafe { rooted(ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()), lock) }
}

impl<M: Declared> Form for M {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        is_one_of(value, const { constructors::<M>() })
    }
}

/// Whether a value may be of one of these constructors.
fn is_one_of(value: Value<'_, OCamlAny>, constructors: Constructors) -> bool {
    let is_one = |(_, constructor): &(isize, Constructor)| {
        take_apart(value, value.kind(), *constructor).is_some()
    };
    constructors.iter().any(is_one) || is_polymorphic(constructors) && is_tagged(value)
}

/// Whether a value is one of some polymorphic variant. An open type has constructors that the declaration does not name.
fn is_tagged(value: Value<'_, OCamlAny>) -> bool {
    match value.kind() {
        Kind::Immediate(_) => true,
        // SAFETY: such a block (just checked).
        Kind::Block { tag: 0, size: 2 } => unsafe { value.field::<OCamlAny>(0) }.is_immediate(),
        _ => false,
    }
}

/// The parts of a value that is of that constructor: fields of a block, from a first one on.
pub struct Parts<'l, M, const CONSTRUCTOR: isize> {
    parts: Fields<'l>,
    _type: PhantomData<M>,
}

impl<M, const C: isize> Clone for Parts<'_, M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, const C: isize> Copy for Parts<'_, M, C> {}

/// Where the parts of a value are.
#[derive(Clone, Copy)]
enum Fields<'l> {
    /// In a block, from the field with that number on.
    Block(Value<'l, OCamlAny>, usize),
    /// In a block of numbers.
    Flat(Value<'l, OCamlAny>),
    /// The value is the part.
    Unboxed(Value<'l, OCamlAny>),
}

/// A value, and what its memory says.
pub struct Opened<'l, M>(Value<'l, OCamlAny>, Kind, PhantomData<M>);

/// Reads what a value's memory says, so that the value can be taken apart.
#[inline]
pub fn open<M: Declared>(value: Value<'_, M>) -> Opened<'_, M> {
    let value = value.any();
    Opened(value, value.kind(), PhantomData)
}

/// The parts, if the value is of that constructor.
#[inline]
pub fn parts<'l, M: Declared, const C: isize>(
    Opened(value, kind, _): &Opened<'l, M>,
) -> Option<Parts<'l, M, C>> {
    match take_apart(*value, *kind, const { constructor::<M>(C) }) {
        Some(parts) => Some(Parts { parts, _type: PhantomData }),
        None => None,
    }
}

/// The parts, if the value, which is of that kind, is of that constructor.
fn take_apart(
    value: Value<'_, OCamlAny>,
    kind: Kind,
    constructor: Constructor,
) -> Option<Fields<'_>> {
    match (constructor, kind) {
        (Constructor::Constant(n), Kind::Immediate(m)) if n == m => Some(Fields::Block(value, 0)),
        (Constructor::Block(tag, size), _) if kind == (Kind::Block { tag, size }) => {
            Some(Fields::Block(value, 0))
        }
        (Constructor::Tagged(hash, count), Kind::Block { tag: 0, size: 2 }) => {
            // SAFETY: such a block (just checked).
            unsafe { tagged(value, hash, count) }
        }
        // The block has more words than numbers where a number takes two.
        (Constructor::Flat(_), Kind::Block { tag: DOUBLE_ARRAY_TAG, .. }) => {
            Some(Fields::Flat(value))
        }
        (Constructor::Unboxed, _) => Some(Fields::Unboxed(value)),
        _ => None,
    }
}

/// The parts of a polymorphic variant: one in the second field of its block, or several in the tuple there.
///
/// # Safety
///
/// The value is a block of tag 0 and size 2.
unsafe fn tagged(value: Value<'_, OCamlAny>, hash: isize, count: usize) -> Option<Fields<'_>> {
    // SAFETY: the block has two fields (caller).
    let (first, argument): (Value<'_, OCamlAny>, Value<'_, OCamlAny>) =
        unsafe { (value.field(0), value.field(1)) };
    match argument.kind() {
        _ if first.kind() != Kind::Immediate(hash) => None,
        _ if count == 1 => Some(Fields::Block(value, 1)),
        kind => (kind == Kind::Block { tag: 0, size: count }).then_some(Fields::Block(argument, 0)),
    }
}

impl<'l, M: Declared, const C: isize> Parts<'l, M, C> {
    /// A copy of the part with that number. An error says that it is in the part of this name.
    #[inline]
    #[track_caller]
    pub fn read<const P: usize, T, R: FromOCaml<T>>(
        self,
        name: &'static str,
        lock: &'l DomainLock,
    ) -> Result<R, Error>
    where
        M: Part<C, P, T>,
    {
        // SAFETY: these are the parts of a value of this constructor (`parts`), and this one is a `T` (`Part`).
        unsafe { read(self.parts, P, name, lock) }
    }
}

/// A copy of the part with that number. An error says that it is in the part of this name. The function depends on the types of the
/// part alone, so all declared types share it.
///
/// # Safety
///
/// There is such a part, and it is a `T`.
#[inline]
#[track_caller]
unsafe fn read<'l, T, R: FromOCaml<T>>(
    parts: Fields<'l>,
    index: usize,
    name: &'static str,
    lock: &'l DomainLock,
) -> Result<R, Error> {
    let part = match parts {
        // SAFETY: the block has this field, which is a `T` (caller).
        Fields::Block(block, first) => R::from_ocaml(unsafe { block.field(first + index) }, lock),
        Fields::Flat(block) => match block.flat_float(index) {
            Some(x) => R::from_float(x),
            None => Err(Error::Mismatch),
        },
        // SAFETY: the value is its part, a `T` (caller).
        Fields::Unboxed(value) => R::from_ocaml(unsafe { Value::from_raw(value.raw()) }, lock),
    };
    match part {
        Ok(part) => Ok(part),
        Err(error) => Err(error.within(name)),
    }
}

/// A copy of the only part of a value that is the number `x` in the flat form of an array or a record.
pub fn read_float<M: Part<C, 0, T>, const C: isize, T, R: FromOCaml<T>>(
    x: f64,
) -> Result<R, Error> {
    match const { constructor::<M>(C) } {
        Constructor::Unboxed => R::from_float(x),
        _ => Err(Error::Mismatch),
    }
}
