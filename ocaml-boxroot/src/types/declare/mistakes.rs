//! What the compiler says of declarations that [`ocaml_type!`](crate::ocaml_type!) does not take.

/// For [`ocaml_type!`](crate::ocaml_type!): says what is wrong with the declaration at the beginning, or else what the form is.
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_type {
    (#[doc $($doc:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { $($more)* }
    };
    (#[$($attribute:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { @attribute $($attribute)* }
    };
    ($visibility:vis unboxed enum $name:ident $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "a variant with `[@@unboxed]` is declared as `unboxed struct`, with the argument as its field"
        }
    };
    (
        $visibility:vis unboxed struct $name:ident $(for $rust:ident)?
        { $field:ident: $type:ty, $($fields:tt)+ } $($more:tt)*
    ) => {
        $crate::mistaken_type! { @error $name "an unboxed type has one field" }
    };
    ($visibility:vis unboxed struct $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @head $name $($more)* }
    };
    ($visibility:vis struct $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @head $name $($more)* }
    };
    ($visibility:vis enum $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @head $name $($more)* }
    };
    ($visibility:vis polymorphic enum $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @head $name $($more)* }
    };
    (@head $name:ident $(<$($a:ident),+ $(,)?>)? $(for $rust:ident $(<$($t:ident as $r:ident),+ $(,)?>)?)? { $($body:tt)* } $($more:tt)*) => {
        $crate::mistaken_type! { @fields $name $($body)* }
    };
    (@head $name:ident $(<$($a:ident),+ $(,)?>)? for { $($body:tt)* } $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "the name of the Rust type is missing after `for`" }
    };
    (@head $name:ident $(<$($a:ident),+ $(,)?>)? for $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "after `for` stands the name of a Rust type, without a path; its parameters are `<A as R>`: an `A` of the "
            "marker is converted to an `R`"
        }
    };
    (@head $name:ident $(<$($a:ident),+ $(,)?>)? ($($fields:tt)*) $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "a record has fields with names: `{ field: OCamlType, … }`; a tuple needs no declaration: it is `(A, B)`"
        }
    };
    (@head $name:ident $(<$($a:ident),+ $(,)?>)? ; $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "its fields are missing; a type of which nothing is known needs no declaration, only `enum Name {}`"
        }
    };
    (@head $name:ident < $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "parameters are names, without bounds or lifetimes: `OCamlPair<A, B> for Pair<A as R, B as S>`, and an "
            "unboxed type has none"
        }
    };
    (@fields $name:ident #[doc $($doc:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { @fields $name $($more)* }
    };
    (@fields $name:ident #[$($attribute:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { @attribute $($attribute)* }
    };
    (@fields $name:ident $field:ident: $type:ty $(, $($more:tt)*)?) => {
        $crate::mistaken_type! { @fields $name $($($more)*)? }
    };
    (@fields $name:ident $field:ident: $type:ty; $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "fields are separated by commas" }
    };
    (@fields $name:ident pub $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "fields have no `pub` here; they are as public as the marker" }
    };
    (@fields $name:ident mutable $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "fields have no `mutable` here" }
    };
    (@fields $name:ident $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "each field is `name: OCamlType`, and there is one at least" }
    };
    (@attribute $($attribute:tt)*) => {
        $crate::macro_support::compile_error!($crate::macro_support::concat!(
            "ocaml_type!: `#[", $crate::macro_support::stringify!($($attribute)*),
            "]`: comments are the only attributes here; others belong to the Rust type, which is declared elsewhere"
        ));
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

/// For [`ocaml_type!`](crate::ocaml_type!): says what is wrong with the constructor at the beginning, or else what the form is.
#[doc(hidden)]
#[macro_export]
macro_rules! mistaken_variant {
    ($name:ident #[doc $($doc:tt)*] $($more:tt)*) => {
        $crate::mistaken_variant! { $name $($more)* }
    };
    ($name:ident #[$($attribute:tt)*] $($more:tt)*) => {
        $crate::mistaken_type! { @attribute $($attribute)* }
    };
    ($name:ident $($constructor:ident)? | $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "constructors are separated by commas, and not by `|`" }
    };
    ($name:ident $constructor:ident of $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "OCaml's `A of int * string` is `A(OCamlInt, OCamlString)` here" }
    };
    ($name:ident $constructor:ident = $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "constructors have no numbers here: OCaml numbers them in order" }
    };
    ($name:ident $constructor:ident () $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "a constructor without arguments has no parentheses" }
    };
    ($name:ident $constructor:ident ($($type:ty),+ $(,)?) $($more:tt)*) => {
        $crate::mistaken_variant! { @comma $name }
    };
    ($name:ident $constructor:ident ($($types:tt)*) $($more:tt)*) => {
        $crate::mistaken_type! { @error $name "arguments are types: `Constructor(OCamlType, …)`; with names, `Constructor { name: OCamlType }`" }
    };
    ($name:ident $constructor:ident { $($label:ident: $type:ty),+ $(,)? } $($more:tt)*) => {
        $crate::mistaken_variant! { @comma $name }
    };
    ($name:ident $constructor:ident { $($labels:tt)* } $($more:tt)*) => {
        $crate::mistaken_type! { @fields $name $($labels)* }
    };
    ($name:ident $constructor:ident $($more:tt)+) => {
        $crate::mistaken_variant! { @comma $name }
    };
    (@comma $name:ident) => {
        $crate::mistaken_type! { @error $name "a comma is missing after a constructor" }
    };
    ($name:ident $($more:tt)*) => {
        $crate::mistaken_type! {
            @error $name "each constructor is `Name`, `Name(OCamlType, …)` or `Name { label: OCamlType, … }`"
        }
    };
}
