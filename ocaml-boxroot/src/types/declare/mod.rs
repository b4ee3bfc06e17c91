//! Records and variants.

use super::block::block;
use super::{FromOCaml, OCamlFloat, ToOCaml};
use crate::{ffi, Boxroot, DomainLock, Error, Kind, OCamlAny, RootRef, Value};
use std::marker::PhantomData;

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
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
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
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each item declares a *marker*: a type that only names the OCaml type, for `Value<'l, T>`, `Boxroot<T>`, and the types of
/// functions. The name after `for` is a Rust type that values are converted to and from. It has the same fields or
/// constructors. Their Rust types may be any types with the conversions; a [`Boxroot`] leaves the value in OCaml. Without
/// `for`, the macro declares only the marker and the fields.
///
/// * Fields and constructors stand in the *order* of OCaml's declaration. Their names may be others than in OCaml, except
///   those of polymorphic variants.
/// * A `struct` has a constant for each field, for [`Value::read`] and [`Value::at`].
/// * An `unboxed struct` is a type with `[@@unboxed]`: a record of one field, or a variant of one constructor with one
///   argument, which OCaml represents as this field. `type metres = { metres : float } [@@unboxed]` is
///   `unboxed struct OCamlMetres for Metres { metres: OCamlFloat }`. It has no constants.
/// * OCaml stores a record in the flat form if all fields are floats, and the macro assumes this form if all fields are
///   [`OCamlFloat`], or an `unboxed struct` of such a field. So the type of a field must be one of these where OCaml knows
///   that it is `float`, also by an abbreviation or an unboxed type; and it must be another marker where OCaml's declaration
///   of the record does not know that, because the type is a variable or abstract there.
/// * A constructor with several arguments (`of int * int`) has as many here, at most eight; one whose argument is a
///   tuple (`of (int * int)`) has one argument, a tuple.
/// * Converting an OCaml value whose constructor is not in the list, as open types have them, is [`Error::Mismatch`].
///
/// A marker is `Send` and `Sync` if those of all its fields and arguments are.
///
/// Comments are the only attributes that the macro takes. Types are written out: `_` stands for none.
///
/// The macro needs no `unsafe`: the promise that an OCaml value *has* this type is made where the value comes to Rust, in
/// [`export!`](crate::export!), [`ocaml_functions!`](crate::ocaml_functions!) or [`DomainLock::named`].
#[macro_export]
macro_rules! ocaml_type {
    () => {};
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis struct $name:ident $(for $rust:ident)? {
            $($(#[doc $(($($field_doc_list:tt)*))? $(= $field_doc:expr)?])* $field:ident: $type:ty),+ $(,)?
        }
        $($rest:tt)*
    ) => {
        $crate::ocaml_declare! {
            [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name record ($name $([$field $type])+)
        }
        $crate::ocaml_fields! { $name $([$(#[doc $(($($field_doc_list)*))? $(= $field_doc)?])*] $field: $type,)+ }
        $crate::ocaml_convert! { struct $name [$($rust)?] $($field)+ }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis unboxed struct $name:ident $(for $rust:ident)? {
            $(#[doc $(($($field_doc_list:tt)*))? $(= $field_doc:expr)?])* $field:ident: $type:ty $(,)?
        }
        $($rest:tt)*
    ) => {
        $crate::ocaml_declare! {
            [$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name unboxed ($name [$field $type])
        }
        $crate::ocaml_convert! { struct $name [$($rust)?] $field }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis enum $name:ident $(for $rust:ident)? { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @normalise [[$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name [$($rust)?] ordinary] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $visibility:vis polymorphic enum $name:ident $(for $rust:ident)? { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @normalise [[$(#[doc $(($($doc_list)*))? $(= $doc)?])*] [$visibility] $name [$($rust)?] polymorphic] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
}

/// For [`ocaml_type!`]: a variant. `@normalise` and `@zip` bring each constructor into the form
/// `(Constructor [part name Type] …)`, where the part is a number or a label, and the name that of a local variable.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_variant {
    (@normalise
        [[$($doc:tt)*] [$visibility:vis] $name:ident [$($rust:ident)?] $layout:ident]
        [$(($constructor:ident $([$part:tt $binding:ident $type:ty])*))*]
    ) => {
        $crate::ocaml_declare! {
            [$($doc)*] [$visibility] $name $layout $(($constructor $([$part $type])*))*
        }
        $crate::ocaml_convert! {
            enum $name [$($rust)?] $(($constructor $([$part $binding])*))*
        }
    };
    (
        @normalise $header:tt [$($done:tt)*]
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])* $constructor:ident $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_variant! { @normalise $header [$($done)* ($constructor)] $($($rest)*)? }
    };
    (
        @normalise $header:tt [$($done:tt)*] $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $constructor:ident { $($(#[doc $(($($label_doc_list:tt)*))? $(= $label_doc:expr)?])* $label:ident: $type:ty),+ $(,)? } $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_variant! {
            @normalise $header [$($done)* ($constructor $([$label $label $type])+)] $($($rest)*)?
        }
    };
    (
        @normalise $header:tt $done:tt $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $constructor:ident ($($type:ty),+ $(,)?) $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_variant! {
            @zip $header $done $constructor [] [$($type),+] [
                0 part_0 1 part_1 2 part_2 3 part_3 4 part_4 5 part_5 6 part_6 7 part_7
            ] $($($rest)*)?
        }
    };
    (@zip $header:tt [$($done:tt)*] $constructor:ident [$($zipped:tt)*] [] $names:tt $($rest:tt)*) => {
        $crate::ocaml_variant! { @normalise $header [$($done)* ($constructor $($zipped)*)] $($rest)* }
    };
    (
        @zip $header:tt $done:tt $constructor:ident [$($zipped:tt)*]
        [$type:ty $(, $types:ty)*] [$part:tt $name:ident $($names:tt)*] $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @zip $header $done $constructor [$($zipped)* [$part $name $type]] [$($types),*] [$($names)*] $($rest)*
        }
    };
}

/// For [`ocaml_type!`]: a marker, and all that unsafe code believes of it. Each type of the declaration means what it means
/// here, in items, where it is not inferred. Where it stands elsewhere, the compiler compares it with this one.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_declare {
    (
        [$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] [$visibility:vis] $name:ident $layout:ident
        $(($constructor:ident $([$part:tt $type:ty])*))*
    ) => {
        $(#[doc $(($($doc_list)*))? $(= $doc)?])*
        $visibility struct $name {
            never: $crate::macro_support::Infallible,
            // So the marker is `Send` and `Sync` if those of all parts are.
            _parts: ($($($crate::type_support::PartType<
                $name,
                { $crate::ocaml_index!($name $constructor) },
                { $crate::ocaml_index!($name $constructor $part) },
                $type,
            >,)*)*),
        }

        impl $crate::macro_support::Debug for $name {
            fn fmt(
                &self,
                _: &mut $crate::macro_support::Formatter<'_>,
            ) -> $crate::macro_support::fmt::Result {
                match self.never {}
            }
        }

        // SAFETY: no attribute can remove the struct above, so this is a new marker. Its values come from conversions of
        // this declaration, or with a promise that they have this form.
        #[doc(hidden)]
        unsafe impl $crate::type_support::Declared for $name {
            const FORM: $crate::type_support::Form = &[$((
                $crate::macro_support::stringify!($constructor),
                &[$($crate::macro_support::stringify!($part)),*],
            )),*];
            $crate::ocaml_layout! { $layout $name $(($constructor $([$part $type])*))* }
        }

        $($(
            // SAFETY: the declaration says that this part has this type.
            #[doc(hidden)]
            unsafe impl $crate::type_support::Part<
                { $crate::ocaml_index!($name $constructor) },
                { $crate::ocaml_index!($name $constructor $part) },
                $type,
            > for $name {}
        )*)*

        const _: () = $crate::type_support::check::<$name>();
    };
}

/// For [`ocaml_type!`]: the number of a constructor, or of a part of a constructor.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_index {
    ($name:ident $constructor:ident) => {
        $crate::type_support::constructor_index(
            <$name as $crate::type_support::Declared>::FORM,
            $crate::macro_support::stringify!($constructor),
        )
    };
    ($name:ident $constructor:ident $part:tt) => {
        $crate::type_support::part_index(
            <$name as $crate::type_support::Declared>::FORM,
            $crate::macro_support::stringify!($constructor),
            $crate::macro_support::stringify!($part),
        )
    };
}

/// For [`ocaml_type!`]: the rest of `Declared`.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_layout {
    (record $name:ident ($constructor:ident $([$part:tt $type:ty])+)) => {
        const LAYOUT: $crate::type_support::Layout = $crate::type_support::Layout::Record;
        const IS_FLAT: $crate::macro_support::bool =
            $($crate::ocaml_is_float!($name $constructor $part $type))&&+;
    };
    (unboxed $name:ident ($constructor:ident [$part:tt $type:ty])) => {
        const LAYOUT: $crate::type_support::Layout = $crate::type_support::Layout::Unboxed;
        const IS_FLOAT: $crate::macro_support::bool =
            $crate::ocaml_is_float!($name $constructor $part $type);
    };
    (ordinary $($form:tt)*) => {
        const LAYOUT: $crate::type_support::Layout = $crate::type_support::Layout::Ordinary;
    };
    (polymorphic $($form:tt)*) => {
        const LAYOUT: $crate::type_support::Layout = $crate::type_support::Layout::Polymorphic;
    };
}

/// For [`ocaml_type!`]: whether a part is a float.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_is_float {
    ($name:ident $constructor:ident $part:tt $type:ty) => {{
        use $crate::type_support::NotFloat as _;
        $crate::type_support::is_float::<
            $name,
            { $crate::ocaml_index!($name $constructor) },
            { $crate::ocaml_index!($name $constructor $part) },
            _,
        >($crate::type_support::Probe::<$type>::IS_FLOAT)
    }};
}

/// For [`ocaml_type!`]: the constants for the fields of a record.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_fields {
    ($name:ident $([$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] $field:ident: $type:ty,)+) => {
        #[allow(non_upper_case_globals)]
        impl $name {
            $(
                $(#[doc $(($($doc_list)*))? $(= $doc)?])*
                #[doc = $crate::macro_support::concat!(
                    "The field `", $crate::macro_support::stringify!($field), "`."
                )]
                pub const $field: $crate::Field<
                    $name, $type, { <$name as $crate::type_support::Declared>::IS_FLAT }
                > = $crate::type_support::field::<$name, { $crate::ocaml_index!($name $name $field) }, _, _>();
            )+
        }
    };
}

/// For [`ocaml_type!`]: the conversions. Here is nothing unsafe: these functions are safe for all arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_convert {
    ($item:tt $name:ident [] $($form:tt)*) => {};
    (struct $name:ident [$rust:ident] $($field:ident)+) => {
        impl $crate::ToOCaml<$name> for $rust {
            fn convert_to(
                &self,
                lock: &mut $crate::DomainLock,
            ) -> $crate::macro_support::Result<$crate::Boxroot<$name>, $crate::Error> {
                let parts = [$($crate::type_support::part::<
                    $name, 0, { $crate::ocaml_index!($name $name $field) }, _, _
                >(&self.$field, lock)?),+];
                $crate::type_support::make(lock, parts)
            }
        }

        impl $crate::FromOCaml<$name> for $rust {
            fn convert_from<'l>(
                value: $crate::Value<'l, $name>,
                lock: &'l $crate::DomainLock,
            ) -> $crate::macro_support::Result<Self, $crate::Error> {
                $crate::macro_support::Ok($rust {
                    $($field: $crate::type_support::read::<
                        $name, { $crate::ocaml_index!($name $name $field) }, _, _
                    >(value, lock)?),+
                })
            }

            fn from_float(
                x: $crate::macro_support::f64,
            ) -> $crate::macro_support::Result<Self, $crate::Error> {
                $crate::macro_support::Ok($rust {
                    $($field: $crate::type_support::read_float::<
                        $name, { $crate::ocaml_index!($name $name $field) }, _, _
                    >(x)?),+
                })
            }
        }
    };
    (enum $name:ident [$rust:ident] $(($constructor:ident $([$part:tt $binding:ident])*))*) => {
        impl $crate::ToOCaml<$name> for $rust {
            fn convert_to(
                &self,
                lock: &mut $crate::DomainLock,
            ) -> $crate::macro_support::Result<$crate::Boxroot<$name>, $crate::Error> {
                match self {
                    $($rust::$constructor { $($part: $binding),* } => {
                        let parts = [$($crate::type_support::part::<
                            $name,
                            { $crate::ocaml_index!($name $constructor) },
                            { $crate::ocaml_index!($name $constructor $part) },
                            _,
                            _,
                        >($binding, lock)?),*];
                        $crate::type_support::make::<
                            $name, { $crate::ocaml_index!($name $constructor) }, _
                        >(lock, parts)
                    })*
                }
            }
        }

        impl $crate::FromOCaml<$name> for $rust {
            fn convert_from<'l>(
                value: $crate::Value<'l, $name>,
                lock: &'l $crate::DomainLock,
            ) -> $crate::macro_support::Result<Self, $crate::Error> {
                $(if let $crate::macro_support::Some(parts) = $crate::type_support::parts::<
                    $name, { $crate::ocaml_index!($name $constructor) }
                >(value) {
                    return $crate::macro_support::Ok($rust::$constructor {
                        $($part: $crate::type_support::Parts::read::<
                            { $crate::ocaml_index!($name $constructor $part) }, _, _
                        >(parts, lock)?),*
                    });
                })*
                $crate::macro_support::Err($crate::Error::Mismatch)
            }
        }
    };
}

/// A field of type `F` of the records of type `T`; from [`ocaml_type!`]. Every `T` has this field. If `FLAT`, the record is
/// in the flat form of floats: its fields are numbers in a row, and not values.
pub struct Field<T, F, const FLAT: bool> {
    index: usize,
    _types: PhantomData<fn(T) -> F>,
}

impl<T, F, const FLAT: bool> Clone for Field<T, F, FLAT> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F, const FLAT: bool> Copy for Field<T, F, FLAT> {}

impl<'l, T> Value<'l, T> {
    /// A copy of a field of a record, as a Rust type.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Value::to_rust).
    #[track_caller]
    pub fn read<F, R: FromOCaml<F>, const FLAT: bool>(
        self,
        lock: &'l DomainLock,
        field: Field<T, F, FLAT>,
    ) -> Result<R, Error> {
        if FLAT {
            return R::from_float(self.flat_float(field.index).ok_or(Error::Mismatch)?);
        }
        // SAFETY: every `T` has this field, which is an `F` (`Field`).
        R::from_ocaml(unsafe { self.field(field.index) }, lock)
    }

    /// The value of a field of a record. Not for records in the flat form of floats, whose fields are not values: use
    /// [`read`](Value::read) there.
    pub fn at<F>(self, field: Field<T, F, false>) -> Value<'l, F> {
        // SAFETY: every `T` has this field, which is an `F` (`Field`).
        unsafe { self.field(field.index) }
    }
}

impl<T> RootRef<T> {
    /// A copy of a field of a record; see [`Value::read`].
    ///
    /// # Errors
    ///
    /// As [`Value::to_rust`].
    #[track_caller]
    pub fn read<F, R: FromOCaml<F>, const FLAT: bool>(
        &self,
        lock: &DomainLock,
        field: Field<T, F, FLAT>,
    ) -> Result<R, Error> {
        self.get(lock).read(lock, field)
    }
}

/// For [`ocaml_type!`]. What is safe here is safe for all arguments: it relies on `Declared` and `Part` only.
pub mod type_support {
    use super::*;

    /// The constructors, with the names of their parts. A record has one constructor, whose parts are its fields.
    pub type Form = &'static [(&'static str, &'static [&'static str])];

    /// How OCaml represents a type.
    #[derive(Clone, Copy, PartialEq)]
    pub enum Layout {
        /// A block of the fields.
        Record,
        /// The value of the only field of a record, or of the only argument of the only constructor.
        Unboxed,
        /// A variant.
        Ordinary,
        /// A polymorphic variant.
        Polymorphic,
    }

    /// A marker of [`ocaml_type!`]. It is implemented once for each marker. So the compiler rejects a second declaration of
    /// a marker, with another form, and one for another crate's marker.
    ///
    /// # Safety
    ///
    /// All values of this type have this form, which [`check`] accepts, and their parts have the types that [`Part`] says.
    /// A record and an unboxed type have one constructor. `IS_FLAT` is whether this is a record whose fields are all floats,
    /// and `IS_FLOAT` whether it is an unboxed type whose part is one.
    pub unsafe trait Declared: Sized {
        /// The constructors and their parts, in the order of OCaml's declaration.
        const FORM: Form;
        /// How OCaml represents them.
        const LAYOUT: Layout;
        /// Whether the values are records in the flat form of floats.
        const IS_FLAT: bool = false;
        /// Whether the values are floats.
        const IS_FLOAT: bool = false;
    }

    /// A part, which is a field or an argument of a constructor, has this type.
    ///
    /// # Safety
    ///
    /// The part with number `PART` of the constructor with number `CONSTRUCTOR` is a `T`.
    pub unsafe trait Part<const CONSTRUCTOR: usize, const PART: usize, T>: Declared {}

    /// The type of a part, for `Send` and `Sync`. By the bound, the compiler compares it with that of [`Part`]: where a macro
    /// stands for the type, it may expand to another one each time.
    pub struct PartType<M: Part<C, P, T>, const C: usize, const P: usize, T>(
        PhantomData<(T, fn() -> M)>,
    );

    /// Whether a `T` is represented as a float.
    pub struct IsFloat<T>(bool, PhantomData<T>);

    /// `Probe::<T>::IS_FLOAT` is whether `T`, which is not a parameter there, is represented as a float.
    pub struct Probe<T>(PhantomData<T>);

    impl Probe<OCamlFloat> {
        /// Rust prefers this constant to that of [`NotFloat`].
        pub const IS_FLOAT: IsFloat<OCamlFloat> = IsFloat(true, PhantomData);
    }

    impl<T: Declared> Probe<T> {
        /// Rust prefers this constant to that of [`NotFloat`].
        pub const IS_FLOAT: IsFloat<T> = IsFloat(T::IS_FLOAT, PhantomData);
    }

    /// The constant for all other types.
    pub trait NotFloat<T> {
        /// It is not.
        const IS_FLOAT: IsFloat<T> = IsFloat(false, PhantomData);
    }

    impl<T> NotFloat<T> for Probe<T> {}

    /// Whether a part is a float.
    pub const fn is_float<M: Part<C, P, T>, const C: usize, const P: usize, T>(
        is_float: IsFloat<T>,
    ) -> bool {
        is_float.0
    }

    /// The number of the constructor with this name.
    pub const fn constructor_index(form: Form, name: &str) -> usize {
        let mut i = 0;
        while !equal(form[i].0, name) {
            i += 1;
        }
        i
    }

    /// The number of the part with this name.
    pub const fn part_index(form: Form, constructor: &str, name: &str) -> usize {
        let parts = form[constructor_index(form, constructor)].1;
        let mut i = 0;
        while !equal(parts[i], name) {
            i += 1;
        }
        i
    }

    /// A name without Rust's `r#`, which makes no other name of it.
    const fn plain(name: &str) -> &[u8] {
        match name.as_bytes() {
            [b'r', b'#', plain @ ..] => plain,
            plain => plain,
        }
    }

    const fn equal(a: &str, b: &str) -> bool {
        let (a, b) = (plain(a), plain(b));
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }

    /// A constructor, as OCaml represents it.
    #[derive(Clone, Copy)]
    enum Constructor {
        /// Without arguments: an immediate.
        Constant(isize),
        /// With arguments: a block with this tag and this number of fields.
        Block(u8, usize),
        /// Of a polymorphic variant, with this hash and this number of arguments: a block with the hash and the argument, or,
        /// for several arguments, a tuple of them.
        Polymorphic(isize, usize),
        /// Not represented: the value is that of its part.
        Unboxed,
    }

    /// The constructor with this number.
    const fn constructor<M: Declared>(index: usize) -> Constructor {
        match M::LAYOUT {
            Layout::Unboxed => Constructor::Unboxed,
            Layout::Record | Layout::Ordinary => ordinary(M::FORM, index),
            Layout::Polymorphic => polymorphic(M::FORM, index),
        }
    }

    /// Checks that all names are different, and that all constructors can be represented.
    pub const fn check<M: Declared>() {
        let mut i = 0;
        while i < M::FORM.len() {
            let (name, parts) = M::FORM[i];
            assert!(constructor_index(M::FORM, name) == i, "two constructors have the same name");
            constructor::<M>(i);
            let mut j = 0;
            while j < parts.len() {
                assert!(part_index(M::FORM, name, parts[j]) == j, "two fields have the same name");
                j += 1;
            }
            i += 1;
        }
    }

    /// A constructor of an ordinary variant. OCaml numbers the constructors without arguments, and separately those with
    /// arguments, in the order of the declaration.
    const fn ordinary(form: Form, index: usize) -> Constructor {
        let (mut constants, mut blocks, mut i) = (0, 0, 0);
        while i < index {
            match form[i].1.len() {
                0 => constants += 1,
                _ => blocks += 1,
            }
            i += 1;
        }
        match form[index].1.len() {
            0 => Constructor::Constant(constants),
            arguments => Constructor::Block(blocks, arguments),
        }
    }

    /// A constructor of a polymorphic variant, by its hash as OCaml's `caml_hash_variant` computes it. Two constructors
    /// with the same hash are an error, as in OCaml.
    const fn polymorphic(form: Form, index: usize) -> Constructor {
        let (hash, mut i) = (hash(form[index].0), 0);
        while i < form.len() {
            let is_apart = i == index || self::hash(form[i].0) != hash;
            assert!(is_apart, "two constructors have the same hash");
            i += 1;
        }
        match form[index].1.len() {
            0 => Constructor::Constant(hash),
            arguments => Constructor::Polymorphic(hash, arguments),
        }
    }

    const fn hash(name: &str) -> isize {
        let (bytes, mut hash, mut i) = (plain(name), 0u32, 0);
        while i < bytes.len() {
            hash = hash.wrapping_mul(223).wrapping_add(bytes[i] as u32);
            i += 1;
        }
        // 31 bits, with a sign.
        ((hash << 1) as i32 >> 1) as isize
    }

    /// The field with this number of a record.
    pub const fn field<M: Part<0, INDEX, T>, const INDEX: usize, T, const FLAT: bool>(
    ) -> Field<M, T, FLAT> {
        assert!(matches!(M::LAYOUT, Layout::Record) && FLAT == M::IS_FLAT);
        Field { index: INDEX, _types: PhantomData }
    }

    /// A root of a part of a new value: of that constructor of an `M`, the part with that number.
    pub struct PartRoot<M, const CONSTRUCTOR: usize> {
        root: Boxroot<OCamlAny>,
        part: usize,
        _type: PhantomData<M>,
    }

    /// A copy of a Rust value as a part of an `M`.
    #[track_caller]
    pub fn part<M: Part<C, P, T>, const C: usize, const P: usize, T, R: ToOCaml<T>>(
        value: &R,
        lock: &mut DomainLock,
    ) -> Result<PartRoot<M, C>, Error> {
        let root = value.to_ocaml(lock)?.into_any();
        Ok(PartRoot { root, part: P, _type: PhantomData })
    }

    /// A root for a new value: that constructor, with these parts, which must be all.
    #[track_caller]
    pub fn make<M: Declared, const C: usize, const N: usize>(
        lock: &mut DomainLock,
        parts: [PartRoot<M, C>; N],
    ) -> Result<Boxroot<M>, Error> {
        const { assert!(M::FORM[C].1.len() == N) };
        assert!(parts.iter().enumerate().all(|(i, part)| part.part == i));
        let fields = parts.each_ref().map(|part| &*part.root);
        // SAFETY: these are all parts of the constructor, in order, and each has its type (`part`). So each block and each
        // immediate that is made here is OCaml's representation of an `M` (`Declared`). The fields are floats if `IS_FLAT`.
        unsafe {
            match const { constructor::<M>(C) } {
                _ if M::IS_FLAT => flat(lock, &fields),
                Constructor::Constant(n) => {
                    Boxroot::try_new(lock, Value::from_raw(Value::int(n).raw()))
                }
                Constructor::Block(tag, _) => block(lock, tag, &fields),
                Constructor::Polymorphic(hash, 1) => {
                    let hash = Boxroot::try_new(lock, Value::int(hash))?;
                    block(lock, 0, &[hash.as_any(), fields[0]])
                }
                Constructor::Polymorphic(hash, _) => {
                    let hash = Boxroot::try_new(lock, Value::int(hash))?;
                    let tuple: Boxroot<OCamlAny> = block(lock, 0, &fields)?;
                    block(lock, 0, &[hash.as_any(), &tuple])
                }
                Constructor::Unboxed => fields[0].cast().clone_in(lock),
            }
        }
    }

    /// A root for a new record in the flat form.
    ///
    /// # Safety
    ///
    /// The fields are floats, and such a record is an `M`.
    #[track_caller]
    unsafe fn flat<M>(
        lock: &mut DomainLock,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<Boxroot<M>, Error> {
        let mut floats = Vec::with_capacity(fields.len());
        for field in fields {
            // SAFETY: the field is a float (caller).
            floats.push(unsafe { field.cast::<OCamlFloat>() }.get(lock).to_float());
        }
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. Such a block
        // is an `M` (caller).
        unsafe {
            crate::types::block::rooted(
                ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()),
                lock,
            )
        }
    }

    /// A copy of a field of a record, or of the only part of an unboxed type.
    #[track_caller]
    pub fn read<'l, M: Part<0, P, T>, const P: usize, T, R: FromOCaml<T>>(
        value: Value<'l, M>,
        lock: &'l DomainLock,
    ) -> Result<R, Error> {
        match M::LAYOUT {
            Layout::Record if M::IS_FLAT => {
                R::from_float(value.flat_float(P).ok_or(Error::Mismatch)?)
            }
            // SAFETY: the record has this field (`Part`).
            Layout::Record => R::from_ocaml(unsafe { value.field(P) }, lock),
            // SAFETY: the value is that of its part (`Part`).
            Layout::Unboxed => R::from_ocaml(unsafe { Value::from_raw(value.raw()) }, lock),
            Layout::Ordinary | Layout::Polymorphic => Err(Error::Mismatch),
        }
    }

    /// [`read`] for a value that is the number `x` in the flat form of an array or a record.
    pub fn read_float<M: Part<0, P, T>, const P: usize, T, R: FromOCaml<T>>(
        x: f64,
    ) -> Result<R, Error> {
        match M::LAYOUT {
            Layout::Unboxed => R::from_float(x),
            _ => Err(Error::Mismatch),
        }
    }

    /// The arguments of a value of a variant, which is of that constructor. They are fields of a block, from a first one on.
    pub struct Parts<'l, M, const CONSTRUCTOR: usize> {
        block: Value<'l, OCamlAny>,
        first: usize,
        _type: PhantomData<M>,
    }

    impl<M, const C: usize> Clone for Parts<'_, M, C> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl<M, const C: usize> Copy for Parts<'_, M, C> {}

    /// The arguments, if the value is of that constructor of a variant.
    pub fn parts<M: Declared, const C: usize>(value: Value<'_, M>) -> Option<Parts<'_, M, C>> {
        // SAFETY: every value is an `OCamlAny`.
        let block: Value<'_, OCamlAny> = unsafe { Value::from_raw(value.raw()) };
        let (block, first) = match const { constructor::<M>(C) } {
            Constructor::Constant(n) => (block.kind() == Kind::Immediate(n)).then_some((block, 0)),
            Constructor::Block(tag, size) => {
                (block.kind() == Kind::Block { tag, size }).then_some((block, 0))
            }
            Constructor::Polymorphic(hash, count) => polymorphic_parts(block, hash, count),
            Constructor::Unboxed => None,
        }?;
        Some(Parts { block, first, _type: PhantomData })
    }

    /// The block of a polymorphic variant with the arguments, and the number of the first one.
    fn polymorphic_parts(
        block: Value<'_, OCamlAny>,
        hash: isize,
        count: usize,
    ) -> Option<(Value<'_, OCamlAny>, usize)> {
        let Kind::Block { tag: 0, size: 2 } = block.kind() else { return None };
        // SAFETY: the block has two fields (just checked).
        let (first, argument): (Value<'_, OCamlAny>, Value<'_, OCamlAny>) =
            unsafe { (block.field(0), block.field(1)) };
        match argument.kind() {
            _ if first.kind() != Kind::Immediate(hash) => None,
            _ if count == 1 => Some((block, 1)),
            kind => (kind == Kind::Block { tag: 0, size: count }).then_some((argument, 0)),
        }
    }

    impl<'l, M: Declared, const C: usize> Parts<'l, M, C> {
        /// A copy of the argument with that number.
        #[track_caller]
        pub fn read<const P: usize, T, R: FromOCaml<T>>(
            self,
            lock: &'l DomainLock,
        ) -> Result<R, Error>
        where
            M: Part<C, P, T>,
        {
            // SAFETY: the block has the arguments of this constructor (`parts`), with these types (`Part`).
            R::from_ocaml(unsafe { self.block.field(self.first + P) }, lock)
        }
    }
}
