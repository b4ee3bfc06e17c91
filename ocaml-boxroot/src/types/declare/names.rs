//! The names of a type's constructors and parts, from which [`ocaml_type!`](crate::ocaml_type!)
//! computes numbers, tags and hashes at compile time.

use super::form::Constructor;

/// The constructors, with the names of their parts. A record has one constructor, whose parts are
/// its fields.
pub type Form = &'static [(&'static str, &'static [&'static str])];

/// The number of the constructor with this name.
pub const fn constructor_index(form: Form, name: &str) -> isize {
    find(form, name) as isize
}

/// The number of the part with this name.
pub const fn part_index(form: Form, constructor: &str, name: &str) -> usize {
    let parts = form[find(form, constructor)].1;
    let mut i = 0;
    while !equal(parts[i], name) {
        i += 1;
    }
    i
}

const fn find(form: Form, name: &str) -> usize {
    let mut i = 0;
    while !equal(form[i].0, name) {
        i += 1;
    }
    i
}

/// Checks that all names are different.
pub const fn check_names(form: Form) {
    let mut i = 0;
    while i < form.len() {
        let (name, parts) = form[i];
        assert!(find(form, name) == i, "two constructors have the same name");
        let mut j = 0;
        while j < parts.len() {
            assert!(part_index(form, name, parts[j]) == j, "two fields have the same name");
            j += 1;
        }
        i += 1;
    }
}

/// Removes Rust's prefix `r#` from a name, because the name is the same without it.
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

/// A record with the fields of this form. `is_flat` says whether all of them are floats.
pub const fn record(form: Form, is_flat: bool) -> Constructor {
    match form[0].1.len() {
        size if is_flat => Constructor::Flat(size),
        size => Constructor::Block(0, size),
    }
}

/// Returns `is_flat`, which must be false for a record with type parameters. Whether OCaml stores
/// such a record in the flat form depends on the parameters.
pub const fn not_flat(is_flat: bool) -> bool {
    assert!(!is_flat, "a record of only floats cannot have type parameters");
    is_flat
}

/// A constructor of an ordinary variant. OCaml numbers the constructors without arguments, and
/// separately those with arguments, in the order of the declaration.
pub const fn ordinary(form: Form, name: &str) -> Constructor {
    let index = find(form, name);
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

/// A constructor of a polymorphic variant, with the hash that OCaml's `caml_hash_variant` computes.
/// Two constructors with the same hash are an error, as in OCaml.
pub const fn polymorphic(form: Form, name: &str) -> Constructor {
    let (index, hash, mut i) = (find(form, name), hash(name), 0);
    while i < form.len() {
        let is_apart = i == index || self::hash(form[i].0) != hash;
        assert!(is_apart, "two constructors have the same hash");
        i += 1;
    }
    match form[index].1.len() {
        0 => Constructor::Constant(hash),
        arguments => Constructor::Tagged(hash, arguments),
    }
}

const fn hash(name: &str) -> isize {
    let (bytes, mut hash, mut i) = (plain(name), 0u32, 0);
    while i < bytes.len() {
        hash = hash.wrapping_mul(223).wrapping_add(bytes[i] as u32);
        i += 1;
    }
    // The hash is a signed number of 31 bits.
    ((hash << 1) as i32 >> 1) as isize
}
