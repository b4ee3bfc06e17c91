//! Types in generated bindings, which state how values are represented.

/// For the bindings that the build helper of `ocaml-boxroot-sys` generates: a marker and its
/// conversions, like those of [`ocaml_type!`](crate::ocaml_type!). The representation of the values
/// comes from OCaml's compiler, not from a rule about the types of the parts.
///
/// * `record`, `flat` (a record in the flat form of floats): `OCamlPoint for Point { 0 x:
///   OCamlFloat, 1 y: OCamlFloat }`.
/// * `unboxed`: one field, written as for `record`, or one constructor with one part. `is_float`
///   then says whether the type is represented as a float.
/// * `variant`: `Leaf = 0` is an immediate, `Node block 1 (0 a: T, 1 b: T)` or
///   `Node block 1 { 0 label: T }` a block with that tag, ``A tagged 65 (0 a: T)`` a constructor of
///   a polymorphic variant with that hash and an argument.
/// * `abstract`: only a marker.
/// * `boxed`: `OCamlHandle for crate::Handle`, an abstract type whose values are boxes of that Rust
///   type. No two abstract types may have the same Rust type.
/// * `private` before one of these: there is no conversion to OCaml.
///
/// The parameters of the Rust type are either Rust types, as in `for Tree<A as RA>`; or markers, as
/// in `for Found[A]`: then the Rust type contains roots of their values.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_type {
    ($(#[doc = $doc:expr])* pub abstract $name:ident $(<$($a:ident),+>)?) => {
        $(#[doc = $doc])*
        pub struct $name $(<$($a),+>)? {
            never: $crate::macro_support::Infallible,
            _parameters: ($($($crate::macro_support::PhantomData<($a, fn($a) -> $a)>,)+)?),
        }

        // SAFETY: the marker stands for an OCaml type with these parameters. If it is unboxed, its
        // values may be those of a parameter, which is one type (by its bound).
        unsafe impl $(<$($a: $crate::markers::OneType),+>)? $crate::markers::OneType for $name $(<$($a),+>)? {
            const CHECKED: () = { $($(let () = <$a as $crate::markers::OneType>::CHECKED;)+)? };
        }

        impl $(<$($a),+>)? $crate::macro_support::Debug for $name $(<$($a),+>)? {
            fn fmt(
                &self,
                _: &mut $crate::macro_support::Formatter<'_>,
            ) -> $crate::macro_support::fmt::Result {
                match self.never {}
            }
        }
    };
    ($(#[doc = $doc:expr])* pub boxed $name:ident for $rust:ty) => {
        $(#[doc = $doc])*
        pub type $name = $crate::markers::OCamlBox<$rust>;

        impl $crate::macro_support::Implements for $rust {}
    };
    ($(#[doc = $doc:expr])* pub private $($type:tt)+) => {
        $crate::bound_type! { @read [$(#[doc = $doc])*] [] $($type)+ }
    };
    ($(#[doc = $doc:expr])* pub $($type:tt)+) => {
        $crate::bound_type! { @read [$(#[doc = $doc])*] [to] $($type)+ }
    };
    (
        @read $doc:tt $to:tt $kind:ident $name:ident $(<$($a:ident),+>)?
        $(for $($rust:ident)::+ $(<$($t:ident as $r:ident),+>)? $([$($m:ident),+])?)? { $($body:tt)* } $(is_float $is_float:tt)?
    ) => {
        $crate::bound_type! {
            @$kind $doc $to $name [$($($a)+)?]
            [$([$($rust)::+ $(<$($r),+>)? $(<$($m),+>)?] [$($($r: $t)+)?])?] [$($is_float)?] $($body)*
        }
    };
    (@record $doc:tt $to:tt $name:ident $generics:tt $rust:tt [] $($index:tt $field:ident: $type:ty),+ $(,)?) => {
        $crate::bound_type! {
            @struct $doc $to $name $generics $rust
            { &[(0, $crate::macro_support::Constructor::Block(0, $crate::macro_support::count(&[$($index),+])))] } [] false {}
            [$(([] $index $field $type, { false }))+]
            $($index $field: $type),+
        }
    };
    (@flat $doc:tt $to:tt $name:ident $generics:tt $rust:tt [] $($index:tt $field:ident: $type:ty),+ $(,)?) => {
        $crate::bound_type! {
            @struct $doc $to $name $generics $rust
            { &[(0, $crate::macro_support::Constructor::Flat($crate::macro_support::count(&[$($index),+])))] } [] false {}
            [$(([] $index $field $type, { true }))+]
            $($index $field: $type),+
        }
    };
    (@unboxed $doc:tt $to:tt $name:ident $generics:tt $rust:tt [$is_float:tt] $index:tt $field:ident: $type:ty $(,)?) => {
        $crate::bound_type! {
            @struct $doc $to $name $generics $rust
            { &[(0, $crate::macro_support::Constructor::Unboxed)] } [{ $is_float }] true { $generics [Self] $field }
            [] $index $field: $type
        }
    };
    (
        @struct $doc:tt $to:tt $name:ident $generics:tt $rust:tt $constructors:tt $is_float:tt $is_unboxed:tt $from_float:tt
        $fields:tt $($index:tt $field:ident: $type:ty),+
    ) => {
        $crate::ocaml_declare! {
            [
                $doc pub $name $generics constructors $constructors float $is_float unboxed $is_unboxed
                parts [(0 $generics $($type)+)]
            ]
            $name $generics $to $rust [struct $([$field])+] $from_float $fields
        }
    };
    (
        @unboxed $doc:tt $to:tt $name:ident $generics:tt $rust:tt [$is_float:tt]
        $constructor:ident $(($index:tt $part:ident: $type:ty))? $({ $index2:tt $label:ident: $type2:ty })? $(,)?
    ) => {
        $crate::bound_type! {
            @enum $doc $to $name $generics $rust
            { &[(0, $crate::macro_support::Constructor::Unboxed)] } [{ $is_float }] true
            { $generics [Self::$constructor] $($index)? $($label)? }
            ($constructor 0 $([$index $part $type])? $([$label $label $type2])?)
        }
    };
    (
        @variant $doc:tt $to:tt $name:ident $generics:tt $rust:tt []
        $($constructor:ident $(= $constant:literal)? $($kind:ident $number:literal)?
            $(($($index:tt $part:ident: $type:ty),+ $(,)?))?
            $({ $($index2:tt $label:ident: $type2:ty),+ $(,)? })?
        ),* $(,)?
    ) => {
        $crate::bound_type! {
            @enum $doc $to $name $generics $rust
            { &[$((
                $($crate::macro_support::constant_number($constant))? $($number)?,
                $crate::bound_constructor!($($constant)? $($kind $number)? $($($index)+)? $($($index2)+)?),
            )),*] }
            [] false {}
            $((
                $constructor $({ $crate::macro_support::constant_number($constant) })? $($number)?
                $($([$index $part $type])+)? $($([$label $label $type2])+)?
            ))*
        }
    };
    (
        @enum $doc:tt $to:tt $name:ident $generics:tt $rust:tt $constructors:tt $is_float:tt $is_unboxed:tt $from_float:tt
        $((
            $constructor:ident $number:tt
            $([$first:tt $first_binding:ident $first_type:ty] $([$member:tt $binding:ident $type:ty])*)?
        ))*
    ) => {
        $crate::ocaml_declare! {
            [
                $doc pub $name $generics constructors $constructors float $is_float unboxed $is_unboxed
                parts [$($(($number $generics $first_type $($type)*))?)*]
            ]
            $name $generics $to $rust
            [enum $(($constructor $number $([$first $first_binding] $([$member $binding])*)?))*]
            $from_float []
        }
    };
}

/// For [`bound_type!`](crate::bound_type!): a constructor, as OCaml represents it.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_constructor {
    ($number:literal) => {
        $crate::macro_support::Constructor::Constant($number)
    };
    (block $tag:literal $($index:tt)+) => {
        $crate::macro_support::Constructor::Block($tag, $crate::macro_support::count(&[$($index),+]))
    };
    (tagged $hash:literal $index:tt) => {
        $crate::macro_support::Constructor::Tagged($hash, 1)
    };
}
