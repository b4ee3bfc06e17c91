//! Functions of Rust that OCaml calls: the macro.

/// Defines functions that OCaml can call.
///
/// ```
/// use ocaml_boxroot::{export, ConversionError, OCamlInt, OCamlList, OCamlString};
///
/// export! {
///     /// `external repeat : string -> int -> string = "example_repeat"`
///     unsafe fn example_repeat(lock, text: OCamlString as String, times: OCamlInt as usize)
///         -> Result<OCamlString as String, ConversionError>
///     {
///         Ok(text.repeat(times))
///     }
///
///     /// `external twice : string list -> string list * string list = "example_twice"`
///     unsafe fn example_twice(lock, list: OCamlList<OCamlString>)
///         -> Result<(OCamlList<OCamlString>, OCamlList<OCamlString>), ConversionError>
///     {
///         ocaml_boxroot::ToOCaml::to_ocaml(&(list, list), lock)
///     }
/// }
/// ```
///
/// The body gets each argument as a root that the macro made, a [`&RootRef`](crate::RootRef) of its
/// type. With `as`, it gets a copy instead, of a Rust type that is [`FromOCaml`](crate::FromOCaml).
/// The result is a [`Boxroot`](crate::Boxroot) of its type or, with `as`, of a Rust type that is
/// [`ToOCaml`](crate::ToOCaml). The first name is that of the token (`&mut DomainLock`): the body
/// may allocate and call OCaml. The body's error is of any type with a name, not `impl …`, that `?`
/// turns into a `Box<dyn std::error::Error>`. If it is an [`Exception`](crate::Exception), or has
/// one inside (a [`CallError`](crate::CallError), or any error that has one among its sources),
/// OCaml sees this exception. OCaml sees any other error, and a panic, as the exception `Failure`
/// with the whole text.
///
/// A function may have any number of arguments; one without arguments takes OCaml's `()`. For more than five arguments,
/// OCaml needs a second function for bytecode, which the macro defines as `NAME_bytecode`:
/// `external f : … = "example_f_bytecode" "example_f"`.
///
/// In Rust, the macro defines a safe function with the same name, which takes the token and the arguments.
///
/// # Safety
///
/// `unsafe` stands for the promise that OCaml declares `external name : … = "name"` with these
/// types, without the attributes `[@@noalloc]`, `[@unboxed]` and `[@untagged]`, and that no other library defines the symbol.
/// With `[@@noalloc]`, OCaml does not expect a collection or an exception; with `[@unboxed]` and `[@untagged]`, it passes bare
/// numbers instead of values. Bindings have functions for such declarations (`docs/guide/bindings.md`). The function must not be the finaliser of a custom block, where nothing may be allocated. On OCaml 4,
/// functions among the arguments do not call `Thread.exit`, which would jump over Rust frames.
///
/// OCaml counts the arrows of the declaration. `int -> (string -> string)` is the type of a function of two arguments, and OCaml would
/// call a symbol of this type with both. So where the result is a [`Function`](crate::Function), the declaration has a name for its
/// type: `type change = string -> string`, and `external name : int -> change = "name"`.
///
/// Where the declaration has type variables, the promise is about the body, too: it treats values of these types as OCaml's type checker
/// demands of OCaml code. So the body of `external pick : 'a -> 'a -> 'a`, whose types are [`OCamlAny`](crate::OCamlAny) here, returns one
/// of its arguments, and nothing else.
///
/// # How the exception is raised
///
/// When the exception is raised, the body has ended and has dropped what it owned. No panic leaves the
/// function. OCaml's exception jumps over the frame of the exported function itself, which has nothing
/// to drop; the language allows that (RFC 2945, "plain old frames").
#[macro_export]
macro_rules! export {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident(
            $lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?
        ) -> Result<$result:ty $(as $converted:ty)?, $error:ty> $body:block
    )+) => {$(
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, clippy::unnecessary_wraps)]
        $visibility fn $name(
            $lock: &mut $crate::DomainLock
            $(, $argument: $crate::export_argument!(type $type $(as $rust)?))*
        ) -> $crate::macro_support::Result<$crate::export_result!(type $result $(as $converted)?), $error> $body

        // The constant refers to the user's function. In the inner block, the function with the symbol's name hides the user's
        // function, and an argument may hide it, too.
        #[allow(unsafe_code)] // an error under `forbid(unsafe_code)`: this is a promise
        const _: () = {
            const OCAML_BOXROOT_BODY: fn(
                &mut $crate::DomainLock
                $(, $crate::export_argument!(type $type $(as $rust)?))*
            ) -> $crate::macro_support::Result<$crate::export_result!(type $result $(as $converted)?), $error> = $name;

            // Types in the signature of an item are not inferred.
            const _: $crate::macro_support::PhantomData<fn($($type),*) -> $result> =
                $crate::macro_support::PhantomData;

            const _: () = {
                $crate::export_entry!(
                    unsafe $name OCAML_BOXROOT_BODY [$($argument: $type $(as $rust)?),*] [$result $(as $converted)?]
                );
            };
        };
    )+};
    ($($mistaken:tt)*) => {
        $crate::mistaken_exports! { $($mistaken)* }
    };
}

/// For [`export!`]: the function that OCaml calls. This macro and the next two are as unsafe as `export!`, and say so.
#[doc(hidden)]
#[macro_export]
macro_rules! export_entry {
    (unsafe $name:ident $body:ident [] $result:tt) => {
        #[allow(unsafe_code)] // this and the following: an error under `forbid(unsafe_code)`
        #[no_mangle]
        unsafe extern "C" fn $name(_unit: $crate::sys::Value) -> $crate::sys::Value {
            $crate::export_call!(unsafe $name $body [] $result)
        }
    };
    (unsafe $name:ident $body:ident [$($argument:ident: $type:ty $(as $rust:ty)?),+] $result:tt) => {
        #[allow(unsafe_code)]
        #[no_mangle]
        unsafe extern "C" fn $name($($argument: $crate::sys::Value),+) -> $crate::sys::Value {
            $crate::export_call!(unsafe $name $body [$($argument: $type $(as $rust)?),+] $result)
        }

        $crate::export_bytecode!(unsafe $name $($argument)+);
    };
}

/// For [`export!`]: the body of the function that OCaml calls.
#[doc(hidden)]
#[macro_export]
macro_rules! export_call {
    (
        unsafe $name:ident $body:ident [$($argument:ident: $type:ty $(as $rust:ty)?),*] [$result:ty $(as $converted:ty)?]
    ) => {{
        // SAFETY: OCaml called this function with live values of these types (promise of the user's `unsafe`), and
        // the result of `enter` is returned or raised.
        #[allow(unsafe_code)]
        let result = unsafe {
            let result = $crate::export_support::enter(|lock| {
                $(let $argument = $crate::export_argument!(take lock $name $argument $type $(as $rust)?);)*
                let result = $body(lock $(, $crate::export_argument!(pass $argument $(as $rust)?))*)?;
                $($crate::export_argument!(end lock $argument $(as $rust)?);)*
                $crate::export_result!(raw lock $name result $result $(as $converted)?)
            });
            $crate::export_end!(result)
        };
        result
    }};
}

/// For [`export!`]: returns or raises what `enter` has returned.
#[doc(hidden)]
#[macro_export]
macro_rules! export_end {
    ($result:ident) => {
        match $result {
            $crate::macro_support::Ok(value) => value,
            $crate::macro_support::Err(exception) => $crate::export_support::raise(exception),
        }
    };
}

/// For [`export!`]: the function that bytecode calls, if there are more than five arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! export_bytecode {
    (unsafe $name:ident $a:ident $($b:ident $($c:ident $($d:ident $($e:ident)?)?)?)?) => {};
    (unsafe $name:ident $($argument:ident)+) => {
        #[allow(unsafe_code)]
        #[export_name = $crate::macro_support::concat!($crate::macro_support::stringify!($name), "_bytecode")]
        unsafe extern "C" fn ocaml_boxroot_bytecode(
            arguments: *const $crate::sys::Value,
            _count: $crate::macro_support::c_int,
        ) -> $crate::sys::Value {
            // SAFETY: the bytecode runtime passes an array of as many arguments as OCaml declares.
            unsafe {
                let mut next = arguments;
                $name($($crate::export_argument!(next $argument next)),+)
            }
        }
    };
}

/// For [`export!`]: an argument's type for the body, how it is made from OCaml's value, how it is found in bytecode, how it is
/// passed, and how it ends.
#[doc(hidden)]
#[macro_export]
macro_rules! export_argument {
    (type $type:ty) => { &$crate::RootRef<$type> };
    (type $type:ty as $rust:ty) => { $rust };
    (take $lock:ident $name:ident $argument:ident $type:ty) => {
        $crate::export_support::rooted::<$type>(
            $lock,
            $argument,
            $crate::looks!($type),
            $crate::export_argument!(place $argument $name),
        )?
    };
    (take $lock:ident $name:ident $argument:ident $type:ty as $rust:ty) => {
        $crate::export_support::converted::<$type, $rust>(
            $lock,
            $argument,
            $crate::export_argument!(place $argument $name),
        )?
    };
    (place $argument:ident $name:ident) => {
        $crate::export_support::Place(
            $crate::macro_support::stringify!($argument),
            $crate::macro_support::stringify!($name),
        )
    };
    (next $argument:ident $next:ident) => { $crate::export_support::next(&mut $next) };
    (pass $argument:ident) => { $crate::export_support::Argument::get(&$argument) };
    (pass $argument:ident as $rust:ty) => { $argument };
    (end $lock:ident $argument:ident) => { $crate::export_support::Argument::end($argument, $lock) };
    (end $lock:ident $argument:ident as $rust:ty) => {};
}

/// For [`export!`]: a result's type for the body, and how the result becomes a value.
#[doc(hidden)]
#[macro_export]
macro_rules! export_result {
    (type $type:ty) => { $crate::Boxroot<$type> };
    (type $type:ty as $rust:ty) => { $rust };
    (raw $lock:ident $name:ident $result:ident $type:ty) => {
        $crate::macro_support::Ok($crate::export_support::unrooted::<$type>($lock, $result))
    };
    (raw $lock:ident $name:ident $result:ident $type:ty as $rust:ty) => {
        $crate::macro_support::Ok($crate::export_support::result::<$type, $rust>(
            $lock,
            &$result,
            $crate::macro_support::stringify!($name),
        )?)
    };
}
