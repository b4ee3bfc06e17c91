//! The macro for Rust functions that OCaml calls.

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
/// The body returns a [`Boxroot`](crate::Boxroot) of the result's type or, with `as`, a Rust type
/// that is [`ToOCaml`](crate::ToOCaml). A body without a result returns `Result<(), E>`. The first
/// name is the token (`&mut DomainLock`): the body may allocate and call OCaml. More than about 120
/// functions in one `export!` need a larger `#![recursion_limit]`. The error may be any nameable
/// type that converts into `Box<dyn std::error::Error>`. If it is an
/// [`Exception`](crate::Exception), or has one among its sources, as a
/// [`CallError`](crate::CallError) may, OCaml sees this exception. OCaml sees any other error, and
/// a panic, as `Failure` with the whole text.
///
/// A function may have any number of arguments; one without arguments takes OCaml's `()`. For more
/// than five arguments, OCaml needs a second function for bytecode, which the macro defines as
/// `NAME_bytecode`: `external f : … = "example_f_bytecode" "example_f"`.
///
/// The macro also defines a safe Rust function with the same name, which takes the token and the
/// arguments.
///
/// # Safety
///
/// With `unsafe` you promise that OCaml declares `external name : … = "name"` with these types,
/// without the attributes `[@@noalloc]`, `[@unboxed]` and `[@untagged]`, and that no other library
/// defines the symbol. With `[@@noalloc]`, OCaml does not expect a collection or an exception; with
/// `[@unboxed]` and `[@untagged]`, it passes bare numbers instead of values. For such declarations,
/// use bindings (`docs/guide/bindings.md`). The function must not be the finaliser of a custom
/// block, which must not allocate. On OCaml 4, functions among the arguments must not call
/// `Thread.exit`, which would jump over Rust frames.
///
/// OCaml calls an `external` with as many arguments as its declared type has arrows: two for
/// `int -> (string -> string)`. If the result is a [`Function`](crate::Function), give its type a
/// name: `type change = string -> string`, and `external name : int -> change = "name"`.
///
/// If the declaration has type variables, you also promise that the body treats values of these
/// types as OCaml's type checker demands of OCaml code. For example, the body of
/// `external pick : 'a -> 'a -> 'a`, with the type [`OCamlAny`](crate::OCamlAny) here, must return
/// one of its arguments.
///
/// `#![forbid(unsafe_code)]` refuses the macro; `deny` does not. Put a `#[cfg]` around the macro,
/// not inside it.
///
/// # How the exception is raised
///
/// When the exception is raised, the body has returned and dropped its values. No panic leaves the
/// function. OCaml's exception jumps over the frame of the exported function itself, which has
/// nothing to drop. Rust allows that (RFC 2945, "plain old frames").
#[macro_export]
macro_rules! export {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident($($argument:tt)*) -> Result<(), $error:ty> $body:block
        $($more:tt)*
    ) => {
        $crate::export! {
            $(#[$attribute])*
            $visibility unsafe fn $name($($argument)*) -> Result<() as (), $error> $body
            $($more)*
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident(
            $lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?
        ) -> Result<$result:ty $(as $converted:ty)?, $error:ty> $body:block
        $($more:tt)*
    ) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, clippy::unnecessary_wraps)]
        $visibility fn $name(
            $lock: &mut $crate::DomainLock
            $(, $argument: $crate::export_argument!(type $type $(as $rust)?))*
        ) -> $crate::macro_support::Result<$crate::export_result!(type $result $(as $converted)?), $error> $body

        // A constant, because an argument may have the name of the user's function.
        const _: () = {
            const OCAML_BOXROOT_BODY: fn(
                &mut $crate::DomainLock
                $(, $crate::export_argument!(type $type $(as $rust)?))*
            ) -> $crate::macro_support::Result<$crate::export_result!(type $result $(as $converted)?), $error> = $name;

            // In the signature of an item, the compiler does not infer types: `_` is an error.
            const _: $crate::macro_support::PhantomData<fn($($type),*) -> $result> =
                $crate::macro_support::PhantomData;

            $crate::export_entry! {
                unsafe $crate::macro_support::stringify!($name),
                [$crate::macro_support::concat!($crate::macro_support::stringify!($name), "_bytecode")]
                $name [OCAML_BOXROOT_BODY] [] [$($argument: $type $(as $rust)?),*] [$result $(as $converted)?]
            }
        };

        $crate::export! { $($more)* }
    };
    ($($mistaken:tt)*) => {
        $crate::mistaken_exports! { $($mistaken)* }
    };
}

/// For [`export!`] and generated bindings: the function that OCaml calls. It runs `$before` first.
/// `(): ()` is an argument that Rust leaves out.
#[doc(hidden)]
#[macro_export]
macro_rules! export_entry {
    ($promise:ident $symbol:expr, $bytecode:tt $name:ident $body:tt $before:tt [] $result:tt) => {
        $crate::export_entry! { $promise $symbol, $bytecode $name $body $before [(): ()] $result }
    };
    (
        $promise:ident $symbol:expr, $bytecode:tt $name:ident [$($body:tt)+] [$($before:tt)*]
        [$($(() : $unit:tt)? $($argument:ident: $type:ty $(as $rust:ty)?)?),+] [$result:ty $(as $converted:ty)?]
    ) => {
        const _: () = { $crate::ocaml_promise! { $promise $crate::macro_support::EXTERNALS } };

        #[export_name = $symbol]
        unsafe extern "C" fn ocaml_boxroot_entry(
            $($($argument: $crate::raw::Value)? $(_: $crate::macro_support::Raw<$unit>)?),+
        ) -> $crate::raw::Value {
            // SAFETY: OCaml called this function with live values of these types
            // (`ocaml_promise!`), and this frame has nothing to drop.
            unsafe {
                $crate::macro_support::enter(move |lock| {
                    $($before)*
                    $($(let $argument = $crate::export_argument!(take lock $name $argument $type $(as $rust)?);)?)+
                    let result = $($body)+(lock, $($($crate::export_argument!(pass $argument $(as $rust)?),)?)+)?;
                    $($($crate::export_argument!(end lock $argument $(as $rust)?);)?)+
                    $crate::export_result!(raw lock $name result $result $(as $converted)?)
                })
            }
        }

        $crate::export_bytecode! { $promise $bytecode $($($argument)? $($unit)?)+ }
    };
}

/// For [`export_entry!`]: the function for bytecode, if there are more than five arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! export_bytecode {
    ($promise:ident [] $($argument:tt)+) => {};
    ($promise:ident [$symbol:expr] $a:tt $($b:tt $($c:tt $($d:tt $($e:tt)?)?)?)?) => {};
    ($promise:ident [$symbol:expr] $($argument:tt)+) => {
        const _: () = { $crate::ocaml_promise! { $promise $crate::macro_support::EXTERNALS } };

        #[export_name = $symbol]
        unsafe extern "C" fn ocaml_boxroot_bytecode(
            arguments: *const $crate::raw::Value,
            _count: $crate::macro_support::c_int,
        ) -> $crate::raw::Value {
            let mut next = arguments;
            // SAFETY: the bytecode runtime passes an array with all arguments that OCaml declares.
            unsafe { ocaml_boxroot_entry($($crate::export_argument!(next next $argument)),+) }
        }
    };
}

/// For [`export_entry!`]: the type of an argument for the body, and the code that converts it from
/// OCaml's value, finds it in bytecode, passes it on, and drops it.
#[doc(hidden)]
#[macro_export]
macro_rules! export_argument {
    (type $type:ty) => { &$crate::RootRef<$type> };
    (type $type:ty as $rust:ty) => { $rust };
    (take $lock:ident $name:ident $argument:ident $type:ty) => {
        $crate::macro_support::Argument::<$type>::new($lock, $argument)?
    };
    (take $lock:ident $name:ident $argument:ident $type:ty as $rust:ty) => {
        $crate::macro_support::converted::<$type, $rust>(
            $lock,
            $argument,
            $crate::macro_support::Place(
                $crate::macro_support::stringify!($argument),
                $crate::macro_support::stringify!($name),
            ),
        )?
    };
    (next $next:ident $argument:tt) => { $crate::macro_support::next(&mut $next) };
    (pass $argument:ident) => { $crate::macro_support::Argument::get(&$argument) };
    (pass $argument:ident as $rust:ty) => { $argument };
    (end $lock:ident $argument:ident) => { $crate::macro_support::Argument::end($argument, $lock) };
    (end $lock:ident $argument:ident as $rust:ty) => {};
}

/// For [`export_entry!`]: the type of the body's result, and the code that converts it to a value.
#[doc(hidden)]
#[macro_export]
macro_rules! export_result {
    (type $type:ty) => { $crate::Boxroot<$type> };
    (type $type:ty as $rust:ty) => { $rust };
    (raw $lock:ident $name:ident $result:ident $type:ty) => {
        $crate::macro_support::Ok($crate::macro_support::unrooted::<$type>($lock, $result))
    };
    (raw $lock:ident $name:ident $result:ident $type:ty as $rust:ty) => {
        $crate::macro_support::Ok($crate::macro_support::result::<$type, $rust>(
            $lock,
            &$result,
            $crate::macro_support::stringify!($name),
        )?)
    };
}
