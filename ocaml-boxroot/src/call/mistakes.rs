//! The compile errors for declarations that the function macros reject. Each macro skips correct
//! declarations and reports the first mistake.

/// For [`ocaml_functions!`](crate::ocaml_functions!).
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_functions {
    (unsafe { $($functions:tt)* }) => {
        $crate::mistaken_functions! { @find $($functions)* }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident $(<$($a:ident),+>)? $(($($argument:ident: $type:ty $(as $converted:ty)?),* $(,)?))?
        $(-> $result:ty $(as $rust:ty)?)? = $registered:literal; $($more:tt)*
    ) => {
        $crate::mistaken_functions! { @find $($more)* }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident $(<$($a:ident),+>)? $(($($argument:ident: $type:ty $(as $converted:ty)?),* $(,)?))?
        $(-> $result:ty $(as $rust:ty)?)? { $($body:tt)* } $($more:tt)*
    ) => {
        $crate::mistaken_functions! {
            @error $name "OCaml defines the body; use `export!` for Rust functions that OCaml calls"
        }
    };
    (@find $(#[$attribute:meta])* $visibility:vis fn $name:ident $($more:tt)*) => {
        $crate::mistaken_functions! {
            @error $name "write it as `fn name(argument: OCamlType, …) -> OCamlType as RustType = \"registered name\";`"
        }
    };
    (@error $name:ident $message:literal) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_functions!: `", $crate::macro_support::stringify!($name), "`: ", $message
        ));
    };
    ($($tokens:tt)*) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_functions! takes `unsafe { fn name(argument: OCamlType, …) -> OCamlType as RustType = \"registered name\"; … }`, ",
            "where `unsafe` is your promise that OCaml registers such functions. Declare exceptions in a separate block: ",
            "`unsafe { exception Name { argument: OCamlType as RustType, … } = \"registered name\"; … }`",
        ));
    };
}

/// For [`export!`](crate::export!).
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_exports {
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident(
            $lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?
        ) -> Result<$result:ty $(as $converted:ty)?, $error:ty> $body:block $($more:tt)*
    ) => {
        $crate::mistaken_exports! { $($more)* }
    };
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident $($more:tt)*) => {
        $crate::mistaken_exports! {
            @error $name "write `unsafe` before `fn`: it is your promise that OCaml declares the function with these types"
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident($lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?) $($more:tt)*
    ) => {
        $crate::mistaken_exports! {
            @error $name "the result must be `-> Result<OCamlType as RustType, Error>`, or `-> Result<(), Error>` for unit"
        }
    };
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident $($more:tt)*) => {
        $crate::mistaken_exports! {
            @error $name "the arguments must be a name for the token, without a type, and then `name: OCamlType` or `name: OCamlType as RustType`"
        }
    };
    (@error $name:ident $message:literal) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "export!: `", $crate::macro_support::stringify!($name), "`: ", $message
        ));
    };
    ($($tokens:tt)*) => {
        $crate::macro_support::compile_error!(
            "export! takes `unsafe fn name(lock, argument: OCamlType as RustType, …) -> Result<OCamlType as RustType, ConversionError> { … }`"
        );
    };
}
