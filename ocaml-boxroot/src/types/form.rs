//! Checks whether a value looks like a value of its type. Builds with checks do this in two places:
//!
//! * each conversion checks the value before it reads it
//!   ([`FromOCaml::from_ocaml`](super::FromOCaml::from_ocaml)), and returns
//!   [`Mismatch`](crate::ConversionErrorKind::Mismatch) if the check fails;
//! * the methods that read a value of a certain type (`Value::checked`) panic if the check fails.

use super::bigarray;
use crate::raw::ValueExt;
use crate::value::CHECKS;
use crate::{ffi, ConversionError, Kind, OCamlAny, Value};
use std::any::type_name;
use std::ffi::CStr;

pub(super) const LAZY_TAG: u8 = 246;
/// The tag of a lazy value while it is being forced.
pub(super) const FORCING_TAG: u8 = if cfg!(ocaml4) { LAZY_TAG } else { 244 };
pub(super) const CLOSURE_TAG: u8 = 247;
pub(super) const OBJECT_TAG: u8 = 248;
pub(super) const INFIX_TAG: u8 = 249;
pub(super) const FORWARD_TAG: u8 = 250;
pub(super) const STRING_TAG: u8 = 252;
pub(super) const DOUBLE_TAG: u8 = 253;
pub(super) const DOUBLE_ARRAY_TAG: u8 = 254;
pub(super) const CUSTOM_TAG: u8 = 255;

/// A marker whose values can be recognised by their memory. It is implemented for the markers of
/// this crate, except [`OCamlAny`](crate::OCamlAny) and `OCamlLazy`, and for those that
/// [`ocaml_type!`](crate::ocaml_type!) declares. Implement it for your own marker so that [builds
/// with checks](crate#builds-with-checks) also check its values.
///
/// # Examples
///
/// ```
/// use ocaml_boxroot::debug::Kind;
/// use ocaml_boxroot::markers::Form;
/// use ocaml_boxroot::{OCamlAny, Value};
///
/// /// The marker of `type connection`, whose values are blocks of two fields.
/// enum Connection {}
///
/// impl Form for Connection {
///     fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
///         matches!(value.kind(), Kind::Block { tag: 0, size: 2 })
///     }
/// }
/// ```
pub trait Form {
    /// Returns `false` if the value is certainly not of this type. Inspects the value's own block,
    /// not its parts.
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool;
}

impl<'l, T: ?Sized> Value<'l, T> {
    /// The same value, with an unknown type.
    pub(crate) fn any(self) -> Value<'l, OCamlAny> {
        // SAFETY: every value is an `OCamlAny`.
        unsafe { Value::from_raw(self.raw()) }
    }

    /// Returns `false` if the value's memory shows that it is not a `T`.
    pub fn has_form(self) -> bool
    where
        T: Form,
    {
        T::is_form_of(self.any())
    }

    /// Returns the value. In builds with checks, panics if it does not have the form of a `T`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) fn checked(self) -> Self
    where
        T: Form,
    {
        if CHECKS && !self.has_form() {
            panic!("boxroot: {}", mismatch(self));
        }
        self
    }
}

/// The error for a value that does not have the form of a `T`.
#[cold]
pub(crate) fn mismatch<T: ?Sized>(value: Value<'_, T>) -> ConversionError {
    does_not_belong(value.any(), type_name::<T>())
}

/// The error for a value that does not have the form of the type with this name.
#[cold]
pub(super) fn does_not_belong(value: Value<'_, OCamlAny>, type_name: &str) -> ConversionError {
    let hint = match is_closure(value) {
        true => " (a call with too few arguments returns a function)",
        false => "",
    };
    let (value, name) = (describe(value), without_paths(type_name));
    ConversionError::mismatch(format!("expected {name}, found {value}{hint}"))
}

/// Removes the paths from the name of a marker.
fn without_paths(type_name: &str) -> String {
    let (mut name, mut word) = (String::new(), String::new());
    for c in type_name.chars() {
        match c {
            ':' => word.clear(),
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            c => {
                name.push_str(&word);
                name.push(c);
                word.clear();
            }
        }
    }
    name + &word
}

/// Describes the value's memory.
pub(crate) fn describe(value: Value<'_, OCamlAny>) -> String {
    match value.kind() {
        Kind::Immediate(n) => format!("the immediate {n}"),
        Kind::Block { tag: CLOSURE_TAG | INFIX_TAG, .. } => match arity(value) {
            Some(1) => "a function of one argument".to_string(),
            Some(n @ 2..) => format!("a function of {n} arguments"),
            Some(n @ ..=-1) => format!("a function of a tuple of {}", -n),
            _ => "a function".to_string(),
        },
        Kind::Block { tag: OBJECT_TAG, .. } => "an object, or an exception".to_string(),
        Kind::Block { tag: STRING_TAG, .. } => "a string".to_string(),
        Kind::Block { tag: DOUBLE_TAG, .. } => "a float".to_string(),
        Kind::Block { tag: DOUBLE_ARRAY_TAG, .. } => "an array or record of floats".to_string(),
        Kind::Block { tag: CUSTOM_TAG, .. } => match custom_name(value).map(CStr::to_bytes) {
            Some(b"_i") => "an int32".to_string(),
            Some(b"_j") => "an int64".to_string(),
            Some(b"_n") => "a nativeint".to_string(),
            Some(name) if name.starts_with(b"ocaml_boxroot.rust") => {
                "a box of a Rust value".to_string()
            }
            _ => bigarray::describe(value).unwrap_or_else(|| "a custom block".to_string()),
        },
        Kind::Block { tag, size } => format!("a block of tag {tag} and size {size}"),
    }
}

/// Whether the value is a function.
pub(crate) fn is_closure(value: Value<'_, OCamlAny>) -> bool {
    matches!(value.kind(), Kind::Block { tag: CLOSURE_TAG | INFIX_TAG, .. })
}

/// The number of arguments that a function's code takes at once, or `-n` if the function takes one
/// argument that is a tuple of `n`. `None` if the value is not a function. Also `None` in bytecode,
/// whose closures do not store this number.
pub(crate) fn arity(value: Value<'_, OCamlAny>) -> Option<isize> {
    // SAFETY: the value is a live closure (just checked).
    let arity = is_closure(value).then(|| unsafe { ffi::obx_arity(value.raw()) })?;
    (arity != 0).then_some(arity)
}

/// The identifier of a custom block's operations. `None` for other values.
pub(super) fn custom_name(value: Value<'_, OCamlAny>) -> Option<&'static CStr> {
    match value.kind() {
        Kind::Block { tag: CUSTOM_TAG, .. } => {
            // SAFETY: the value is a live custom block (just checked). The identifier of its
            // operations is a C string that is never freed.
            Some(unsafe { CStr::from_ptr(ffi::obx_custom_name(value.raw())) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_without_paths() {
        assert_eq!(
            without_paths(type_name::<crate::OCamlList<(crate::OCamlInt, Option<bool>)>>()),
            "OCamlList<(OCamlInt, Option<bool>)>"
        );
        assert_eq!(without_paths(type_name::<()>()), "()");
    }
}
