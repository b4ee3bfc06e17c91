//! The form of a declared type, and how OCaml represents it. All of this is known at compile time.

use crate::types::block::LAST_CONSTRUCTOR;
use crate::types::markers::OCamlFloat;
use crate::types::several::Nth;
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
    /// A record of this number of floats: a block with the numbers in a row.
    Flat(usize),
    /// An unboxed type's constructor: the value is that of its only part.
    Unboxed,
}

/// The constructors, each with the number that [`HasParts`] and the conversions use for it.
pub type Constructors = &'static [(isize, Constructor)];

/// The number that bindings use for a constructor without arguments. For other constructors, they
/// use tags and hashes, because literals compile faster. This number differs from all of those.
pub const fn constant_number(constant: isize) -> isize {
    constant.wrapping_add(isize::MAX / 2)
}

/// The number of parts.
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

/// A marker that [`ocaml_type!`](crate::ocaml_type!) or [`bound_type!`](crate::bound_type!)
/// declares. The trait is implemented once for each marker. Therefore the compiler rejects a second
/// declaration of a marker with another form, and a declaration for another crate's marker.
///
/// # Safety
///
/// All values of this type have this form, and their parts have the types that [`HasParts`] says.
/// `CHECKED` is a call of [`check`] with the constructors, and with the number in each
/// implementation of [`HasParts`]. `IS_FLOAT` says whether this is an unboxed type whose part is a
/// float.
pub unsafe trait Declared: Sized {
    /// The constructors, as OCaml represents them.
    const CONSTRUCTORS: Constructors;
    /// Fails to compile if no OCaml type can have these constructors.
    const CHECKED: ();
    /// Whether the values are floats.
    const IS_FLOAT: bool = false;
}

/// The constructors, after checking them.
pub(super) const fn constructors<M: Declared>() -> Constructors {
    let () = M::CHECKED;
    M::CONSTRUCTORS
}

/// Whether the type is a polymorphic variant. Its constants show this, because those of other types
/// are numbered in order.
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

/// Whether the type is unboxed: each value is that of its only part.
pub(super) const fn is_unboxed<M: Declared>() -> bool {
    matches!(constructors::<M>(), [(_, Constructor::Unboxed)])
}

/// Whether the values are records, flat or not.
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

/// States the types of a constructor's parts.
///
/// # Safety
///
/// The parts of the constructor with number `CONSTRUCTOR` have these types, in order.
#[diagnostic::on_unimplemented(
    message = "constructor number {CONSTRUCTOR} of `{Self}` is not declared with the parts `{T}`",
    label = "the declaration has other types"
)]
pub unsafe trait HasParts<const CONSTRUCTOR: isize, T>: Declared {}

/// States that Rust may make values of a declared type, because the type is not private.
///
/// # Safety
///
/// A value whose parts have the declared types is a value of this type.
#[diagnostic::on_unimplemented(message = "only OCaml can make values of `{Self}`")]
pub unsafe trait Public: Declared {}

/// The types of a constructor's parts, for `Send` and `Sync`. The bound makes the compiler compare
/// them with those in [`HasParts`], because a macro in place of a type may expand to a different
/// type each time.
pub struct PartTypes<M: HasParts<C, T>, const C: isize, T>(PhantomData<(T, fn() -> M)>);

/// Stands for an unboxed type and the type of its only part in bounds of [`OneType`]: the unboxed
/// type is `OneType` if the part is. (The lifetime makes the compiler check for `OneType` at each
/// use, not at the declaration of the type.)
pub struct Only<'a, M, T>(PhantomData<(&'a (), M, T)>);

// SAFETY: no OCaml value has this type. The bound on `M` ensures that `T` is the type of its part
// (see `PartTypes`).
unsafe impl<M: HasParts<0, (T,)>, T: OneType> OneType for Only<'_, M, T> {
    const CHECKED: () = T::CHECKED;
}

/// Checks that no two constructors have the same number or the same representation, and that each
/// representation is possible in OCaml. Also checks that `parts` has the number of each constructor
/// with parts once, in order, and that `is_unboxed` is correct.
pub const fn check(constructors: Constructors, parts: &[isize], is_unboxed: bool) {
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
            assert!(is_int(n), "a constructor's number is out of range for OCaml's int");
        }
        assert!(match this {
            Constructor::Constant(_) => true,
            Constructor::Block(tag, size) => size > 0 && tag <= LAST_CONSTRUCTOR,
            Constructor::Tagged(_, size) => size > 0,
            Constructor::Flat(size) => size > 0 && is_alone,
            Constructor::Unboxed => is_alone,
        });
        // The stack space of a conversion grows with the square of this number.
        assert!(size(this) <= 256, "a record or constructor has more than 256 parts");
        if size(this) > 0 {
            assert!(next < parts.len() && parts[next] == number);
            next += 1;
        }
        i += 1;
    }
    assert!(next == parts.len(), "a constructor is declared twice");
}

/// Whether no value can have both constructors, whatever its parts are. (The result does not matter
/// for constructors that must be alone in their type.)
const fn are_different(a: Constructor, b: Constructor) -> bool {
    match (a, b) {
        (Constructor::Constant(a), Constructor::Constant(b)) => a != b,
        (Constructor::Block(a, _), Constructor::Block(b, _)) => a != b,
        (Constructor::Tagged(a, _), Constructor::Tagged(b, _)) => a != b,
        // A `Tagged` is a block of tag 0 and size 2. The first field of a `Block` with the same tag
        // and size may be the hash.
        (Constructor::Block(tag, size), Constructor::Tagged(..))
        | (Constructor::Tagged(..), Constructor::Block(tag, size)) => tag != 0 || size != 2,
        _ => true,
    }
}

/// Whether `n` fits into an OCaml integer, which has one bit less than `n`. Otherwise, two numbers
/// could be the same in OCaml.
const fn is_int(n: isize) -> bool {
    (n << 1) >> 1 == n
}

/// Whether a `T` is represented as a float.
pub struct IsFloat<T>(bool, PhantomData<T>);

/// `Probe::<T>::IS_FLOAT` says whether `T` is represented as a float. There, `T` must not be a type
/// parameter.
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
    /// These types are not represented as floats.
    const IS_FLOAT: IsFloat<T> = IsFloat(false, PhantomData);
}

impl<T> NotFloat<T> for Probe<T> {}

/// Whether a field is a float.
pub const fn is_float<M: HasParts<0, T>, T: Nth<I, Type = F>, const I: usize, F>(
    is_float: IsFloat<F>,
) -> bool {
    is_float.0
}
