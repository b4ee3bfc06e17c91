//! OCaml's predefined exceptions as Rust errors.

use super::exception::{argument, found, MayBeException};
use super::markers::OCamlString;
use super::ToOCaml;
use crate::{CallError, ConversionError, DomainLock, Exception};
use std::error::Error;
use std::fmt;

/// The OCaml exception that a Rust struct stands for. It ends the struct's chain of sources.
pub struct Named {
    name: &'static str,
    make: Make,
}

/// Makes the exception from the struct itself, or from a wrapper that hides the struct (`Box`,
/// `Arc`, `io::Error::other`, `#[error(transparent)]` of `thiserror`, an `anyhow::Error`) and
/// displays its text.
type Make = fn(&mut DomainLock, &(dyn Error + 'static)) -> Option<Exception>;

impl Named {
    /// The OCaml exception with this name. The name may end with `#` and a digest.
    pub const fn new(name: &'static str, make: Make) -> Named {
        Named { name, make }
    }

    pub(super) fn exception(
        &self,
        lock: &mut DomainLock,
        error: &(dyn Error + 'static),
    ) -> Option<Exception> {
        (self.make)(lock, error)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OCaml's exception {}", self.name.split('#').next().unwrap_or_default())
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Error for Named {}

/// For bindings: makes the exception from the struct, if the error is the struct itself.
pub fn made_of<E: Error + 'static>(
    lock: &mut DomainLock,
    error: &(dyn Error + 'static),
    make: fn(&E, &mut DomainLock) -> Result<Exception, CallError>,
) -> Option<Exception> {
    make(error.downcast_ref()?, lock).ok()
}

/// Makes the predefined exception with this name, and with this text if the exception has one.
#[track_caller]
fn exception(
    lock: &mut DomainLock,
    name: &str,
    text: Option<&str>,
) -> Result<Exception, CallError> {
    let argument = match text {
        Some(text) => Some(ToOCaml::<OCamlString>::to_ocaml(text, lock)?),
        None => None,
    };
    let argument = argument.as_ref().map(|text| text.as_any());
    // SAFETY: the exception takes a string, or no argument.
    unsafe { Exception::new(lock, name, argument.as_slice()) }
}

macro_rules! predefined {
    ($($(#[$attribute:meta])* $name:ident $(($text:ident: $string:ty))? = $ocaml:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name $((pub $string))?;

        impl $name {
            const NAMED: &Named = &Named::new($ocaml, |lock, _error| {
                let text: Option<String> = None $(.or({ let $text = _error; Some($text.to_string()) }))?;
                exception(lock, $ocaml, text.as_deref()).ok()
            });

            /// Returns the exception if the error is this exception or has it among its sources.
            /// The error may be an [`Exception`], a [`CallError`], an [`Error`](crate::Error), a
            /// `dyn Error` or a `Box` of one of these.
            ///
            /// # Errors
            ///
            /// If the argument cannot be converted; see [`to_rust`](crate::Value::to_rust).
            #[doc(alias = "downcast")]
            #[track_caller]
            pub fn of(
                lock: &mut DomainLock,
                error: &(impl MayBeException + ?Sized),
            ) -> Result<Option<Self>, ConversionError> {
                let Some(_exception) = found(lock, error, $ocaml) else { return Ok(None) };
                // SAFETY: the argument of this exception, if it has one, is a string.
                Ok(Some($name $((unsafe {
                    argument::<OCamlString, $string>(lock, _exception, 0, stringify!($text))
                }?))?))
            }

            /// Makes the exception for OCaml. A function that OCaml calls need not do this: it can
            /// return this struct as its error.
            ///
            /// # Errors
            ///
            /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
            #[track_caller]
            pub fn exception(&self, lock: &mut DomainLock) -> Result<Exception, CallError> {
                let $name $(($text))? = self;
                self::exception(lock, $ocaml, None $(.or(Some($text)))?)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $name $(($text))? = self;
                f.write_str(None $(.or(Some(&**$text)))?.unwrap_or($ocaml))
            }
        }

        impl Error for $name {
            /// The name of the OCaml exception.
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(Self::NAMED)
            }
        }
    )*};
}

predefined! {
    /// OCaml's `Failure`, which `failwith` raises.
    #[doc(alias("caml_failwith", "failwith"))]
    Failure(text: String) = "Failure";

    /// OCaml's `Invalid_argument`, which `invalid_arg` raises.
    #[doc(alias("caml_invalid_argument", "invalid_arg", "Invalid_argument"))]
    InvalidArgument(text: String) = "Invalid_argument";

    /// OCaml's `Sys_error`: the system refused an operation, such as opening a file.
    #[doc(alias("caml_raise_sys_error", "Sys_error"))]
    SysError(text: String) = "Sys_error";

    /// OCaml's `Not_found`.
    #[doc(alias("caml_raise_not_found", "Not_found"))]
    NotFound = "Not_found";

    /// OCaml's `End_of_file`.
    #[doc(alias("caml_raise_end_of_file", "End_of_file"))]
    EndOfFile = "End_of_file";

    /// OCaml's `Division_by_zero`.
    #[doc(alias("caml_raise_zero_divide", "Division_by_zero"))]
    DivisionByZero = "Division_by_zero";

    /// OCaml's `Stack_overflow`.
    #[doc(alias = "Stack_overflow")]
    StackOverflow = "Stack_overflow";

    /// OCaml's `Out_of_memory`.
    #[doc(alias("caml_raise_out_of_memory", "Out_of_memory"))]
    OutOfMemory = "Out_of_memory";
}
