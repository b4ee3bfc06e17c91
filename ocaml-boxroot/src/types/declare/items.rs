//! The items that [`ocaml_type!`](crate::ocaml_type!) and [`bound_type!`](crate::bound_type!)
//! generate from a declaration.

/// For [`ocaml_type!`](crate::ocaml_type!) and [`bound_type!`](crate::bound_type!): generates a
/// marker, its fields, and the conversions to and from the Rust type, if there is one. If `[to]` is
/// `[]`, generates only the conversion from OCaml. `$form` is `[struct [member] …]` or `[enum
/// (Constructor number [member name] …) …]`. The name is that of a local variable.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_declare {
    ([$($marker:tt)*] $name:ident $generics:tt $is_public:tt [] $form:tt $from_float:tt $fields:tt) => {
        $crate::ocaml_items! { $($marker)* }
        $crate::ocaml_fields! { $name $generics $fields }
    };
    (
        [$($marker:tt)*] $name:ident $generics:tt [] [$rust:tt $parameters:tt]
        $form:tt $from_float:tt $fields:tt
    ) => {
        $crate::ocaml_items! { $($marker)* }
        $crate::ocaml_from! { $name $generics $rust $parameters $form $from_float }
        $crate::ocaml_fields! { $name $generics $fields }
    };
    (
        [$($marker:tt)*] $name:ident $generics:tt [to] [$rust:tt $parameters:tt]
        $form:tt $from_float:tt $fields:tt
    ) => {
        $crate::ocaml_items! { $($marker)* public $generics }
        $crate::ocaml_to! { $name $generics $rust $parameters $form }
        $crate::ocaml_from! { $name $generics $rust $parameters $form $from_float }
        $crate::ocaml_fields! { $name $generics $fields }
    };
}

/// For [`ocaml_declare!`]: generates a marker, and all facts about it that unsafe code relies on.
/// Here, the declaration's types appear in items, where Rust infers nothing. Therefore these are
/// the authoritative types, and the compiler compares all other occurrences with them.
///
/// `parts` are those of a constructor: its number (a literal, or `(form Constructor)` for
/// [`ocaml_index!`]), the marker's parameters, and the types. The number is not any expression,
/// because a macro in it may expand to a different number each time. `public [parameters of the
/// marker]` is present if values are converted to OCaml.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_items {
    (
        [$(#[doc $(($($doc_list:tt)*))? $(= $doc:expr)?])*] $visibility:vis $name:ident [$($a:ident)*]
        constructors $constructors:block
        float [$($is_float:block)?] unboxed $is_unboxed:tt
        parts [$(($($number:literal)? $(($form:tt $constructor:ident))? [$($b:ident)*] $($type:ty)+))*]
        $(public [$($c:ident)*])?
    ) => {
        $(#[doc $(($($doc_list)*))? $(= $doc)?])*
        $visibility struct $name<$($a),*> {
            never: $crate::macro_support::Infallible,
            // Invariant, because OCaml may both produce and consume values of a parameter's type.
            _parameters: ($($crate::macro_support::PhantomData<($a, fn($a) -> $a)>,)*),
            // The marker is `Send` and `Sync` if the markers of all parts are.
            _parts: ($($crate::macro_support::PartTypes<$name<$($b),*>, $($number)? $({ $crate::ocaml_index!($form $constructor) })?, $crate::ocaml_several!(type $($type)+)>,)*),
        }

        impl<$($a),*> $crate::macro_support::Debug for $name<$($a),*> {
            fn fmt(
                &self,
                _: &mut $crate::macro_support::Formatter<'_>,
            ) -> $crate::macro_support::fmt::Result {
                match self.never {}
            }
        }

        $crate::ocaml_one_type! { $is_unboxed $name [$($a)*] $($($type)+)* }

        // SAFETY: no attribute can remove the struct above, so this is a new marker. Its values
        // come from conversions of this declaration, or from unsafe code that promises this form.
        #[doc(hidden)]
        unsafe impl<$($a),*> $crate::macro_support::Declared for $name<$($a),*> {
            const CONSTRUCTORS: $crate::macro_support::Constructors = $constructors;
            const CHECKED: () = $crate::macro_support::check(
                <Self as $crate::macro_support::Declared>::CONSTRUCTORS,
                &[$($($number)? $($crate::ocaml_index!($form $constructor))?),*],
                $is_unboxed,
            );
            $(const IS_FLOAT: $crate::macro_support::bool = $is_float;)?
        }

        $(
            // SAFETY: the declaration says that the parts have these types.
            #[doc(hidden)]
            unsafe impl<$($b),*> $crate::macro_support::HasParts<$($number)? $({ $crate::ocaml_index!($form $constructor) })?, $crate::ocaml_several!(type $($type)+)> for $name<$($b),*> {}
        )*

        $(
            // SAFETY: the type is not private, because Rust values are converted to it.
            #[doc(hidden)]
            unsafe impl<$($c),*> $crate::macro_support::Public for $name<$($c),*> {}
        )?
    };
}

/// For [`ocaml_items!`]: says that a marker stands for one type. `true` is for an unboxed type.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_one_type {
    (false $name:ident [$($a:ident)*] $($type:ty)*) => {
        // SAFETY: OCaml treats each declaration with each choice of parameters as a different type.
        // Its values are blocks and immediates, whatever the blocks contain (`CHECKED`).
        unsafe impl<$($a: $crate::markers::OneType),*> $crate::markers::OneType for $name<$($a),*> {
            const CHECKED: () = {
                $(let () = <$a as $crate::markers::OneType>::CHECKED;)*
                <Self as $crate::macro_support::Declared>::CHECKED
            };
        }
    };
    (true $name:ident [$($a:ident)*] $type:ty) => {
        // SAFETY: OCaml treats each declaration with each choice of parameters as a different type.
        // Its values are those of its part (`CHECKED`), and the bound says that the part is
        // `OneType`.
        unsafe impl<$($a: $crate::markers::OneType),*> $crate::markers::OneType for $name<$($a),*>
        where
            for<'one> $crate::macro_support::Only<'one, Self, $type>: $crate::markers::OneType,
        {
            const CHECKED: () = {
                $(let () = <$a as $crate::markers::OneType>::CHECKED;)*
                let () = <Self as $crate::macro_support::Declared>::CHECKED;
                <$crate::macro_support::Only<'static, Self, $type> as $crate::markers::OneType>::CHECKED
            };
        }
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
    ($self:tt $lock:ident $marker:ident [struct $([$member:tt])*]) => {
        $crate::macro_support::make(
            $crate::macro_support::Numbered::<_, 0>($marker),
            &[$($crate::macro_support::stringify!($member)),*],
            $crate::ocaml_several!(fields $(&$self.$member),*),
            $lock,
        )
    };
    ($self:tt $lock:ident $marker:ident [enum $(($constructor:ident $number:tt $([$member:tt $binding:ident])*))*]) => {
        match $self {
            $(Self::$constructor { $($member: $binding),* } => $crate::ocaml_make!(
                $lock $marker $number $constructor $([$member $binding])*
            ),)*
        }
    };
}

/// For [`ocaml_made!`]: makes a value of the constructor with this number from its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_make {
    ($lock:ident $marker:ident $number:tt $constructor:ident) => {
        $crate::macro_support::constant::<_, $number>($marker, $lock)
    };
    ($lock:ident $marker:ident $number:tt $constructor:ident $([$member:tt $binding:ident])+) => {
        $crate::macro_support::make(
            $crate::macro_support::Numbered::<_, $number>($marker),
            &[$($crate::ocaml_part_name!($constructor $member)),+],
            $crate::ocaml_several!(value $($binding)+),
            $lock,
        )
    };
}

/// For the macros: the name of a constructor's part in errors.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_part_name {
    ($constructor:ident $member:tt) => {
        $crate::macro_support::concat!(
            $crate::macro_support::stringify!($constructor),
            ".",
            $crate::macro_support::stringify!($member)
        )
    };
}

/// For [`ocaml_declare!`]: generates the conversion from OCaml. `from_float` is for unboxed types.
/// That of a struct is not inlined, because LLVM takes much longer for the large functions that it
/// would make.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_from {
    ($name:ident $generics:tt $rust:tt $parameters:tt [struct $($form:tt)*] $from_float:tt) => {
        $crate::ocaml_from! {
            @[#[inline(never)]] $name $generics $rust $parameters [struct $($form)*] $from_float
        }
    };
    ($name:ident $generics:tt $rust:tt $parameters:tt [enum $($form:tt)*] $from_float:tt) => {
        $crate::ocaml_from! { @[] $name $generics $rust $parameters [enum $($form)*] $from_float }
    };
    (
        @[$($inline:tt)*] $name:ident [$($a:ident)*] [$rust:ty] [$($r:ident: $t:ident)*] $form:tt
        {$([$($b:ident)*] [$($only:tt)+] $only_member:tt)?}
    ) => {
        impl<$($a,)* $($r: $crate::FromOCaml<$t>),*> $crate::FromOCaml<$name<$($a),*>> for $rust {
            $($inline)*
            fn from_ocaml<'l>(
                value: $crate::Value<'l, $name<$($a),*>>,
                lock: &'l $crate::DomainLock,
            ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                let opened = $crate::macro_support::open(value);
                $crate::ocaml_taken! { opened lock $form }
                $crate::macro_support::Err($crate::macro_support::mismatch(opened))
            }

            $(
                fn from_float(
                    x: $crate::macro_support::f64,
                ) -> $crate::macro_support::Result<Self, $crate::ConversionError> {
                    $crate::macro_support::Ok($($only)+ {
                        $only_member: $crate::macro_support::read_float::<$name<$($b),*>, _, _>(x)?
                    })
                }
            )?
        }
    };
}

/// For [`ocaml_from!`]: returns a struct, or the constructor that the value has.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_taken {
    ($opened:ident $lock:ident [struct $([$member:tt])*]) => {
        $crate::ocaml_take! {
            [] [Self] 0 $opened $lock $([$member $crate::macro_support::stringify!($member)])*
        }
    };
    ($opened:ident $lock:ident [enum $($constructors:tt)*]) => {
        $crate::ocaml_taken! { @enum [$($constructors)*] $opened $lock $($constructors)* }
    };
    (@enum $all:tt $opened:ident $lock:ident $(($constructor:ident $number:tt $([$member:tt $binding:ident])*))*) => {
        $($crate::ocaml_take! {
            $all [Self::$constructor] $number $opened $lock
            $([$member $crate::ocaml_part_name!($constructor $member)])*
        })*
    };
}

/// For [`ocaml_taken!`]: returns this constructor if the value has it. The conversion has its own
/// stack frame if the type has more than eight constructors: without optimisation, a function's
/// frame has room for every value in its body. The closure for the frame doubles rustc's work.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_take {
    ($all:tt [$($path:tt)+] $number:tt $opened:ident $lock:ident) => {
        if $crate::macro_support::is::<_, $number>(&$opened) {
            return $crate::macro_support::Ok($($path)+ {});
        }
    };
    (
        [$($a:tt $($b:tt $($c:tt $($d:tt $($e:tt $($f:tt $($g:tt $($h:tt)?)?)?)?)?)?)?)?]
        $path:tt $number:tt $opened:ident $lock:ident $($member:tt)+
    ) => {
        $crate::ocaml_read!($path $number $opened $lock [return] [] $($member)+)
    };
    ($all:tt $path:tt $number:tt $opened:ident $lock:ident $($member:tt)+) => {
        if $crate::macro_support::is::<_, $number>(&$opened) {
            return $crate::macro_support::apart(|| $crate::ocaml_read!(
                $path $number $opened $lock []
                [$crate::macro_support::Err($crate::ConversionError::new($crate::ConversionErrorKind::Mismatch))]
                $($member)+
            ));
        }
    };
}

/// For [`ocaml_take!`]: the conversion, which follows `$found`, if the value has this constructor,
/// otherwise `$other`.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_read {
    ($path:tt $number:tt $opened:ident $lock:ident [$($found:tt)?] [$($other:tt)*] $([$member:tt $name:expr])+) => {
        match $crate::macro_support::take::<_, _, _, $number>(&$opened, &[$($name),+], $lock) {
            $crate::macro_support::None => { $($other)* }
            $crate::macro_support::Some($crate::macro_support::Ok(parts)) => $($found)? (
                $crate::macro_support::Ok($crate::ocaml_built!($path [] parts, $($member)+))
            ),
            $crate::macro_support::Some($crate::macro_support::Err(error)) => $($found)? (
                $crate::macro_support::Err(error)
            ),
        }
    };
}

/// For [`ocaml_read!`]: a struct or constructor with these members, which are the values of an
/// [`ocaml_several!`].
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_built {
    ($path:tt [$($done:tt)*] $all:expr, $a:tt) => {
        $crate::ocaml_built!(@ $all, (part_a,) $path { $($done)* $a: part_a })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b) $path { $($done)* $a: part_a, $b: part_b })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c) $path { $($done)* $a: part_a, $b: part_b, $c: part_c })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt $d:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c, part_d) $path { $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt $d:tt $e:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c, part_d, part_e) $path { $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d, $e: part_e })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c, part_d, part_e, part_f) $path { $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d, $e: part_e, $f: part_f })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c, part_d, part_e, part_f, part_g) $path { $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d, $e: part_e, $f: part_f, $g: part_g })
    };
    ($path:tt [$($done:tt)*] $all:expr, $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt) => {
        $crate::ocaml_built!(@ $all, (part_a, part_b, part_c, part_d, part_e, part_f, part_g, part_h) $path { $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d, $e: part_e, $f: part_f, $g: part_g, $h: part_h })
    };
    (
        $path:tt [$($done:tt)*] $all:expr,
        $a:tt $b:tt $c:tt $d:tt $e:tt $f:tt $g:tt $h:tt $($more:tt)+
    ) => {
        match $all {
            $crate::macro_support::More((part_a, part_b, part_c, part_d, part_e, part_f, part_g, part_h), rest) => $crate::ocaml_built!($path [
                $($done)* $a: part_a, $b: part_b, $c: part_c, $d: part_d, $e: part_e, $f: part_f, $g: part_g, $h: part_h,
            ] rest, $($more)+)
        }
    };
    (@ $all:expr, $pattern:tt [$($path:tt)+] $members:tt) => {
        match $all {
            $pattern => $($path)+ $members,
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
                #[doc = "This field."]
                pub const $field: $crate::markers::Field<Self, $type, $flat> =
                    $crate::macro_support::field::<Self, _, $index, $type, $flat>(
                        $crate::macro_support::stringify!($field)
                    );
            )+
        }
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

/// For [`ocaml_type!`](crate::ocaml_type!): whether a field of the marker `Self` is a float.
#[doc(hidden)]
#[macro_export]
macro_rules! ocaml_is_float {
    ($index:tt $type:ty) => {{
        use $crate::macro_support::NotFloat as _;
        $crate::macro_support::is_float::<Self, _, $index, _>(
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
                $($crate::ocaml_is_float!({ $crate::ocaml_index!($form $name $field) } $type))&&+,
            ))] }
            [] false {}
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
                    $($crate::ocaml_is_float!({ $crate::ocaml_index!($form $name $field) } $type))&&+
                ),
            ))] }
            [] false {}
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
            [{ $crate::ocaml_is_float!(0 $type) }] true { [] [Self] $field } [] ($field $type)
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
                parts [(0 $generics $($type)+)]
            ]
            $name $generics [to] $rust [struct $([$field])+] $from_float $fields
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
        $(($constructor:ident $([$first:tt $first_binding:ident $first_type:ty] $([$part:tt $binding:ident $type:ty])*)?))*
    ) => {
        const _: () = $crate::macro_support::check_names($crate::ocaml_form!($form));
        const _: $crate::macro_support::Constructors = $crate::ocaml_constructors!($layout $form $($constructor)*);
        $crate::ocaml_declare! {
            [
                $docs $visibility $name $generics
                constructors { $crate::ocaml_constructors!($layout $form $($constructor)*) }
                float [] unboxed false
                parts [$($((
                    ($form $constructor) $generics $first_type $($type)*
                ))?)*]
            ]
            $name $generics [to] $rust
            [enum $((
                $constructor { $crate::ocaml_index!($form $constructor) }
                $([$first $first_binding] $([$part $binding])*)?
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
