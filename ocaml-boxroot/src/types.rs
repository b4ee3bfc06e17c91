//! Records and variants.

use crate::block::block;
use crate::{
    ffi, Boxroot, DomainLock, Error, FromOCaml, Kind, OCamlAny, OCamlFloat, RootRef, Value,
};
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
/// * A `struct` has a constant for each field, for [`Value::read`] and [`Value::at`]. If all fields are
///   [`OCamlFloat`], OCaml stores the record in the flat form, and the macro assumes this form. So fields whose type is an
///   abbreviation of `float` must be `OCamlFloat`, and fields whose type is a type variable or an abstract type must not.
/// * A constructor with several arguments (`of int * int`) has as many here, at most eight; one whose argument is a
///   tuple (`of (int * int)`) has one argument, a tuple.
/// * Converting an OCaml value whose constructor is not in the list, as open types have them, is [`Error::Mismatch`].
///
/// The macro needs no `unsafe`: the promise that an OCaml value *has* this type is made where the value comes to Rust, in
/// [`export!`](crate::export!), [`ocaml_functions!`](crate::ocaml_functions!) or [`DomainLock::named`].
#[macro_export]
macro_rules! ocaml_type {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(for $rust:ident)? {
            $($(#[$field_attribute:meta])* $field:ident: $type:ty),+ $(,)?
        }
        $($rest:tt)*
    ) => {
        $crate::ocaml_record! {
            [$(#[$attribute])*] [$visibility] $name [$($rust)?]
            $([$(#[$field_attribute])*] $field: $type,)+
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident $(for $rust:ident)? { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @normalise [[$(#[$attribute])*] [$visibility] $name [$($rust)?] ordinary] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis polymorphic enum $name:ident $(for $rust:ident)? { $($variants:tt)* }
        $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @normalise [[$(#[$attribute])*] [$visibility] $name [$($rust)?] polymorphic] [] $($variants)*
        }
        $crate::ocaml_type! { $($rest)* }
    };
}

/// For [`ocaml_type!`]: a record's marker, fields and conversions.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_record {
    (
        [$($attribute:tt)*] [$visibility:vis] $name:ident [$($rust:ident)?]
        $([$($field_attribute:tt)*] $field:ident: $type:ty,)+
    ) => {
        $($attribute)*
        #[derive(Debug)]
        $visibility enum $name {}

        const _: () = {
            #[allow(unused_imports)]
            use $crate::type_support::NotFloat as _;
            const OCAML_FIELDS: &[&str] = &[$(stringify!($field)),+];
            const OCAML_IS_FLAT: bool = $($crate::type_support::Probe::<$type>::IS_FLOAT)&&+;

            #[allow(non_upper_case_globals)]
            impl $name {
                $(
                    $($field_attribute)*
                    #[doc = concat!("The field `", stringify!($field), "`.")]
                    pub const $field: $crate::Field<$name, $type, OCAML_IS_FLAT> =
                        // SAFETY: every value of this type comes from a conversion of this macro, or with a promise
                        // that it is such a record. So it has this field.
                        unsafe { $crate::Field::new($crate::type_support::position(OCAML_FIELDS, stringify!($field))) };
                )+
            }

            $crate::ocaml_record!(@convert $name [$($rust)?] $($field: $type,)+);
        };
    };
    (@convert $name:ident [] $($fields:tt)*) => {
        impl $crate::type_support::Declared for $name {}
    };
    (@convert $name:ident [$rust:ident] $($field:ident: $type:ty,)+) => {
        impl $crate::type_support::Declared for $name {}

        impl $crate::ToOCaml<$name> for $rust {
            fn to_ocaml(
                &self,
                lock: &mut $crate::DomainLock,
            ) -> ::std::result::Result<$crate::Boxroot<$name>, $crate::Error> {
                let is_flat = {
                    #[allow(unused_imports)]
                    use $crate::type_support::NotFloat as _;
                    $($crate::type_support::Probe::<$type>::IS_FLOAT)&&+
                };
                $(let $field = $crate::ToOCaml::<$type>::to_ocaml(&self.$field, lock)?;)+
                // SAFETY: the one declaration of the marker (`Declared`) says that its records have these fields, and
                // are flat if these are all floats.
                unsafe { $crate::type_support::record(lock, is_flat, &[$($field.as_any()),+]) }
            }
        }

        impl $crate::FromOCaml<$name> for $rust {
            fn from_ocaml<'l>(
                value: $crate::Value<'l, $name>,
                lock: &'l $crate::DomainLock,
            ) -> ::std::result::Result<Self, $crate::Error> {
                Ok($rust { $($field: value.read(lock, $name::$field)?),+ })
            }
        }
    };
}

/// For [`ocaml_type!`]: a variant's marker and conversions. `@normalise` and `@zip` bring each constructor into the form
/// `(Constructor [field name Type] …)`, where the field is a number or a label, and the name that of a local variable. Then
/// `@emit` emits the items.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_variant {
    (@normalise [$($header:tt)*] [$($done:tt)*]) => {
        $crate::ocaml_variant! { @emit $($header)* $($done)* }
    };
    (@normalise $header:tt [$($done:tt)*] $variant:ident $(, $($rest:tt)*)?) => {
        $crate::ocaml_variant! { @normalise $header [$($done)* ($variant)] $($($rest)*)? }
    };
    (
        @normalise $header:tt [$($done:tt)*]
        $variant:ident { $($label:ident: $type:ty),+ $(,)? } $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_variant! {
            @normalise $header [$($done)* ($variant $([$label $label $type])+)] $($($rest)*)?
        }
    };
    (
        @normalise $header:tt $done:tt
        $variant:ident ($($type:ty),+ $(,)?) $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_variant! {
            @zip $header $done $variant [] [$($type),+] [0 a 1 b 2 c 3 d 4 e 5 f 6 g 7 h] $($($rest)*)?
        }
    };
    (@zip $header:tt [$($done:tt)*] $variant:ident [$($zipped:tt)*] [] $names:tt $($rest:tt)*) => {
        $crate::ocaml_variant! { @normalise $header [$($done)* ($variant $($zipped)*)] $($rest)* }
    };
    (
        @zip $header:tt $done:tt $variant:ident [$($zipped:tt)*]
        [$type:ty $(, $types:ty)*] [$field:tt $name:ident $($names:tt)*] $($rest:tt)*
    ) => {
        $crate::ocaml_variant! {
            @zip $header $done $variant [$($zipped)* [$field $name $type]] [$($types),*] [$($names)*] $($rest)*
        }
    };
    (
        @emit [$($attribute:tt)*] [$visibility:vis] $name:ident [] $kind:ident $($variants:tt)*
    ) => {
        $($attribute)*
        #[derive(Debug)]
        $visibility enum $name {}

        impl $crate::type_support::Declared for $name {}
    };
    (
        @emit [$($attribute:tt)*] [$visibility:vis] $name:ident [$rust:ident] $kind:ident
        $(($variant:ident $([$field:tt $binding:ident $type:ty])*))*
    ) => {
        $($attribute)*
        #[derive(Debug)]
        $visibility enum $name {}

        const _: () = {
            const OCAML_VARIANTS: &[(&str, usize)] = &[
                $((stringify!($variant), <[&str]>::len(&[$(stringify!($field)),*]))),*
            ];
            $(const _: $crate::type_support::Constructor =
                $crate::type_support::$kind(OCAML_VARIANTS, stringify!($variant));)*

            impl $crate::type_support::Declared for $name {}

            impl $crate::ToOCaml<$name> for $rust {
                fn to_ocaml(
                    &self,
                    lock: &mut $crate::DomainLock,
                ) -> ::std::result::Result<$crate::Boxroot<$name>, $crate::Error> {
                    match self {
                        $($rust::$variant { $($field: $binding),* } => {
                            $(let $binding = $crate::ToOCaml::<$type>::to_ocaml($binding, lock)?;)*
                            // SAFETY: the one declaration of the marker (`Declared`) says that the constructor takes
                            // these arguments.
                            unsafe {
                                $crate::type_support::construct(
                                    lock,
                                    const { $crate::type_support::$kind(OCAML_VARIANTS, stringify!($variant)) },
                                    &[$($binding.as_any()),*],
                                )
                            }
                        })*
                    }
                }
            }

            impl $crate::FromOCaml<$name> for $rust {
                #[allow(unused_mut, unused_assignments, unused_variables)]
                fn from_ocaml<'l>(
                    value: $crate::Value<'l, $name>,
                    lock: &'l $crate::DomainLock,
                ) -> ::std::result::Result<Self, $crate::Error> {
                    $(if let Some(mut arguments) = $crate::type_support::arguments(
                        value,
                        const { $crate::type_support::$kind(OCAML_VARIANTS, stringify!($variant)) },
                    ) {
                        return Ok($rust::$variant {
                            // SAFETY: the value is of this constructor, whose arguments have these types, in this order.
                            $($field: unsafe { arguments.next::<$type, _>(lock)? }),*
                        });
                    })*
                    Err($crate::Error::Mismatch)
                }
            }
        };
    };
}

/// A field of type `F` of the records of type `T`; from [`ocaml_type!`]. If `FLAT`, the record is in the flat form of
/// floats: its fields are numbers in a row, and not values.
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

impl<T, F, const FLAT: bool> Field<T, F, FLAT> {
    /// The field with that index.
    ///
    /// # Safety
    ///
    /// Every `T` is a block that has this field, of type `F`; or, if `FLAT`, a block in the flat form.
    #[doc(hidden)]
    pub const unsafe fn new(index: usize) -> Self {
        Field { index, _types: PhantomData }
    }
}

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
        // SAFETY: every `T` has this field, which is an `F` (`Field::new`).
        R::from_ocaml(unsafe { self.field(field.index) }, lock)
    }

    /// The value of a field of a record. Not for records in the flat form of floats, whose fields are not values: use
    /// [`read`](Value::read) there.
    pub fn at<F>(self, field: Field<T, F, false>) -> Value<'l, F> {
        // SAFETY: every `T` has this field, which is an `F` (`Field::new`).
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

/// For [`ocaml_type!`].
pub mod type_support {
    use super::*;

    /// Implemented once for each marker of [`ocaml_type!`]. So the compiler rejects a second declaration of a marker, with
    /// other fields, and one for another crate's marker; also if an attribute such as `cfg` removes the second marker.
    pub trait Declared {}

    /// `Probe::<T>::IS_FLOAT` is whether `T`, which is not a parameter there, is [`OCamlFloat`].
    pub struct Probe<T>(PhantomData<T>);

    impl Probe<OCamlFloat> {
        /// Rust prefers this constant to that of [`NotFloat`].
        pub const IS_FLOAT: bool = true;
    }

    /// The constant for all other types.
    pub trait NotFloat {
        /// `false`.
        const IS_FLOAT: bool = false;
    }

    impl<T> NotFloat for Probe<T> {}

    /// A constructor of a variant, as OCaml represents it.
    #[derive(Clone, Copy)]
    pub enum Constructor {
        /// Without arguments: an immediate.
        Constant(isize),
        /// With arguments: a block with this tag and this number of fields.
        Block(u8, usize),
        /// Of a polymorphic variant, with this hash and this number of arguments: a block with the hash and the argument, or,
        /// for several arguments, a tuple of them.
        Polymorphic(isize, usize),
    }

    /// The index of `name`, which is one of the names.
    pub const fn position(names: &[&str], name: &str) -> usize {
        let mut i = 0;
        while !equal(names[i], name) {
            i += 1;
        }
        i
    }

    const fn equal(a: &str, b: &str) -> bool {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }

    /// The constructor with this name of an ordinary variant. OCaml numbers the constructors without arguments, and
    /// separately those with arguments, in the order of the declaration.
    pub const fn ordinary(variants: &[(&str, usize)], name: &str) -> Constructor {
        let (mut constants, mut blocks, mut i) = (0, 0, 0);
        while !equal(variants[i].0, name) {
            match variants[i].1 {
                0 => constants += 1,
                _ => blocks += 1,
            }
            i += 1;
        }
        match variants[i].1 {
            0 => Constructor::Constant(constants),
            arguments => Constructor::Block(blocks, arguments),
        }
    }

    /// The constructor with this name of a polymorphic variant, by its hash as OCaml's `caml_hash_variant` computes it. Two
    /// constructors with the same hash are an error, as in OCaml.
    pub const fn polymorphic(variants: &[(&str, usize)], name: &str) -> Constructor {
        let (hash, mut arguments, mut i) = (hash(name), 0, 0);
        while i < variants.len() {
            if equal(variants[i].0, name) {
                arguments = variants[i].1;
            } else {
                assert!(self::hash(variants[i].0) != hash, "two constructors have the same hash");
            }
            i += 1;
        }
        match arguments {
            0 => Constructor::Constant(hash),
            arguments => Constructor::Polymorphic(hash, arguments),
        }
    }

    const fn hash(name: &str) -> isize {
        let (bytes, mut hash, mut i) = (name.as_bytes(), 0u32, 0);
        while i < bytes.len() {
            hash = hash.wrapping_mul(223).wrapping_add(bytes[i] as u32);
            i += 1;
        }
        // 31 bits, with a sign.
        ((hash << 1) as i32 >> 1) as isize
    }

    /// A root for a new record with these fields.
    ///
    /// # Safety
    ///
    /// Such a record is a `T`. If `is_flat`, all fields are floats.
    #[track_caller]
    pub unsafe fn record<T>(
        lock: &mut DomainLock,
        is_flat: bool,
        fields: &[&RootRef<OCamlAny>],
    ) -> Result<Boxroot<T>, Error> {
        if !is_flat {
            // SAFETY: such a block is a `T` (caller).
            return unsafe { block(lock, 0, fields) };
        }
        let mut floats = Vec::with_capacity(fields.len());
        for field in fields {
            // SAFETY: the field is a float (caller).
            floats.push(unsafe { field.cast::<OCamlFloat>() }.get(lock).to_float());
        }
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may run. Such a block
        // is a `T` (caller).
        unsafe {
            crate::block::rooted(ffi::obx_alloc_flat_floats(floats.as_ptr(), floats.len()), lock)
        }
    }

    /// A root for a new value: a constructor with these arguments.
    ///
    /// # Safety
    ///
    /// `T` has this constructor, which takes as many arguments, of these types.
    #[track_caller]
    pub unsafe fn construct<T>(
        lock: &mut DomainLock,
        constructor: Constructor,
        arguments: &[&RootRef<OCamlAny>],
    ) -> Result<Boxroot<T>, Error> {
        // SAFETY: each block and each immediate that is made here is OCaml's representation of such a `T` (caller).
        unsafe {
            match constructor {
                Constructor::Constant(n) => {
                    Boxroot::try_new(lock, Value::from_raw(Value::int(n).raw()))
                }
                Constructor::Block(tag, _) => block(lock, tag, arguments),
                Constructor::Polymorphic(hash, _) => {
                    let hash = Boxroot::try_new(lock, Value::int(hash))?;
                    match arguments {
                        [argument] => block(lock, 0, &[hash.as_any(), argument]),
                        _ => {
                            let tuple: Boxroot<OCamlAny> = block(lock, 0, arguments)?;
                            block(lock, 0, &[hash.as_any(), &tuple])
                        }
                    }
                }
            }
        }
    }

    /// The arguments of a constructor, one after the other.
    pub struct Arguments<'l> {
        block: Value<'l, OCamlAny>,
        next: usize,
        end: usize,
    }

    /// The arguments, if the value is of this constructor.
    pub fn arguments<'l, T>(
        value: Value<'l, T>,
        constructor: Constructor,
    ) -> Option<Arguments<'l>> {
        // SAFETY: every value is an `OCamlAny`.
        let block: Value<'l, OCamlAny> = unsafe { Value::from_raw(value.raw()) };
        match (constructor, block.kind()) {
            (Constructor::Constant(n), Kind::Immediate(m)) if n == m => {
                Some(Arguments { block, next: 0, end: 0 })
            }
            (Constructor::Block(tag, count), Kind::Block { tag: other, size })
                if tag == other && count == size =>
            {
                Some(Arguments { block, next: 0, end: count })
            }
            (Constructor::Polymorphic(hash, count), Kind::Block { tag: 0, size: 2 }) => {
                // SAFETY: the block has two fields (just checked).
                let (first, argument): (Value<'l, OCamlAny>, Value<'l, OCamlAny>) =
                    unsafe { (block.field(0), block.field(1)) };
                match argument.kind() {
                    _ if first.kind() != Kind::Immediate(hash) => None,
                    _ if count == 1 => Some(Arguments { block, next: 1, end: 2 }),
                    Kind::Block { tag: 0, size } if size == count => {
                        Some(Arguments { block: argument, next: 0, end: count })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    impl<'l> Arguments<'l> {
        /// A copy of the next argument.
        ///
        /// # Safety
        ///
        /// The next argument is an `F`.
        #[track_caller]
        pub unsafe fn next<F, R: FromOCaml<F>>(
            &mut self,
            lock: &'l DomainLock,
        ) -> Result<R, Error> {
            assert!(self.next < self.end);
            self.next += 1;
            // SAFETY: the block has this field (just checked), which is an `F` (caller).
            R::from_ocaml(unsafe { self.block.field(self.next - 1) }, lock)
        }
    }
}
