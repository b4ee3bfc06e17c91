//! The items that [`ocaml_type!`](crate::ocaml_type!) and [`bound_type!`](crate::bound_type!) make of a declaration.

/// For [`ocaml_type!`](crate::ocaml_type!): a marker, all that unsafe code believes of it, and the conversions, which are
/// safe code. The types of the declaration stand in items here, where Rust infers nothing, so these types count. Where a type of the
/// declaration stands elsewhere, the compiler compares it with the type here.
///
/// A part is `(number of the constructor, its own number, [parameters of the marker], type)`. A number is a literal, or an
/// expression in braces. There are only the conversions that are given: `to_struct` and `to_enum` to OCaml, `from` from it, and
/// `from_float` for an unboxed type.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_items {
    (
        [$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] $visibility:vis $name:ident [$($a:ident)*]
        constructors $constructors:block
        float $is_float:block unboxed $is_unboxed:tt
        parts [$(($number:tt $index:tt [$($b:ident)*] $type:ty))*]
        $(to_struct [$($a1:ident)*] [$($r1:ident: $t1:ident)*] [$rust1:ty] [$(($index1:tt $member1:tt))*])?
        $(to_enum [$($a2:ident)*] [$($r2:ident: $t2:ident)*] [$rust2:ty] [$((
            $constructor2:ident $number2:tt $([$index2:tt $member2:tt $binding2:ident])*
        ))*])?
        $(from [$($a3:ident)*] [$($r3:ident: $t3:ident)*] [$rust3:ty] [$((
            Self $(:: $constructor3:ident)? = $number3:tt $([$index3:tt $member3:tt $($of3:ident)?])*
        ))*] from_float {$([$($a4:ident)*] Self $(:: $constructor4:ident)? = $number4:tt $member4:tt)?})?
        $(fields [$($a5:ident)*] [$((
            [$(#[doc $(($($doc_list5:tt)*))? $(= $doc5:expr)?])*] $index5:tt $field5:ident $type5:ty, $flat5:block
        ))*])?
    ) => {
        $(#[doc $(($($doc_list)*))? $(= $doc)?])*
        $visibility struct $name<$($a),*> {
            never: $crate::macro_support::Infallible,
            // Invariant: OCaml may both give and take values of a parameter.
            _parameters: ($($crate::macro_support::PhantomData<($a, fn($a) -> $a)>,)*),
            // The marker is `Send` and `Sync` if the markers of all parts are.
            _parts: ($($crate::macro_support::PartType<$name<$($b),*>, $number, $index, $type>,)*),
        }

        impl<$($a),*> $crate::macro_support::Debug for $name<$($a),*> {
            fn fmt(
                &self,
                _: &mut $crate::macro_support::Formatter<'_>,
            ) -> $crate::macro_support::fmt::Result {
                match self.never {}
            }
        }

        // SAFETY: OCaml tells types of different declarations apart, and this one by its parameters. Where it is unboxed, its
        // values are those of its part (`CHECKED`), which must be of one type.
        unsafe impl<$($a: $crate::markers::OneType),*> $crate::markers::OneType for $name<$($a),*>
        where
            for<'one> $crate::macro_support::Whole<'one, Self, ($($type,)*), $is_unboxed>: $crate::markers::OneType,
        {
        }

        // SAFETY: no attribute can remove the struct above, so this is a new marker. Its values come from conversions of
        // this declaration, or with a promise that they have this form.
        #[doc(hidden)]
        unsafe impl<$($a),*> $crate::macro_support::Declared for $name<$($a),*> {
            const CONSTRUCTORS: $crate::macro_support::Constructors = $constructors;
            const CHECKED: () = $crate::macro_support::check(
                <Self as $crate::macro_support::Declared>::CONSTRUCTORS,
                &[$(($number, $index)),*],
                $is_unboxed,
            );
            const IS_FLOAT: $crate::macro_support::bool = $is_float;
        }

        $(
            // SAFETY: the declaration says that this part has this type.
            #[doc(hidden)]
            unsafe impl<$($b),*> $crate::macro_support::Part<$number, $index, $type> for $name<$($b),*> {}
        )*

        $(
            // SAFETY: the type is not private: it is converted to OCaml.
            #[doc(hidden)]
            unsafe impl<$($a1),*> $crate::macro_support::Public for $name<$($a1),*> {}

            impl<$($a1,)* $($r1: $crate::ToOCaml<$t1>),*> $crate::ToOCaml<$name<$($a1),*>> for $rust1 {
                #[inline(never)]
                fn to_value<'l>(
                    &self,
                    lock: &'l mut $crate::DomainLock,
                ) -> $crate::macro_support::Made<'l, $name<$($a1),*>> {
                    let _level = $crate::ocaml_level!();
                    let marker = $crate::macro_support::PhantomData::<$name<$($a1),*>>;
                    $crate::ocaml_make!(lock marker 0 $([
                        $index1 &self.$member1, $crate::macro_support::stringify!($member1)
                    ])*)
                }
            }
        )?

        $(
            // SAFETY: the type is not private: it is converted to OCaml.
            #[doc(hidden)]
            unsafe impl<$($a2),*> $crate::macro_support::Public for $name<$($a2),*> {}

            impl<$($a2,)* $($r2: $crate::ToOCaml<$t2>),*> $crate::ToOCaml<$name<$($a2),*>> for $rust2 {
                #[inline(never)]
                fn to_value<'l>(
                    &self,
                    lock: &'l mut $crate::DomainLock,
                ) -> $crate::macro_support::Made<'l, $name<$($a2),*>> {
                    let _level = $crate::ocaml_level!();
                    let marker = $crate::macro_support::PhantomData::<$name<$($a2),*>>;
                    match self {
                        $(Self::$constructor2 { $($member2: $binding2),* } => $crate::ocaml_apart!(
                            [$($member2)*] $crate::ocaml_make!(lock marker $number2 $([
                                $index2 $binding2,
                                $crate::macro_support::concat!(
                                    $crate::macro_support::stringify!($constructor2),
                                    ".",
                                    $crate::macro_support::stringify!($member2)
                                )
                            ])*)
                        ),)*
                    }
                }
            }
        )?

        $(
            impl<$($a3,)* $($r3: $crate::FromOCaml<$t3>),*> $crate::macro_support::FromParts<$name<$($a3),*>> for $rust3 {
                fn from_parts<'l>(
                    value: $crate::Value<'l, $name<$($a3),*>>,
                    lock: &'l $crate::DomainLock,
                ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                    let opened = $crate::macro_support::open(value);
                    $(if let $crate::macro_support::Some(parts) = $crate::macro_support::parts::<_, $number3>(&opened) {
                        return $crate::ocaml_apart!([$($($of3)?)*] $crate::macro_support::Ok(Self $(:: $constructor3)? {
                            $($member3: match $crate::macro_support::Parts::read::<$index3, _, _>(
                                parts,
                                $crate::macro_support::concat!(
                                    $($crate::macro_support::stringify!($of3), ".",)?
                                    $crate::macro_support::stringify!($member3)
                                ),
                                lock,
                            ) {
                                // This does what `?` does, which takes longer to compile.
                                $crate::macro_support::Ok(part) => part,
                                $crate::macro_support::Err(error) => return $crate::macro_support::Err(error),
                            }),*
                        }));
                    })*
                    $crate::macro_support::Err($crate::ConversionError::new($crate::ConversionErrorKind::Mismatch))
                }
            }

            impl<$($a3,)* $($r3: $crate::FromOCaml<$t3>),*> $crate::FromOCaml<$name<$($a3),*>> for $rust3 {
                #[inline]
                fn from_ocaml<'l>(
                    value: $crate::Value<'l, $name<$($a3),*>>,
                    lock: &'l $crate::DomainLock,
                ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                    let _level = $crate::ocaml_level!();
                    $crate::macro_support::FromParts::from_parts(value, lock)
                }

                fn has_form(value: $crate::Value<'_, $name<$($a3),*>>) -> $crate::macro_support::bool {
                    $crate::Value::has_form(value)
                }

                $(
                    fn from_float(
                        x: $crate::macro_support::f64,
                    ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                        $crate::macro_support::Ok(Self $(:: $constructor4)? {
                            $member4: $crate::macro_support::read_float::<$name<$($a4),*>, $number4, _, _>(x)?
                        })
                    }
                )?
            }
        )?

        $(
            #[allow(non_upper_case_globals)]
            impl<$($a5),*> $name<$($a5),*> {
                $(
                    $(#[doc $(($($doc_list5)*))? $(= $doc5)?])*
                    #[doc = $crate::macro_support::concat!(
                        "The field `", $crate::macro_support::stringify!($field5), "`."
                    )]
                    pub const $field5: $crate::markers::Field<Self, $type5, $flat5> =
                        $crate::macro_support::field::<Self, $index5, $type5, $flat5>(
                            $crate::macro_support::stringify!($field5)
                        );
                )*
            }
        )?
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): a level of nested conversions. This does what `?` does, which takes longer to compile.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_level {
    () => {
        match $crate::macro_support::Level::new() {
            $crate::macro_support::Ok(level) => level,
            $crate::macro_support::Err(error) => return $crate::macro_support::Err(error),
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): a new value of the constructor with this number, of its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_make {
    ($lock:ident $marker:ident $number:tt) => {
        $crate::macro_support::constant::<_, $number>($marker, $lock)
    };
    ($lock:ident $marker:ident $number:tt $([$index:tt $value:expr, $name:expr])+) => {{
        let mut making = $crate::macro_support::Making::<_, $number, _>::new($marker, &[$($name),+]);
        let error = 'failed: {
            $(
                if let $crate::macro_support::Err(error) =
                    $crate::macro_support::Making::add::<$index, _, _>(&mut making, $value, $lock)
                {
                    break 'failed error;
                }
            )+
            return $crate::macro_support::Making::make(making, $lock);
        };
        $crate::macro_support::Err($crate::macro_support::part_failed(
            error, $crate::macro_support::Making::parts(&making),
        ))
    }};
}

/// For [`ocaml_type!`](crate::ocaml_type!): the conversion of a constructor with these parts, in a frame of its own if it has any.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_apart {
    ([] $conversion:expr) => {
        $conversion
    };
    ([$($part:tt)+] $conversion:expr) => {
        $crate::macro_support::apart(|| $conversion)
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): its constructors as `[(Name part …) …]`, as a [`Form`](crate::macro_support::Form).
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_form {
    ([$(($constructor:ident $($part:tt)*))*]) => {
        &[$((
            $crate::macro_support::stringify!($constructor),
            &[$($crate::macro_support::stringify!($part)),*],
        )),*]
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): the number of a constructor, or of a part of a constructor.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_index {
    ($form:tt $constructor:ident) => {
        $crate::macro_support::constructor_index(
            $crate::ocaml_form!($form),
            $crate::macro_support::stringify!($constructor),
        )
    };
    ($form:tt $constructor:ident $part:tt) => {
        $crate::macro_support::part_index(
            $crate::ocaml_form!($form),
            $crate::macro_support::stringify!($constructor),
            $crate::macro_support::stringify!($part),
        )
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): whether a part of the marker `Self` is a float.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_is_float {
    ($number:tt $index:tt $type:ty) => {{
        use $crate::macro_support::NotFloat as _;
        $crate::macro_support::is_float::<Self, $number, $index, _>(
            $crate::macro_support::Probe::<$type>::IS_FLOAT,
        )
    }};
}

/// For [`ocaml_type!`](crate::ocaml_type!): a record or an unboxed type. `$form` is its form, `$fields` its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_struct {
    (
        record $docs:tt [$visibility:vis] $name:ident [] $rust:tt $form:tt
        $(($field_docs:tt $field:ident $type:ty))+
    ) => {
        $crate::ocaml_struct! {
            @items $docs [$visibility] $name [] $rust $form
            { &[(0, $crate::macro_support::record(
                $crate::ocaml_form!($form),
                $($crate::ocaml_is_float!(0 { $crate::ocaml_index!($form $name $field) } $type))&&+,
            ))] }
            { false } false {}
            { fields [] [$((
                $field_docs { $crate::ocaml_index!($form $name $field) } $field $type,
                { $crate::macro_support::is_flat::<$name>() }
            ))+] }
            $(($field $type))+
        }
        const _: () = <$name as $crate::macro_support::Declared>::CHECKED;
    };
    (
        record $docs:tt [$visibility:vis] $name:ident $generics:tt $rust:tt $form:tt
        $(($field_docs:tt $field:ident $type:ty))+
    ) => {
        $crate::ocaml_struct! {
            @items $docs [$visibility] $name $generics $rust $form
            { &[(0, $crate::macro_support::record(
                $crate::ocaml_form!($form),
                $crate::macro_support::not_flat(
                    $($crate::ocaml_is_float!(0 { $crate::ocaml_index!($form $name $field) } $type))&&+
                ),
            ))] }
            { false } false {}
            { fields $generics [$((
                $field_docs { $crate::ocaml_index!($form $name $field) } $field $type, { false }
            ))+] }
            $(($field $type))+
        }
    };
    (unboxed $docs:tt [$visibility:vis] $name:ident [] $rust:tt $form:tt ($field_docs:tt $field:ident $type:ty)) => {
        $crate::ocaml_struct! {
            @items $docs [$visibility] $name [] $rust $form
            { &[(0, $crate::macro_support::Constructor::Unboxed)] }
            { $crate::ocaml_is_float!(0 0 $type) } true { [] Self = 0 $field } {} ($field $type)
        }
        const _: () = <$name as $crate::macro_support::Declared>::CHECKED;
    };
    (
        @items $docs:tt [$visibility:vis] $name:ident $generics:tt $rust:tt $form:tt $constructors:tt $is_float:tt
        $is_unboxed:tt $from_float:tt $fields:tt $(($field:ident $type:ty))+
    ) => {
        const _: () = $crate::macro_support::check_names($crate::ocaml_form!($form));
        $crate::ocaml_struct! {
            @convert [$docs $visibility $name $generics constructors $constructors float $is_float unboxed $is_unboxed]
            [$((0 { $crate::ocaml_index!($form $name $field) } $generics $type))+]
            $generics $rust
            [$(({ $crate::ocaml_index!($form $name $field) } $field))+]
            [(Self = 0 $([{ $crate::ocaml_index!($form $name $field) } $field])+)]
            $from_float $fields
        }
    };
    (
        @convert [$($marker:tt)*] $parts:tt $generics:tt [$([$rust:ty] [$($r:ident: $t:ident)*])?]
        $to:tt $from:tt $from_float:tt { $($fields:tt)* }
    ) => {
        $crate::ocaml_items! {
            $($marker)* parts $parts
            $(
                to_struct $generics [$($r: $t)*] [$rust] $to
                from $generics [$($r: $t)*] [$rust] $from from_float $from_float
            )?
            $($fields)*
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): a variant. `@normalise` and `@zip` bring each constructor into the form
/// `(Constructor [part name Type] …)`, where the part is a number or a label, and the name that of a local variable.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_enum {
    (
        @normalise
        [$docs:tt [$visibility:vis] $name:ident $generics:tt $rust:tt $layout:ident]
        [$(($constructor:ident $([$part:tt $binding:ident $type:ty])*))*]
    ) => {
        $crate::ocaml_enum! {
            @items $docs [$visibility] $name $generics $rust $layout [$(($constructor $($part)*))*]
            $(($constructor $([$part $binding $type])*))*
        }
    };
    (
        @normalise $header:tt [$($done:tt)*]
        $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])* $constructor:ident $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_enum! { @normalise $header [$($done)* ($constructor)] $($($rest)*)? }
    };
    (
        @normalise $header:tt [$($done:tt)*] $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $constructor:ident { $($(#[doc $(($($label_doc_list:tt)*))? $(= $label_doc:expr)?])* $label:ident: $type:ty),+ $(,)? } $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_enum! {
            @normalise $header [$($done)* ($constructor $([$label $label $type])+)] $($($rest)*)?
        }
    };
    (
        @normalise $header:tt $done:tt $(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*
        $constructor:ident ($($type:ty),+ $(,)?) $(, $($rest:tt)*)?
    ) => {
        $crate::ocaml_enum! {
            @zip $header $done $constructor [] [$($type),+] [
                0 part_0 1 part_1 2 part_2 3 part_3 4 part_4 5 part_5 6 part_6 7 part_7
            ] $($($rest)*)?
        }
    };
    (
        @normalise [$docs:tt $visibility:tt $name:ident $($header:tt)*] $done:tt $($mistaken:tt)*
    ) => {
        $crate::mistaken_type! { @enum $name }
    };
    (@zip $header:tt [$($done:tt)*] $constructor:ident [$($zipped:tt)*] [] $names:tt $($rest:tt)*) => {
        $crate::ocaml_enum! { @normalise $header [$($done)* ($constructor $($zipped)*)] $($rest)* }
    };
    (
        @zip $header:tt $done:tt $constructor:ident [$($zipped:tt)*]
        [$type:ty $(, $types:ty)*] [$part:tt $name:ident $($names:tt)*] $($rest:tt)*
    ) => {
        $crate::ocaml_enum! {
            @zip $header $done $constructor [$($zipped)* [$part $name $type]] [$($types),*] [$($names)*] $($rest)*
        }
    };
    (
        @zip [$docs:tt $visibility:tt $name:ident $($header:tt)*] $done:tt $constructor:ident $zipped:tt $types:tt []
        $($rest:tt)*
    ) => {
        $crate::mistaken_type! { @enum $name }
    };
    (
        @items $docs:tt [$visibility:vis] $name:ident $generics:tt $rust:tt $layout:ident $form:tt
        $(($constructor:ident $([$part:tt $binding:ident $type:ty])*))*
    ) => {
        const _: () = $crate::macro_support::check_names($crate::ocaml_form!($form));
        const _: $crate::macro_support::Constructors = $crate::ocaml_constructors!($layout $form $($constructor)*);
        $crate::ocaml_enum! {
            @convert
            [
                $docs $visibility $name $generics
                constructors { $crate::ocaml_constructors!($layout $form $($constructor)*) }
                float { false } unboxed false
            ]
            [$($((
                { $crate::ocaml_index!($form $constructor) }
                { $crate::ocaml_index!($form $constructor $part) }
                $generics $type
            ))*)*]
            $generics $rust
            [$((
                $constructor { $crate::ocaml_index!($form $constructor) }
                $([{ $crate::ocaml_index!($form $constructor $part) } $part $binding])*
            ))*]
            [$((
                Self::$constructor = { $crate::ocaml_index!($form $constructor) }
                $([{ $crate::ocaml_index!($form $constructor $part) } $part $constructor])*
            ))*]
        }
    };
    (
        @convert [$($marker:tt)*] $parts:tt $generics:tt [$([$rust:ty] [$($r:ident: $t:ident)*])?] $to:tt $from:tt
    ) => {
        $crate::ocaml_items! {
            $($marker)* parts $parts
            $(
                to_enum $generics [$($r: $t)*] [$rust] $to
                from $generics [$($r: $t)*] [$rust] $from from_float {}
            )?
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): the constructors of a variant, as OCaml represents them.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_constructors {
    ($layout:ident $form:tt $($constructor:ident)*) => {
        &[$((
            $crate::ocaml_index!($form $constructor),
            $crate::macro_support::$layout(
                $crate::ocaml_form!($form),
                $crate::macro_support::stringify!($constructor),
            ),
        )),*]
    };
}
