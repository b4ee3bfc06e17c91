//! Declares records and variants.

mod bound;
pub(crate) mod field;
pub(crate) mod form;
mod items;
mod mistakes;
pub(crate) mod names;
pub(crate) mod parts;

pub use field::Field;

/// Declares markers for OCaml records and variants, and conversions from and to Rust types.
///
/// ```
/// use ocaml_boxroot::{
///     ocaml_type, Boxroot, OCamlFloat, OCamlInt, OCamlList, OCamlString, ToOCaml,
/// };
///
/// ocaml_type! {
///     /// `type city = { name : string; height : int }`
///     pub struct OCamlCity for City { name: OCamlString, height: OCamlInt }
///
///     /// `type shape = Nothing | Circle of float | Rectangle of { width : float; height : float }
///     /// | Group of shape list`
///     pub enum OCamlShape for Shape {
///         Nothing,
///         Circle(OCamlFloat),
///         Rectangle { width: OCamlFloat, height: OCamlFloat },
///         Group(OCamlList<OCamlShape>),
///     }
///
///     /// ``type color = [ `Black | `Rgb of int * int * int ]``
///     pub polymorphic enum OCamlColor for Color {
///         Black,
///         Rgb(OCamlInt, OCamlInt, OCamlInt),
///     }
/// }
///
/// #[derive(Debug, PartialEq)]
/// struct City { name: String, height: u16 }
///
/// #[derive(Debug, PartialEq)]
/// enum Shape { Nothing, Circle(f64), Rectangle { width: f64, height: f64 }, Group(Vec<Shape>) }
///
/// #[derive(Debug, PartialEq)]
/// enum Color { Black, Rgb(u8, u8, u8) }
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let paris = City { name: "Paris".to_string(), height: 35 };
/// let root: Boxroot<OCamlCity> = paris.to_ocaml(lock)?;
/// assert_eq!(root.to_rust::<City>(lock)?, paris);
///
/// // One field: a copy, or the OCaml value.
/// let height: u16 = root.read(lock, OCamlCity::height)?;
/// assert_eq!(height, 35);
/// assert_eq!(root.get(lock).at(OCamlCity::name).as_str()?, "Paris");
///
/// let shapes = Shape::Group(vec![Shape::Circle(1.5), Shape::Nothing]);
/// assert_eq!(shapes.to_ocaml(lock)?.to_rust::<Shape>(lock)?, shapes);
/// # Ok(()) });
/// ```
///
/// Each item declares a *marker*: a type that only names the OCaml type, in `Value<'l, T>`,
/// `Boxroot<T>` and the types of functions. The name after `for` is a Rust type that values are
/// converted to and from. It has the same fields or constructors. Their Rust types may be any types
/// with the conversions; a [`Boxroot`](crate::Boxroot) leaves the value in OCaml. Without `for`,
/// the macro declares only the marker and the fields.
///
/// * Fields and constructors must be in the *order* of OCaml's declaration. Their names may differ
///   from OCaml's, except for the constructors of polymorphic variants.
/// * A `struct` has a constant for each field, for [`Value::read`](crate::Value::read) and
///   [`Value::at`](crate::Value::at).
/// * An `unboxed struct` is a type with `[@@unboxed]`: a record of one field, or a variant of one
///   constructor with one argument. OCaml represents the type as this field. `type metres = {
///   metres : float } [@@unboxed]` is written `unboxed struct OCamlMetres for Metres { metres:
///   OCamlFloat }`. An `unboxed struct` has no constants.
/// * OCaml stores a record in the flat form if all fields are floats. The macro assumes this form
///   if each field is [`OCamlFloat`](crate::OCamlFloat), or an `unboxed struct` of one. A field
///   must have one of these types if OCaml knows that it is a `float`, even through an abbreviation
///   or an unboxed type. It must have another marker if its type is a variable or abstract in
///   OCaml's declaration of the record.
/// * A constructor with several arguments (`of int * int`) has as many here, at most eight. A
///   constructor whose argument is a tuple (`of (int * int)`) has one argument, a tuple.
/// * A type with parameters has type parameters: ``type ('k, 'v) table = Tip of 'v | Fork of ('k,
///   'v) table * 'k`` is written `enum OCamlTable<K, V> for Table<K as RK, V as RV> { Tip(V),
///   Fork(OCamlTable<K, V>, K) }`, for a Rust type `enum Table<RK, RV> { Tip(RV),
///   Fork(Box<Table<RK, RV>>, RK) }`. After `for`, list the parameters of the Rust type in its
///   order. Write each as `K as RK`, where `K` is the marker's parameter. An `unboxed struct`
///   cannot have parameters. Nor can a record whose fields are all floats.
/// * An open polymorphic variant may have values whose constructor is not in the list. A conversion
///   of such a value returns [`Mismatch`](crate::ConversionErrorKind::Mismatch).
///
/// A marker is `Send` and `Sync` if the markers of all its fields and arguments are.
///
/// An error in a field or an argument says where it is: ``` `Fork.1`: number out of range … ```.
///
/// The macro accepts doc comments, but no other attributes. Types must be complete, without `_`.
///
/// The macro needs no `unsafe`. The promise that an OCaml value *has* this type is made where the
/// value enters Rust: in [`export!`](crate::export!), [`ocaml_functions!`](crate::ocaml_functions!)
/// or [`DomainLockExt::named`](crate::raw::DomainLockExt::named).
#[macro_export]
macro_rules! ocaml_type {
    () => {};
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis struct $name:ident $(<$($a:ident),+ $(,)?>)?
        $(for $rust:ident $(<$($t:ident as $r:ident),+ $(,)?>)?)?
        {
            $($(#[doc $(($($field_doc_list:tt)*))? $(= $field_doc:expr)?])* $field:ident: $type:ty),+ $(,)?
        }
        $($rest:tt)*
    ) => {
        $crate::ocaml_struct! {
            record [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name [$($($a)+)?]
            [$([$rust $(<$($r),+>)?] [$($($r: $t)+)?])?] [($name $($field)+)]
            $(([$(#[doc $(($($field_doc_list)*))? $(= $field_doc)?])*] $field $type))+
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis unboxed struct $name:ident $(for $rust:ident)? {
            $(#[doc $(($($field_doc_list:tt)*))? $(= $field_doc:expr)?])* $field:ident: $type:ty $(,)?
        }
        $($rest:tt)*
    ) => {
        $crate::ocaml_struct! {
            unboxed [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name []
            [$([$rust] [])?] [($name $field)] ([] $field $type)
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis enum $name:ident $(<$($a:ident),+ $(,)?>)?
        $(for $rust:ident $(<$($t:ident as $r:ident),+ $(,)?>)?)?
        { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_enum! {
            @normalise
            [
                [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name [$($($a)+)?]
                [$([$rust $(<$($r),+>)?] [$($($r: $t)+)?])?] ordinary
            ] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis polymorphic enum $name:ident $(<$($a:ident),+ $(,)?>)?
        $(for $rust:ident $(<$($t:ident as $r:ident),+ $(,)?>)?)?
        { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_enum! {
            @normalise
            [
                [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name [$($($a)+)?]
                [$([$rust $(<$($r),+>)?] [$($($r: $t)+)?])?] polymorphic
            ] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
    ($($mistaken:tt)*) => {
        $crate::mistaken_type! { $($mistaken)* }
    };
}
