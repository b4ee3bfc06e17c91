//! The items that [`ocaml_type!`](crate::ocaml_type!) makes of a declaration.

/// For [`ocaml_type!`](crate::ocaml_type!): a marker, and all that unsafe code believes of it. Each type of the
/// declaration means what it means here, in items, where it is not inferred. Where it stands elsewhere, the compiler
/// compares it with this one.
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

/// For [`ocaml_type!`](crate::ocaml_type!): the number of a constructor, or of a part of a constructor.
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

/// For [`ocaml_type!`](crate::ocaml_type!): the rest of `Declared`.
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

/// For [`ocaml_type!`](crate::ocaml_type!): whether a part is a float.
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

/// For [`ocaml_type!`](crate::ocaml_type!): the constants for the fields of a record.
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

/// For [`ocaml_type!`](crate::ocaml_type!): the conversions. Here is nothing unsafe: these functions are safe for all
/// arguments.
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
