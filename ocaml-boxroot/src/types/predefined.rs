//! OCaml's predefined exceptions, as errors of Rust.

use super::exception::{argument, found, MayBeException};
use super::markers::OCamlString;
use super::ToOCaml;
use crate::{CallError, ConversionError, DomainLock, Exception};
use std::error::Error;
use std::fmt;

/// One of OCaml's predefined exceptions, as the last error of a chain of sources.
#[derive(Debug)]
pub(crate) struct Predefined {
    name: &'static str,
    /// Whether it has an argument, a string.
    has_text: bool,
}

impl fmt::Display for Predefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OCaml's exception {}", self.name)
    }
}

impl Error for Predefined {}

impl Predefined {
    /// The exception. Its text, if it has one, is that of `outer`, the error whose source this is:
    /// it is the struct itself, or what hides it (`Box`, `Arc`, `io::Error::other`,
    /// `#[error(transparent)]` of `thiserror`, an `anyhow::Error`) and has its text.
    #[cold]
    #[track_caller]
    pub(crate) fn exception(
        &self,
        lock: &mut DomainLock,
        outer: &dyn Error,
    ) -> Result<Exception, CallError> {
        match self.has_text {
            true => self.with_text(lock, Some(&outer.to_string())),
            false => self.with_text(lock, None),
        }
    }

    #[track_caller]
    fn with_text(&self, lock: &mut DomainLock, text: Option<&str>) -> Result<Exception, CallError> {
        let argument = match text {
            Some(text) => Some(ToOCaml::<OCamlString>::to_ocaml(text, lock)?),
            None => None,
        };
        let argument = argument.as_ref().map(|text| text.as_any());
        // SAFETY: the exception takes a string, or no argument.
        unsafe { Exception::new(lock, self.name, argument.as_slice()) }
    }
}

macro_rules! predefined {
    ($($(#[$attribute:meta])* $name:ident $(($text:ident: $string:ty))? = $ocaml:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name $((pub $string))?;

        impl $name {
            const PREDEFINED: &Predefined = &Predefined {
                name: $ocaml,
                has_text: !<[&str]>::is_empty(&[$(stringify!($text))?]),
            };

            /// The exception, if the error is this exception.
            ///
            /// # Errors
            ///
            /// Its argument cannot be converted, as for [`to_rust`](crate::Value::to_rust).
            #[track_caller]
            pub fn of(
                lock: &mut DomainLock,
                error: &impl MayBeException,
            ) -> Result<Option<Self>, ConversionError> {
                let Some(_exception) = found(lock, error, $ocaml) else { return Ok(None) };
                // SAFETY: the argument of this exception, if it has one, is a string.
                Ok(Some($name $((unsafe {
                    argument::<OCamlString, $string>(lock, _exception, 0, stringify!($text))
                }?))?))
            }

            /// The exception, for OCaml. A function that OCaml called needs not make it: it returns
            /// this error.
            ///
            /// # Errors
            ///
            /// [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
            #[track_caller]
            pub fn exception(&self, lock: &mut DomainLock) -> Result<Exception, CallError> {
                let $name $(($text))? = self;
                Self::PREDEFINED.with_text(lock, None $(.or(Some($text)))?)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $name $(($text))? = self;
                f.write_str(None $(.or(Some(&**$text)))?.unwrap_or($ocaml))
            }
        }

        impl Error for $name {
            /// Says which of OCaml's exceptions this is.
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(Self::PREDEFINED)
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

    /// OCaml's `Sys_error`: the system refused something, such as to open a file.
    #[doc(alias("caml_raise_sys_error", "Sys_error"))]
    SysError(text: String) = "Sys_error";

    /// OCaml's `Not_found`.
    ///
    /// # Examples
    ///
    /// ```
    /// use ocaml_boxroot::exceptions::NotFound;
    /// use ocaml_boxroot::{Function, OCamlInt};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// type Find = Function<(OCamlInt,), OCamlInt>;
    /// let find = Find::from_rust(lock, |_, _| -> Result<i64, NotFound> { Err(NotFound) })?;
    /// let error = find.call_converting::<i64>(lock, 7).unwrap_err();
    /// assert_eq!(NotFound::of(lock, &error)?, Some(NotFound));
    /// # Ok(()) });
    /// ```
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
