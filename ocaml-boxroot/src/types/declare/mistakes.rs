//! The compiler's messages for declarations that [`ocaml_type!`](crate::ocaml_type!) rejects.

/// For [`ocaml_type!`](crate::ocaml_type!): reports the mistake in the first declaration.
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_type {
    (#[doc $($doc:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { $($more)* }
    };
    (#[$($attribute:tt)*] $($more:tt)*) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_type!: `#[", $crate::macro_support::stringify!($($attribute)*),
            "]`: only doc comments are allowed here; put other attributes on the Rust type, which is declared elsewhere"
        ));
    };
    ($visibility:vis unboxed $kind:ident $name:ident $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "write a type with `[@@unboxed]` as `unboxed struct OCamlName for RustName { field: OCamlType }`, with one field"
        }
    };
    ($visibility:vis struct $name:ident $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "write a record as `struct OCamlName for RustName { field: OCamlType, … }`; names cannot have paths or bounds, and "
            "fields cannot have attributes, `pub` or `mutable`; write parameters as `OCamlName<A> for RustName<A as R>`"
        }
    };
    ($visibility:vis enum $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @enum $name }
    };
    ($visibility:vis polymorphic enum $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @enum $name }
    };
    (@enum $name:ident) => {
        $crate::mistaken_type! {
            @error $name "write a variant as `enum OCamlName for RustName { Constant, Name(OCamlType, …), Other { label: OCamlType, … } }`; "
            "a constructor can have at most eight unlabelled arguments, and no attribute or number"
        }
    };
    (@error $name:ident $($message:literal)+) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_type!: `", $crate::macro_support::stringify!($name), "`: ", $($message),+
        ));
    };
    ($($tokens:tt)*) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_type! takes `struct OCamlName for RustName { field: OCamlType, … }`, `unboxed struct …`, ",
            "`enum OCamlName for RustName { Constructor(OCamlType, …), … }` and `polymorphic enum …`",
        ));
    };
}
