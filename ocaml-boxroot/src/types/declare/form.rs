//! The form of a declared type, and how OCaml represents it. All of this is known at compile time.

use crate::types::OCamlFloat;
use std::marker::PhantomData;

/// The constructors, with the names of their parts. A record has one constructor, whose parts are its fields.
pub type Form = &'static [(&'static str, &'static [&'static str])];

/// How OCaml represents a type.
#[derive(Clone, Copy, PartialEq)]
pub enum Layout {
    /// A block of the fields.
    Record,
    /// The value of the only field of a record, or of the only argument of the only constructor.
    Unboxed,
    /// A variant.
    Ordinary,
    /// A polymorphic variant.
    Polymorphic,
}

/// A marker of [`ocaml_type!`](crate::ocaml_type!). It is implemented once for each marker. So the compiler rejects a
/// second declaration of a marker, with another form, and one for another crate's marker.
///
/// # Safety
///
/// All values of this type have this form, which [`check`] accepts, and their parts have the types that [`Part`] says.
/// A record and an unboxed type have one constructor. `IS_FLAT` is whether this is a record whose fields are all floats,
/// and `IS_FLOAT` whether it is an unboxed type whose part is one.
pub unsafe trait Declared: Sized {
    /// The constructors and their parts, in the order of OCaml's declaration.
    const FORM: Form;
    /// How OCaml represents them.
    const LAYOUT: Layout;
    /// Whether the values are records in the flat form of floats.
    const IS_FLAT: bool = false;
    /// Whether the values are floats.
    const IS_FLOAT: bool = false;
}

/// A part, which is a field or an argument of a constructor, has this type.
///
/// # Safety
///
/// The part with number `PART` of the constructor with number `CONSTRUCTOR` is a `T`.
pub unsafe trait Part<const CONSTRUCTOR: usize, const PART: usize, T>: Declared {}

/// The type of a part, for `Send` and `Sync`. By the bound, the compiler compares it with that of [`Part`]: where a macro
/// stands for the type, it may expand to another one each time.
pub struct PartType<M: Part<C, P, T>, const C: usize, const P: usize, T>(
    PhantomData<(T, fn() -> M)>,
);

/// Whether a `T` is represented as a float.
pub struct IsFloat<T>(bool, PhantomData<T>);

/// `Probe::<T>::IS_FLOAT` is whether `T`, which is not a parameter there, is represented as a float.
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
    /// It is not.
    const IS_FLOAT: IsFloat<T> = IsFloat(false, PhantomData);
}

impl<T> NotFloat<T> for Probe<T> {}

/// Whether a part is a float.
pub const fn is_float<M: Part<C, P, T>, const C: usize, const P: usize, T>(
    is_float: IsFloat<T>,
) -> bool {
    is_float.0
}

/// The number of the constructor with this name.
pub const fn constructor_index(form: Form, name: &str) -> usize {
    let mut i = 0;
    while !equal(form[i].0, name) {
        i += 1;
    }
    i
}

/// The number of the part with this name.
pub const fn part_index(form: Form, constructor: &str, name: &str) -> usize {
    let parts = form[constructor_index(form, constructor)].1;
    let mut i = 0;
    while !equal(parts[i], name) {
        i += 1;
    }
    i
}

/// A name without Rust's `r#`, which makes no other name of it.
const fn plain(name: &str) -> &[u8] {
    match name.as_bytes() {
        [b'r', b'#', plain @ ..] => plain,
        plain => plain,
    }
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (plain(a), plain(b));
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A constructor, as OCaml represents it.
#[derive(Clone, Copy)]
pub(super) enum Constructor {
    /// Without arguments: an immediate.
    Constant(isize),
    /// With arguments: a block with this tag and this number of fields.
    Block(u8, usize),
    /// Of a polymorphic variant, with this hash and this number of arguments: a block with the hash and the argument, or,
    /// for several arguments, a tuple of them.
    Polymorphic(isize, usize),
    /// Not represented: the value is that of its part.
    Unboxed,
}

/// The constructor with this number.
pub(super) const fn constructor<M: Declared>(index: usize) -> Constructor {
    match M::LAYOUT {
        Layout::Unboxed => Constructor::Unboxed,
        Layout::Record | Layout::Ordinary => ordinary(M::FORM, index),
        Layout::Polymorphic => polymorphic(M::FORM, index),
    }
}

/// Checks that all names are different, and that all constructors can be represented.
pub const fn check<M: Declared>() {
    let mut i = 0;
    while i < M::FORM.len() {
        let (name, parts) = M::FORM[i];
        assert!(constructor_index(M::FORM, name) == i, "two constructors have the same name");
        constructor::<M>(i);
        let mut j = 0;
        while j < parts.len() {
            assert!(part_index(M::FORM, name, parts[j]) == j, "two fields have the same name");
            j += 1;
        }
        i += 1;
    }
}

/// A constructor of an ordinary variant. OCaml numbers the constructors without arguments, and separately those with
/// arguments, in the order of the declaration.
const fn ordinary(form: Form, index: usize) -> Constructor {
    let (mut constants, mut blocks, mut i) = (0, 0, 0);
    while i < index {
        match form[i].1.len() {
            0 => constants += 1,
            _ => blocks += 1,
        }
        i += 1;
    }
    match form[index].1.len() {
        0 => Constructor::Constant(constants),
        arguments => Constructor::Block(blocks, arguments),
    }
}

/// A constructor of a polymorphic variant, by its hash as OCaml's `caml_hash_variant` computes it. Two constructors
/// with the same hash are an error, as in OCaml.
const fn polymorphic(form: Form, index: usize) -> Constructor {
    let (hash, mut i) = (hash(form[index].0), 0);
    while i < form.len() {
        let is_apart = i == index || self::hash(form[i].0) != hash;
        assert!(is_apart, "two constructors have the same hash");
        i += 1;
    }
    match form[index].1.len() {
        0 => Constructor::Constant(hash),
        arguments => Constructor::Polymorphic(hash, arguments),
    }
}

const fn hash(name: &str) -> isize {
    let (bytes, mut hash, mut i) = (plain(name), 0u32, 0);
    while i < bytes.len() {
        hash = hash.wrapping_mul(223).wrapping_add(bytes[i] as u32);
        i += 1;
    }
    // 31 bits, with a sign.
    ((hash << 1) as i32 >> 1) as isize
}
