//! OCaml functions as Rust functions.

/// Declares functions that OCaml registers with `Callback.register`, so that they can be called
/// like Rust functions.
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
///
/// ocaml_functions! {
///     // SAFETY: these are the types of the functions in OCaml.
///     unsafe {
///         /// `Callback.register "count" (fun (text : string) (k : int) -> … : int)`
///         pub fn count(text: OCamlString, k: OCamlInt) -> OCamlInt as i64 = "count";
///         /// `Callback.register "reset" (fun () -> …)`
///         pub fn reset() = "reset";
///         /// `Callback.register "limit" (42 : int)`: no parentheses, so it is a value
///         pub fn limit -> OCamlInt as i64 = "limit";
///     }
/// }
///
/// fn use_them(lock: &mut DomainLock) -> Result<(), CallError> {
///     reset(lock)?;
///     let words = count(lock, "so many words", 2)?;
///     println!("{words} of {}", limit(lock)?);
///     Ok(())
/// }
/// ```
///
/// Each declaration becomes a Rust function that takes the token (`&mut DomainLock`) and the
/// arguments. An argument of type `T` is a Rust value or a root that implements
/// [`ToOCaml<T>`](crate::ToOCaml), or the Rust type after `as`. The function returns the Rust type
/// after `as`, or a [`CallError`](crate::CallError). Without `as`, the caller chooses a Rust value
/// or a root (`Boxroot<…>`) that implements [`FromOCaml<T>`](crate::FromOCaml) for the result's
/// type `T`. Without `->`, both the OCaml function and the Rust function return `()`. There may be
/// any number of arguments; without any, the OCaml function is called with `()`. A type variable of
/// OCaml is a type parameter: `fn first<A>(list: OCamlList<A>) -> A as Boxroot<A> = "first"`. The
/// first call looks up the name, and returns [`NotRegistered`](crate::CallError::NotRegistered) if
/// OCaml has registered nothing under it. Generated bindings consist of such declarations.
///
/// # Exceptions
///
/// If the OCaml function raises, the Rust function returns
/// [`CallError::Exception`](crate::CallError::Exception). OCaml's exception never jumps over Rust
/// code. `?` propagates the error; if a Rust function that OCaml called
/// ([`export!`](crate::export!)) returns it, OCaml sees the same exception again.
///
/// The structs of [`exceptions`](crate::exceptions) recognise predefined exceptions. To use an
/// exception of your own, register it in OCaml: `exception Full of int` and
/// `let () = Callback.register_exception "Full" (Full 0)`. Then declare it as a struct whose fields
/// are its arguments in order. The struct has the functions `of` and `exception`. It is also an
/// error: OCaml sees the exception if a Rust function that it called returns the struct.
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
///
/// ocaml_functions! {
///     // SAFETY: this is the type of the function in OCaml.
///     unsafe {
///         /// `Callback.register "put" (fun (text : string) -> … : int)`, which may raise
///         /// `Full n` or `Closed`
///         fn put(text: OCamlString) -> OCamlInt = "put";
///     }
/// }
///
/// ocaml_functions! {
///     // SAFETY: these are the arguments of the exceptions in OCaml.
///     unsafe {
///         exception Full { size: OCamlInt as i64 } = "Full";
///         exception Closed = "Closed";
///     }
/// }
///
/// fn put_or_skip(lock: &mut DomainLock, text: &str) -> Result<Option<i64>, CallError> {
///     let error = match put(lock, text) {
///         Ok(place) => return Ok(Some(place)),
///         Err(error) => error,
///     };
///     if let Some(Full { size }) = Full::of(lock, &error)? {
///         println!("full: {size}");
///     } else if Closed::of(lock, &error)?.is_none() {
///         return Err(error); // another exception, or an error of a conversion
///     }
///     Ok(None)
/// }
/// ```
///
/// With generated bindings (`docs/guide/bindings.md`), exceptions are Rust types, and nothing is
/// `unsafe`.
///
/// # Safety
///
/// With `unsafe` you promise that every function that OCaml registers under the name has these
/// argument and result types, and that every exception has these arguments. On OCaml 4 you also
/// promise that the functions do not call `Thread.exit`, which would jump over Rust frames. If a
/// type contains several [`OCamlAny`](crate::OCamlAny), or a list of it, callers may mix values of
/// different types. Declare a type parameter instead if the OCaml type has one type variable in
/// these places, as `Array.of_list` has: an array that begins with a float can hold only floats.
#[doc(alias("caml_named_value", "caml_callback", "Callback.register"))]
#[macro_export]
macro_rules! ocaml_functions {
    (unsafe {$(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident $(<$($a:ident),+>)? $(($($argument:ident: $type:ty $(as $converted:ty)?),* $(,)?))?
        $(-> $result:ty $(as $rust:ty)?)? = $registered:literal;
    )*}) => {
        $($crate::ocaml_function! {
            unsafe [] [$(#[$attribute])*] [$visibility] $name [$($($a)+)?] [$(($($argument: $type $(as $converted)?),*))?]
            [$($result $(as $rust)?)?] $registered
        })*
    };
    (unsafe {$(
        $(#[$attribute:meta])*
        $visibility:vis exception $name:ident $({ $($field:ident: $type:ty as $rust:ty),+ $(,)? })? = $registered:literal;
    )+}) => {
        $($crate::bound_exception! {
            unsafe [$(#[$attribute])*] [$visibility] $name [$($($field: $type as $rust),+)?] = $registered
        })+
    };
    // The build helper generates these forms.
    (
        generated $(#[$attribute:meta])* pub fn $name:ident $(<$($a:ident),+>)? $(($($argument:tt)*))?
        -> $result:ty as $rust:ty = $registered:literal
    ) => {
        $crate::ocaml_function! {
            @generated [] [$(#[$attribute])*] [pub] $name [$($($a)+)?] [] [$(($($argument)*))?]
            $result, $rust = $registered
        }
    };
    (
        generated $(#[$attribute:meta])* pub unsafe fn $name:ident $(<$($a:ident),+>)? ($($argument:tt)*)
        -> $result:ty as $rust:ty = $registered:literal
    ) => {
        $crate::ocaml_function! {
            @generated [unsafe] [$(#[$attribute])*] [pub] $name [$($($a)+)?] [] [($($argument)*)]
            $result, $rust = $registered
        }
    };
    ($($mistaken:tt)*) => {
        $crate::mistaken_functions! { $($mistaken)* }
    };
}

/// For [`ocaml_functions!`]: an OCaml function with arguments in `[(…)]`, or an OCaml value with
/// `[]`. `(): ()` is an argument that Rust leaves out. An argument with `as` has that Rust type.
/// The result has the type after `as`, or a type that the caller chooses.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_function {
    ($promise:ident $unsafe:tt $attributes:tt $visibility:tt $name:ident $a:tt $arguments:tt [] $registered:literal) => {
        $crate::ocaml_function! {
            $promise $unsafe $attributes $visibility $name $a $arguments [() as ()] $registered
        }
    };
    (
        $promise:ident $unsafe:tt $attributes:tt $visibility:tt $name:ident $a:tt $arguments:tt
        [$result:ty as $rust:ty] $registered:literal
    ) => {
        $crate::ocaml_function! {
            @$promise $unsafe $attributes $visibility $name $a [] $arguments $result, $rust = $registered
        }
    };
    (
        $promise:ident $unsafe:tt $attributes:tt $visibility:tt $name:ident $a:tt $arguments:tt
        [$result:ty] $registered:literal
    ) => {
        $crate::ocaml_function! {
            @$promise $unsafe $attributes $visibility $name $a
            [OCamlBoxrootResult { $crate::ocaml_types! { $a $arguments $result } }] $arguments
            $result, OCamlBoxrootResult = $registered
        }
    };
    (
        @$promise:ident [$($unsafe:ident)?] [$($attribute:tt)*] [$visibility:vis] $name:ident [$($a:ident)*] [$($chosen:ident $check:block)?]
        [($($(() : $unit:tt)? $($argument:ident: $type:ty $(as $converted:ty)?)?),+)]
        $result:ty, $rust:ty = $registered:literal
    ) => {
        $($attribute)*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        #[track_caller]
        $visibility $($unsafe)? fn $name<$($a: $crate::markers::OneType,)* $($chosen: $crate::FromOCaml<$result>)?>(
            lock: &mut $crate::DomainLock,
            $($($argument: $crate::ocaml_argument!($type $(as $converted)?),)?)+
        ) -> $crate::macro_support::Result<$rust, $crate::CallError> {
            $(const { <$a as $crate::markers::OneType>::CHECKED };)*
            $($check)?
            let sources = $crate::ocaml_several!(fields $($(&$argument)? $(&$unit)?),+);
            $crate::ocaml_registered! {
                $promise $registered $name $crate::macro_support::Registered::call [
                    $crate::macro_support::PhantomData::<(
                        $crate::ocaml_several!(type $($($type)? $($unit)?)+), fn() -> $result,
                    )>,
                    &[$(
                        $($crate::macro_support::stringify!($argument),)?
                        $($crate::macro_support::stringify!($unit),)?
                    )+],
                    sources,
                    lock,
                ]
            }
        }
    };
    (
        @$promise:ident [] [$($attribute:tt)*] [$visibility:vis] $name:ident [$($a:ident)*] [$($chosen:ident $check:block)?] []
        $result:ty, $rust:ty = $registered:literal
    ) => {
        $($attribute)*
        #[track_caller]
        $visibility fn $name<$($a: $crate::markers::OneType,)* $($chosen: $crate::FromOCaml<$result>)?>(
            lock: &mut $crate::DomainLock,
        ) -> $crate::macro_support::Result<$rust, $crate::CallError> {
            $(const { <$a as $crate::markers::OneType>::CHECKED };)*
            $($check)?
            $crate::ocaml_registered! {
                $promise $registered $name $crate::macro_support::Registered::value::<$result, $rust> [lock]
            }
        }
    };
}

/// For [`ocaml_function!`]: calls a method of the registered function. The promise is in the same
/// macro as the call, so that an attribute macro of the program cannot remove one of them.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_registered {
    ($promise:ident $registered:literal $name:ident $method:path [$($argument:tt)*]) => {{
        // In its own block, because an argument may have this name.
        static FUNCTION: $crate::macro_support::Registered = {
            $crate::ocaml_promise! { $promise $crate::macro_support::FUNCTION }
            $crate::macro_support::Registered::new($registered, $crate::macro_support::stringify!($name))
        };
        // SAFETY: the registered function or value has these types (`ocaml_promise!`).
        unsafe { $method(&FUNCTION, $($argument)*) }
    }};
}

/// For [`ocaml_function!`]: rejects user types with the name of the type parameter that the macro
/// adds. An item inside the function cannot use the parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_types {
    (
        [$($a:ident)*]
        [$(($($(() : $unit:tt)? $($argument:ident: $type:ty $(as $converted:ty)?)?),+))?] $result:ty
    ) => {
        #[allow(dead_code)]
        struct OCamlBoxrootTypes<$($a),*>(
            $($($($crate::macro_support::PhantomData<fn($type, $($converted)?)>,)?)+)?
            $crate::macro_support::PhantomData<fn($result)>, $($crate::macro_support::PhantomData<$a>),*
        );
    };
}

/// For [`ocaml_function!`]: the type of an argument.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_argument {
    ($type:ty) => { impl $crate::ToOCaml<$type> };
    ($type:ty as $rust:ty) => { $rust };
}

/// For the macros: statements that mark a promise about the OCaml code. They are in a constant or a
/// static, which rustc evaluates even if nothing uses it. Users write `unsafe`, which is an error
/// under `forbid(unsafe_code)`. `generated` is allowed even then, but compiles only in the file
/// that the build script wrote, whichever macros pass it on. So it is as reliable as the build
/// helper. To fake it, somebody would have to write that file in the build script, give rustc a
/// file whose path ends the same, or replace `ocaml_boxroot` by macros that pass on other text.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_promise {
    (unsafe $message:expr) => {
        #[allow(unsafe_code)]
        const _: () = ();
    };
    (generated $message:expr) => {
        $crate::macro_support::only_generated(
            $crate::macro_support::file!(),
            $crate::macro_support::option_env!("OUT_DIR"),
            $message,
        );
    };
}
