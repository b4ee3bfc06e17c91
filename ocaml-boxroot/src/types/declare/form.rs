//! The form of a declared type, and how OCaml represents it. All of this is known at compile time.

use crate::types::block::LAST_CONSTRUCTOR;
use crate::types::markers::OCamlFloat;
use crate::types::OneType;
use std::marker::PhantomData;

/// How OCaml represents a constructor of a type. A record is a type with one constructor.
#[derive(Clone, Copy, PartialEq)]
pub enum Constructor {
    /// A constructor without arguments: an immediate.
    Constant(isize),
    /// A constructor with arguments, or a record: a block with this tag and this number of fields.
    Block(u8, usize),
    /// A constructor of a polymorphic variant, with this hash and this number of arguments: a block
    /// with the hash and the argument, or, for several arguments, a tuple of them.
    Tagged(isize, usize),
    /// A record of this number of floats: a block of numbers in a row.
    Flat(usize),
    /// Not represented: the value is that of its only part.
    Unboxed,
}

/// The constructors, each with the number by which [`Part`] and the conversions name it.
pub type Constructors = &'static [(isize, Constructor)];

/// The number by which bindings name a constructor without arguments. They name the others by their
/// tags and hashes, which are literals, and so compile faster. This number is none of those.
pub const fn constant_number(constant: isize) -> isize {
    constant.wrapping_add(isize::MAX / 2)
}

/// How many parts there are.
pub const fn count(parts: &[usize]) -> usize {
    parts.len()
}

/// The number of parts of a constructor.
pub(super) const fn size(constructor: Constructor) -> usize {
    match constructor {
        Constructor::Constant(_) => 0,
        Constructor::Block(_, size) | Constructor::Tagged(_, size) | Constructor::Flat(size) => {
            size
        }
        Constructor::Unboxed => 1,
    }
}

/// A marker of [`ocaml_type!`](crate::ocaml_type!) or [`bound_type!`](crate::bound_type!). It is
/// implemented once for each marker. Therefore the compiler rejects a second declaration of a
/// marker with another form, and a declaration for another crate's marker.
///
/// # Safety
///
/// All values of this type have this form, and their parts have the types that [`Part`] says.
/// `CHECKED` is a call of [`check`] with the constructors and all parts. `IS_FLOAT` is whether this
/// is an unboxed type whose part is a float.
pub unsafe trait Declared: Sized {
    /// The constructors, as OCaml represents them.
    const CONSTRUCTORS: Constructors;
    /// Does not compile if no OCaml type has these constructors.
    const CHECKED: ();
    /// Whether the values are floats.
    const IS_FLOAT: bool = false;
}

/// The constructors, checked.
pub(super) const fn constructors<M: Declared>() -> Constructors {
    let () = M::CHECKED;
    M::CONSTRUCTORS
}

/// Whether the type is a polymorphic variant, which its constants tell: those of other types are
/// numbered in order.
pub(super) fn is_polymorphic(constructors: Constructors) -> bool {
    let mut constants = 0..;
    constructors.iter().any(|(_, constructor)| match constructor {
        Constructor::Constant(n) => Some(*n) != constants.next(),
        Constructor::Tagged(..) => true,
        _ => false,
    })
}

/// Whether the values are records in the flat form of floats.
pub const fn is_flat<M: Declared>() -> bool {
    matches!(constructors::<M>(), [(_, Constructor::Flat(_))])
}

/// Whether the values are those of their only part.
pub(super) const fn is_unboxed<M: Declared>() -> bool {
    matches!(constructors::<M>(), [(_, Constructor::Unboxed)])
}

/// Whether the values are records, be they flat or not.
pub(super) const fn is_record<M: Declared>() -> bool {
    matches!(constructors::<M>(), [(0, Constructor::Flat(_) | Constructor::Block(0, _))])
}

/// The constructor with this number.
pub(super) const fn constructor<M: Declared>(number: isize) -> Constructor {
    let constructors = constructors::<M>();
    let mut i = 0;
    while constructors[i].0 != number {
        i += 1;
    }
    constructors[i].1
}

/// Says that a part of a declared type, which is a field or an argument of a constructor, has this
/// type.
///
/// # Safety
///
/// The part with number `PART` of the constructor with number `CONSTRUCTOR` is a `T`.
#[diagnostic::on_unimplemented(
    message = "no part number {PART} of type `{T}` is declared for `{Self}`",
    label = "the Rust type has a field or an argument that an OCaml `{T}` is made from, where another type is declared"
)]
pub unsafe trait Part<const CONSTRUCTOR: isize, const PART: usize, T>: Declared {}

/// Says that Rust may make values of a declared type: it is not private.
///
/// # Safety
///
/// A value whose parts have their types is a value of this type.
#[diagnostic::on_unimplemented(message = "only OCaml makes values of `{Self}`")]
pub unsafe trait Public: Declared {}

/// The type of a part, for `Send` and `Sync`. Through the bound, the compiler compares it with that
/// of [`Part`]: a macro in the place of the type may expand to another one each time.
pub struct PartType<M: Part<C, P, T>, const C: isize, const P: usize, T>(
    PhantomData<(T, fn() -> M)>,
);

/// A value of a declared type with these parts (a tuple), for [`OneType`]: if the type is unboxed,
/// it is the only part. (The lifetime makes the compiler check for `OneType` at each use, and not
/// at the declaration of the type.)
pub struct Whole<'a, M, Parts, const IS_UNBOXED: bool>(PhantomData<(&'a (), M, Parts)>);

// SAFETY: no value of OCaml has this type. A block of a declared type is of that type, no matter
// what it contains.
unsafe impl<M, Parts> OneType for Whole<'_, M, Parts, false> {}
// SAFETY: no value of OCaml has this type. By the bound on `M`, `T` is the type of its part (see
// `PartType`).
unsafe impl<M: Part<0, 0, T>, T: OneType> OneType for Whole<'_, M, (T,), true> {
    const CHECKED: () = T::CHECKED;
}

/// Checks that the constructors have different numbers, and different representations, which OCaml
/// has; that their parts are these, in this order, each given by the number of its constructor and
/// its own; and that `is_unboxed` is right.
pub const fn check(constructors: Constructors, parts: &[(isize, usize)], is_unboxed: bool) {
    assert!(is_unboxed == matches!(constructors, [(_, Constructor::Unboxed)]));
    let (mut i, mut next) = (0, 0);
    while i < constructors.len() {
        let (number, this) = constructors[i];
        let mut j = 0;
        while j < i {
            assert!(constructors[j].0 != number, "two constructors have the same name");
            assert!(are_different(constructors[j].1, this), "two constructors have the same form");
            j += 1;
        }
        let is_alone = constructors.len() == 1;
        if let Constructor::Constant(n) | Constructor::Tagged(n, _) = this {
            assert!(is_int(n), "a constructor's number is none of OCaml's integers");
        }
        assert!(match this {
            Constructor::Constant(_) => true,
            Constructor::Block(tag, size) => size > 0 && tag <= LAST_CONSTRUCTOR,
            Constructor::Tagged(_, size) => size > 0,
            Constructor::Flat(size) => size > 0 && is_alone,
            Constructor::Unboxed => is_alone,
        });
        let mut part = 0;
        while part < size(this) {
            assert!(next < parts.len() && parts[next].0 == number && parts[next].1 == part);
            part += 1;
            next += 1;
        }
        i += 1;
    }
    assert!(next == parts.len());
}

/// Whether no value can be of both constructors, with any parts. (Those that are alone in their
/// type do not matter.)
const fn are_different(a: Constructor, b: Constructor) -> bool {
    match (a, b) {
        (Constructor::Constant(a), Constructor::Constant(b)) => a != b,
        (Constructor::Block(a, _), Constructor::Block(b, _)) => a != b,
        (Constructor::Tagged(a, _), Constructor::Tagged(b, _)) => a != b,
        // A `Tagged` is a block of this tag and size, and the first field of the other one may be
        // the hash.
        (Constructor::Block(tag, size), Constructor::Tagged(..))
        | (Constructor::Tagged(..), Constructor::Block(tag, size)) => tag != 0 || size != 2,
        _ => true,
    }
}

/// Whether this is a number of OCaml, which has one bit less. Two others could be one for OCaml.
const fn is_int(n: isize) -> bool {
    (n << 1) >> 1 == n
}

/// Whether a `T` is represented as a float.
pub struct IsFloat<T>(bool, PhantomData<T>);

/// `Probe::<T>::IS_FLOAT` is whether `T`, which is not a parameter there, is represented as a
/// float.
pub struct Probe<T>(PhantomData<T>);

impl Probe<OCamlFloat> {
    /// Rust prefers this constant to that of [`NotFloat`].
    pub const IS_FLOAT: IsFloat<OCamlFloat> = IsFloat(true, PhantomData);
}

impl<T: Declared> Probe<T> {
    /// Rust prefers this constant to that of [`NotFloat`].
    pub const IS_FLOAT: IsFloat<T> = IsFloat(T::IS_FLOAT, PhantomData);
}

/// The constant for all other types.
pub trait NotFloat<T> {
    /// Such a type is not represented as a float.
    const IS_FLOAT: IsFloat<T> = IsFloat(false, PhantomData);
}

impl<T> NotFloat<T> for Probe<T> {}

/// Whether a part is a float.
pub const fn is_float<M: Part<C, P, T>, const C: isize, const P: usize, T>(
    is_float: IsFloat<T>,
) -> bool {
    is_float.0
}
