//! The items that [`ocaml_type!`](crate::ocaml_type!) and [`bound_type!`](crate::bound_type!)
//! generate from a declaration.

/// For [`ocaml_type!`](crate::ocaml_type!) and [`bound_type!`](crate::bound_type!): generates a
/// marker, its fields, and the conversions to and from the Rust type, if there is one. If `[to]` is
/// `[]`, generates only the conversion from OCaml.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_declare {
    (
        [$($marker:tt)*] $name:ident $generics:tt $is_public:tt [] $to:tt $from:tt $from_float:tt $fields:tt
    ) => {
        $crate::ocaml_items! { $($marker)* }
        $crate::ocaml_fields! { $name $generics $fields }
    };
    (
        [$($marker:tt)*] $name:ident $generics:tt [] [$rust:tt $parameters:tt]
        $to:tt $from:tt $from_float:tt $fields:tt
    ) => {
        $crate::ocaml_items! { $($marker)* }
        $crate::ocaml_from! { $name $generics $rust $parameters $from $from_float }
        $crate::ocaml_fields! { $name $generics $fields }
    };
    (
        [$($marker:tt)*] $name:ident $generics:tt [to] [$rust:tt $parameters:tt]
        $to:tt $from:tt $from_float:tt $fields:tt
    ) => {
        $crate::ocaml_items! { $($marker)* public $generics }
        $crate::ocaml_to! { $name $generics $rust $parameters $to }
        $crate::ocaml_from! { $name $generics $rust $parameters $from $from_float }
        $crate::ocaml_fields! { $name $generics $fields }
    };
}

/// For [`ocaml_declare!`]: generates a marker, and all facts about it that unsafe code relies on.
/// Here, the declaration's types appear in items, where Rust infers nothing. Therefore these are
/// the authoritative types, and the compiler compares all other occurrences with them.
///
/// A part is `(number of the constructor, its own number, [parameters of the marker], type)`. A
/// number is a literal, or an expression in braces. `public [parameters of the marker]` is present
/// if values are converted to OCaml.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_items {
    (
        [$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] $visibility:vis $name:ident [$($a:ident)*]
        constructors $constructors:block
        float $is_float:block unboxed $is_unboxed:tt
        parts [$(($number:tt $index:tt [$($b:ident)*] $type:ty))*]
        $(public [$($c:ident)*])?
    ) => {
        $(#[doc $(($($doc_list)*))? $(= $doc)?])*
        $visibility struct $name<$($a),*> {
            never: $crate::macro_support::Infallible,
            // Invariant, because OCaml may both produce and consume values of a parameter's type.
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

        // SAFETY: OCaml treats each declaration with each choice of parameters as a different type.
        // If the type is unboxed, its values are those of its part (`CHECKED`), and the bound says
        // that the part is `OneType`.
        unsafe impl<$($a: $crate::markers::OneType),*> $crate::markers::OneType for $name<$($a),*>
        where
            for<'one> $crate::macro_support::Whole<'one, Self, ($($type,)*), $is_unboxed>: $crate::markers::OneType,
        {
            const CHECKED: () = {
                $(let () = <$a as $crate::markers::OneType>::CHECKED;)*
                let () = <Self as $crate::macro_support::Declared>::CHECKED;
                <$crate::macro_support::Whole<'static, Self, ($($type,)*), $is_unboxed> as $crate::markers::OneType>::CHECKED
            };
        }

        // SAFETY: no attribute can remove the struct above, so this is a new marker. Its values
        // come from conversions of this declaration, or from unsafe code that promises this form.
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
            // SAFETY: the type is not private, because Rust values are converted to it.
            #[doc(hidden)]
            unsafe impl<$($c),*> $crate::macro_support::Public for $name<$($c),*> {}
        )?
    };
}

/// For [`ocaml_declare!`]: generates the conversion to OCaml.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_to {
    ($name:ident [$($a:ident)*] [$rust:ty] [$($r:ident: $t:ident)*] $to:tt) => {
        impl<$($a,)* $($r: $crate::ToOCaml<$t>),*> $crate::ToOCaml<$name<$($a),*>> for $rust {
            #[inline(never)]
            fn to_value<'l>(
                &self,
                lock: &'l mut $crate::DomainLock,
            ) -> $crate::macro_support::Made<'l, $name<$($a),*>> {
                let _level = $crate::ocaml_level!();
                let marker = $crate::macro_support::PhantomData::<$name<$($a),*>>;
                $crate::ocaml_made! { self lock marker $to }
            }
        }
    };
}

/// For [`ocaml_to!`]: makes the value from a struct's fields or a constructor's arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_made {
    ($self:tt $lock:ident $marker:ident [struct $([$index:tt $member:tt])*]) => {
        $crate::ocaml_make!($lock $marker 0 $([$index &$self.$member, $crate::macro_support::stringify!($member)])*)
    };
    ($self:tt $lock:ident $marker:ident [enum $($constructors:tt)*]) => {
        $crate::ocaml_made! { @enum $self $lock $marker [$($constructors)*] $($constructors)* }
    };
    (@enum $self:tt $lock:ident $marker:ident $constructors:tt $((
        $constructor:ident $number:tt $([$index:tt $member:tt $binding:ident])*
    ))*) => {
        match $self {
            $(Self::$constructor { $($member: $binding),* } => $crate::ocaml_apart!(
                $constructors [$($member)*] $crate::ocaml_make!($lock $marker $number $([
                    $index $binding,
                    $crate::macro_support::concat!(
                        $crate::macro_support::stringify!($constructor),
                        ".",
                        $crate::macro_support::stringify!($member)
                    )
                ])*)
            ),)*
        }
    };
}

/// For [`ocaml_declare!`]: generates the conversion from OCaml. `from_float` is for unboxed types.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_from {
    ($name:ident $generics:tt $rust:tt $parameters:tt $constructors:tt $from_float:tt) => {
        $crate::ocaml_from! {
            @of $constructors $name $generics $rust $parameters $constructors $from_float
        }
    };
    (
        @of $constructors:tt $name:ident [$($a:ident)*] [$rust:ty] [$($r:ident: $t:ident)*]
        [$((Self $(:: $constructor:ident)? = $number:tt $([$index:tt $member:tt $($of:ident)?])*))*]
        {$([$($b:ident)*] Self $(:: $only:ident)? = $only_number:tt $only_member:tt)?}
    ) => {
        impl<$($a,)* $($r: $crate::FromOCaml<$t>),*> $crate::macro_support::FromParts<$name<$($a),*>> for $rust {
            fn from_parts<'l>(
                value: $crate::Value<'l, $name<$($a),*>>,
                lock: &'l $crate::DomainLock,
            ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                let opened = $crate::macro_support::open(value);
                $(if let $crate::macro_support::Some(parts) = $crate::macro_support::parts::<_, $number>(&opened) {
                    return $crate::ocaml_apart!($constructors [$($($of)?)*] $crate::macro_support::Ok(Self $(:: $constructor)? {
                        $($member: match $crate::macro_support::Parts::read::<$index, _, _>(
                            parts,
                            $crate::macro_support::concat!(
                                $($crate::macro_support::stringify!($of), ".",)?
                                $crate::macro_support::stringify!($member)
                            ),
                            lock,
                        ) {
                            // This does the work of `?`, which takes longer to compile.
                            $crate::macro_support::Ok(part) => part,
                            $crate::macro_support::Err(error) => return $crate::macro_support::Err(error),
                        }),*
                    }));
                })*
                $crate::macro_support::Err($crate::ConversionError::new($crate::ConversionErrorKind::Mismatch))
            }
        }

        impl<$($a,)* $($r: $crate::FromOCaml<$t>),*> $crate::FromOCaml<$name<$($a),*>> for $rust {
            #[inline]
            fn from_ocaml<'l>(
                value: $crate::Value<'l, $name<$($a),*>>,
                lock: &'l $crate::DomainLock,
            ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                let _level = $crate::ocaml_level!();
                $crate::macro_support::FromParts::from_parts(value, lock)
            }

            fn has_form(value: $crate::Value<'_, $name<$($a),*>>) -> $crate::macro_support::bool {
                $crate::Value::has_form(value)
            }

            $(
                fn from_float(
                    x: $crate::macro_support::f64,
                ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                    $crate::macro_support::Ok(Self $(:: $only)? {
                        $only_member: $crate::macro_support::read_float::<$name<$($b),*>, $only_number, _, _>(x)?
                    })
                }
            )?
        }
    };
}

/// For [`ocaml_declare!`]: generates a constant for each field of a record.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_fields {
    ($name:ident $generics:tt []) => {};
    (
        $name:ident [$($a:ident)*]
        [$(([$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] $index:tt $field:ident $type:ty, $flat:block))+]
    ) => {
        #[allow(non_upper_case_globals)]
        impl<$($a),*> $name<$($a),*> {
            $(
                $(#[doc $(($($doc_list)*))? $(= $doc)?])*
                #[doc = $crate::macro_support::concat!(
                    "The field `", $crate::macro_support::stringify!($field), "`."
                )]
                pub const $field: $crate::markers::Field<Self, $type, $flat> =
                    $crate::macro_support::field::<Self, $index, $type, $flat>(
                        $crate::macro_support::stringify!($field)
                    );
            )+
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): enters a level of nested conversions. This does the
/// work of `?`, which takes longer to compile.
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

/// For [`ocaml_type!`](crate::ocaml_type!): makes a value of the constructor with this number from
/// its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_make {
    ($lock:ident $marker:ident $number:tt) => {
        $crate::macro_support::constant::<_, $number>($marker, $lock)
    };
    ($lock:ident $marker:ident $number:tt $([$index:tt $value:expr, $name:expr])+) => {{
        let mut making = $crate::macro_support::Making::new(
            $crate::macro_support::Numbered::<_, $number>($marker), &[$($name),+],
        );
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

/// For [`ocaml_type!`](crate::ocaml_type!): the conversion of a constructor with these parts. The
/// conversion has its own stack frame if the constructor has parts and the type has more than eight
/// constructors. The closure for the frame doubles rustc's work.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_apart {
    (
        [$($a:tt $($b:tt $($c:tt $($d:tt $($e:tt $($f:tt $($g:tt $($h:tt)?)?)?)?)?)?)?)?] $parts:tt
        $conversion:expr
    ) => {
        $conversion
    };
    ($constructors:tt [] $conversion:expr) => {
        $conversion
    };
    ($constructors:tt [$($part:tt)+] $conversion:expr) => {
        $crate::macro_support::apart(|| $conversion)
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): turns the constructors `[(Name part …) …]` into a
/// [`Form`](crate::macro_support::Form).
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

/// For [`ocaml_type!`](crate::ocaml_type!): the number of a constructor, or of a part of a
/// constructor.
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

/// For [`ocaml_type!`](crate::ocaml_type!): declares a record or an unboxed type. `$form` is its
/// form, and `$fields` are its fields.
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
            [$((
                $field_docs { $crate::ocaml_index!($form $name $field) } $field $type,
                { $crate::macro_support::is_flat::<$name>() }
            ))+]
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
            [$((
                $field_docs { $crate::ocaml_index!($form $name $field) } $field $type, { false }
            ))+]
            $(($field $type))+
        }
    };
    (unboxed $docs:tt [$visibility:vis] $name:ident [] $rust:tt $form:tt ($field_docs:tt $field:ident $type:ty)) => {
        $crate::ocaml_struct! {
            @items $docs [$visibility] $name [] $rust $form
            { &[(0, $crate::macro_support::Constructor::Unboxed)] }
            { $crate::ocaml_is_float!(0 0 $type) } true { [] Self = 0 $field } [] ($field $type)
        }
        const _: () = <$name as $crate::macro_support::Declared>::CHECKED;
    };
    (
        @items $docs:tt [$visibility:vis] $name:ident $generics:tt $rust:tt $form:tt $constructors:tt $is_float:tt
        $is_unboxed:tt $from_float:tt $fields:tt $(($field:ident $type:ty))+
    ) => {
        const _: () = $crate::macro_support::check_names($crate::ocaml_form!($form));
        $crate::ocaml_declare! {
            [
                $docs $visibility $name $generics
                constructors $constructors float $is_float unboxed $is_unboxed
                parts [$((0 { $crate::ocaml_index!($form $name $field) } $generics $type))+]
            ]
            $name $generics [to] $rust
            [struct $([{ $crate::ocaml_index!($form $name $field) } $field])+]
            [(Self = 0 $([{ $crate::ocaml_index!($form $name $field) } $field])+)]
            $from_float $fields
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): declares a variant. `@normalise` and `@zip` turn each
/// constructor into `(Constructor [part name Type] …)`. The part is a number or a label, and the
/// name is that of a local variable.
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
        $crate::ocaml_declare! {
            [
                $docs $visibility $name $generics
                constructors { $crate::ocaml_constructors!($layout $form $($constructor)*) }
                float { false } unboxed false
                parts [$($((
                    { $crate::ocaml_index!($form $constructor) }
                    { $crate::ocaml_index!($form $constructor $part) }
                    $generics $type
                ))*)*]
            ]
            $name $generics [to] $rust
            [enum $((
                $constructor { $crate::ocaml_index!($form $constructor) }
                $([{ $crate::ocaml_index!($form $constructor $part) } $part $binding])*
            ))*]
            [$((
                Self::$constructor = { $crate::ocaml_index!($form $constructor) }
                $([{ $crate::ocaml_index!($form $constructor $part) } $part $constructor])*
            ))*]
            {} []
        }
    };
}

/// For [`ocaml_type!`](crate::ocaml_type!): the constructors of a variant, as OCaml represents
/// them.
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
