//! Support for the macros. A program's own names cannot shadow these. The safe functions here are
//! safe for all arguments, because they rely only on `Declared`, `HasParts` and `Public`.

pub use crate::cached::Cached;
pub use crate::call::bound::bound_support::*;
pub use crate::call::enter::{converted, enter, next, result, unrooted, Argument};
pub use crate::call::registered::{Place, Registered};
pub use crate::types::boxed::Implements;
pub use crate::types::declare::field::field;
pub use crate::types::declare::form::{
    check, constant_number, count, is_flat, is_float, Constructor, Constructors, Declared,
    HasParts, IsFloat, NotFloat, Only, PartTypes, Probe, Public,
};
pub use crate::types::declare::names::{
    check_names, constructor_index, not_flat, ordinary, part_index, polymorphic, record, Form,
};
pub use crate::types::declare::parts::{
    apart, constant, is, make, mismatch, open, read_float, take, Numbered, Opened,
};
pub use crate::types::predefined::{made_of, Named};
pub use crate::types::several::More;
pub use crate::types::Made;

pub use std::boxed::Box;
pub use std::convert::Infallible;
pub use std::error::Error;
pub use std::ffi::c_int;
pub use std::fmt::{self, Debug, Display, Formatter};
pub use std::marker::{PhantomData, Sized};
pub use std::option::Option::{self, None, Some};
pub use std::primitive::{bool, f64};
pub use std::result::Result::{self, Err, Ok};
pub use std::{compile_error, concat, env, file, include, option_env, stringify};

/// For examples in this documentation: starts OCaml and runs `f` with a token.
pub fn example(f: impl FnOnce(&mut crate::DomainLock) -> Result<(), Box<dyn Error>>) {
    crate::Runtime::get_or_start().unwrap();
    crate::DomainLock::attach(f).unwrap()
}
