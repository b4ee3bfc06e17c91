//! Functions of OCaml as functions of Rust.

/// Declares functions that OCaml registers with `Callback.register`, so that they can be called like Rust functions.
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
///
/// ocaml_functions! {
///     // SAFETY: these are the types of the functions in OCaml.
///     unsafe {
///         /// `Callback.register "count" (fun (text : string) (k : int) -> … : int)`
///         pub fn count(text: OCamlString, k: OCamlInt) -> OCamlInt = "count";
///         /// `Callback.register "reset" (fun () -> …)`
///         pub fn reset() = "reset";
///     }
/// }
///
/// fn use_them(lock: &mut DomainLock) -> Result<(), CallError> {
///     reset(lock)?;
///     let words: i64 = count(lock, "so many words", 2)?;
///     println!("{words}");
///     Ok(())
/// }
/// ```
///
/// Each declaration becomes a Rust function. It takes the token (`&mut DomainLock`), and for each argument a Rust value or a root that
/// is [`ToOCaml`](crate::ToOCaml) the argument's type. It returns a Rust value or a root (`Boxroot<…>`) that is
/// [`FromOCaml`](crate::FromOCaml) the result's type, as the caller chooses, or a [`CallError`](crate::CallError). Without
/// `->`, OCaml's function returns `()`, and the Rust function, too. There may be any number of arguments; without any,
/// OCaml's function is called with `()`. The name is looked up at the first call; if OCaml has registered nothing under it,
/// the error is [`NotRegistered`](crate::CallError::NotRegistered).
///
/// # Exceptions
///
/// An exception of OCaml's function is [`CallError::Exception`](crate::CallError::Exception). It never jumps over Rust code. `?` hands
/// it on; if it leaves a Rust function that OCaml called ([`export!`](crate::export!)), OCaml sees the same exception again.
///
/// [`Exception::is`](crate::Exception::is) tells which exception it is. It knows OCaml's own exceptions by their names, and those
/// exceptions of the program that are registered, as in `exception Full of int` and
/// `let () = Callback.register_exception "Full" (Full 0)`. An argument is read by
/// [`Exception::argument`](crate::Exception::argument).
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
///
/// ocaml_functions! {
///     // SAFETY: this is the type of the function in OCaml.
///     unsafe {
///         /// `Callback.register "put" (fun (text : string) -> … : int)`, which may raise `Not_found` or `Full n`
///         fn put(text: OCamlString) -> OCamlInt = "put";
///     }
/// }
///
/// fn put_or_skip(lock: &mut DomainLock, text: &str) -> Result<Option<i64>, CallError> {
///     match put(lock, text) {
///         Ok(place) => Ok(Some(place)),
///         Err(CallError::Exception(e)) if e.is(lock, "Not_found") => Ok(None),
///         Err(CallError::Exception(e)) if e.is(lock, "Full") => {
///             // SAFETY: the argument of `Full` is an integer.
///             let size = unsafe { e.argument::<OCamlInt>(lock, 0) }?;
///             println!("full: {:?}", size.map(|size| size.get(lock).to_int()));
///             Ok(None)
///         }
///         Err(error) => Err(error), // another exception, or an argument or result that cannot be converted
///     }
/// }
/// ```
///
/// With generated bindings (`docs/guide/bindings.md`), exceptions are Rust types, and nothing is `unsafe`.
///
/// # Safety
///
/// `unsafe` stands for the promise that every function that OCaml registers under the name takes such arguments, returns
/// such a result, and on OCaml 4 does not call `Thread.exit`, which would jump over Rust frames. Where the types have several
/// [`OCamlAny`](crate::OCamlAny), or a list of it, callers may pass values of different types at once. A function whose type in OCaml has one
/// type variable there, such as `Array.of_list`, need not take that: an array that begins with a float can hold nothing else. Such a
/// function is declared once for each type that is needed; generated bindings have a type parameter instead.
#[doc(alias("caml_named_value", "caml_callback", "Callback.register"))]
#[macro_export]
macro_rules! ocaml_functions {
    (unsafe {$(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $registered:literal;
    )*}) => {$(
        $(#[$attribute])*
        #[allow(unsafe_code)] // an error under `forbid(unsafe_code)`: this is a promise
        #[allow(clippy::too_many_arguments)]
        #[track_caller]
        $visibility fn $name<$(OCamlResult: $crate::FromOCaml<$result>)?>(
            lock: &mut $crate::DomainLock,
            $($argument: impl $crate::ToOCaml<$type>),*
        ) -> $crate::macro_support::Result<
            $crate::unit_or!($(OCamlResult, $result)?), $crate::CallError
        > {
            let arguments = [$($crate::call_support::argument::<$type, _>(
                &$argument,
                &$crate::call_support::Place(
                    $crate::macro_support::stringify!($argument),
                    $crate::macro_support::stringify!($name),
                ),
                lock,
            )?),*];
            {
                // Types in the signature of an item are not inferred, and cannot be `OCamlResult`.
                static FUNCTION: $crate::call_support::Named<
                    fn($($type),*), $crate::unit_or!($($result, $result)?)
                > = $crate::call_support::Named::new(
                    $registered,
                    $crate::looks!($($result)?),
                );
                // SAFETY: the registered function has these argument and result types (promise of the user's `unsafe`).
                unsafe { $crate::call_support::Named::call(&FUNCTION, lock, arguments) }
            }
        }
    )*};
    ($($mistaken:tt)*) => {
        $crate::mistaken_functions! { $($mistaken)* }
    };
}

/// For the macros: how to look at values of a type; at `()` if there is none.
#[doc(hidden)]
#[macro_export]
macro_rules! looks {
    () => {
        $crate::looks!(())
    };
    ($type:ty) => {{
        use $crate::call_support::Unknown as _;
        $crate::call_support::Look::<$type>::LOOKS
    }};
}

/// For [`ocaml_functions!`]: the first one of two types; `()` if there are none.
#[doc(hidden)]
#[macro_export]
macro_rules! unit_or {
    () => {
        ()
    };
    ($type:ty, $result:ty) => {
        $type
    };
}
