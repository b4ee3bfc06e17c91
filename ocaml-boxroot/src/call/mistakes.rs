//! What the compiler says of declarations that the macros for functions do not take. Each macro skips the declarations that are
//! right, and says what is wrong with the first declaration that is not, or else what the form is.

/// For [`ocaml_functions!`](crate::ocaml_functions!).
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_functions {
    (unsafe { $($functions:tt)* }) => {
        $crate::mistaken_functions! { @find $($functions)* }
    };
    (unsafe { $($functions:tt)* } $($more:tt)+) => {
        $crate::macro_support::compile_error!("ocaml_functions!: nothing stands after `unsafe { … }`");
    };
    (@find $(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident $($more:tt)*) => {
        $crate::mistaken_functions! {
            @error $name "the word `unsafe` stands once, before the braces: `unsafe { fn …; fn …; }`"
        }
    };
    (@find $(#[$attribute:meta])* $visibility:vis fn $name:ident < $($more:tt)*) => {
        $crate::mistaken_functions! {
            @error $name "a function has no type parameters here; declare it once for each type, or with OCamlAny if its arguments may be of different types"
        }
    };
    (@find $(#[$attribute:meta])* $visibility:vis fn $name:ident $arguments:tt -> = $($more:tt)*) => {
        $crate::mistaken_functions! { @error $name "the type after `->` is missing; a function of no result has no `->`" }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $registered:literal; $($more:tt)*
    ) => {
        $crate::mistaken_functions! { @find $($more)* }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $registered:literal $($more:tt)*
    ) => {
        $crate::mistaken_functions! { @error $name "a `;` is missing after the name that OCaml registers" }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? { $($body:tt)* } $($more:tt)*
    ) => {
        $crate::mistaken_functions! {
            @error $name "it has no body, because it is OCaml's; a function of Rust for OCaml is declared by export!"
        }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $(= $($more:tt)*)?
    ) => {
        $crate::mistaken_functions! { @missing_name $name }
    };
    (
        @find $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? ; $($more:tt)*
    ) => {
        $crate::mistaken_functions! { @missing_name $name }
    };
    (@find $(#[$attribute:meta])* $visibility:vis fn $name:ident($($arguments:tt)*) $($more:tt)*) => {
        $crate::mistaken_functions! { @error $name "each argument is `name: Type`, with a marker as its type, such as OCamlInt" }
    };
    (@missing_name $name:ident) => {
        $crate::mistaken_functions! { @error $name "the name that OCaml registers is missing at the end: `= \"name\";`" }
    };
    (@error $name:ident $($message:literal)+) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_functions!: `", $crate::macro_support::stringify!($name), "`: ", $($message),+
        ));
    };
    ($($tokens:tt)*) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_functions! takes `unsafe { fn name(argument: OCamlType, …) -> OCamlType = \"registered name\"; … }`, where ",
            "`unsafe` is the promise that OCaml registers such functions",
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
            @error $name "the word `unsafe` is missing before `fn`: the promise that OCaml declares the function with these types"
        }
    };
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident() $($more:tt)*) => {
        $crate::mistaken_exports! { @token $name }
    };
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident($first:ident: $($arguments:tt)*) $($more:tt)*) => {
        $crate::mistaken_exports! { @token $name }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident($lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?)
        { $($body:tt)* } $($more:tt)*
    ) => {
        $crate::mistaken_exports! { @error $name "the result is missing; without one, it is `-> Result<() as (), Error>`" }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident($lock:ident $(, $argument:ident: $type:ty $(as $rust:ty)?)* $(,)?)
        -> $($more:tt)*
    ) => {
        $crate::mistaken_exports! {
            @error $name "the result is `Result<OCamlType, Error>` or `Result<OCamlType as RustType, Error>`, and a body follows"
        }
    };
    ($(#[$attribute:meta])* $visibility:vis unsafe fn $name:ident($lock:ident $($arguments:tt)*) $($more:tt)*) => {
        $crate::mistaken_exports! {
            @error $name "each argument after the token is `name: OCamlType` or `name: OCamlType as RustType`"
        }
    };
    (@token $name:ident) => {
        $crate::mistaken_exports! { @error $name "the first argument is a name for the token, without a type: `lock`" }
    };
    (@error $name:ident $($message:literal)+) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "export!: `", $crate::macro_support::stringify!($name), "`: ", $($message),+
        ));
    };
    ($($tokens:tt)*) => {
        $crate::macro_support::compile_error!(
            "export! takes `unsafe fn name(lock, argument: OCamlType as RustType, …) -> Result<OCamlType as RustType, ConversionError> { … }`"
        );
    };
}
