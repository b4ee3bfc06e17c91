//! Functions, values and exceptions of generated bindings, and Rust functions that OCaml calls.

/// Includes the bindings that the build script generated; see the guide (`docs/guide/bindings.md`).
///
/// If Rust provides `external` functions of a module, name the type that implements the module's
/// trait `Externals`: `include_bindings!(orders: crate::Audit)`.
///
/// # Examples
///
/// ```ignore
/// // src/main.rs; build.rs has generated bindings to the OCaml module `Orders`.
/// ocaml_boxroot::include_bindings!();
///
/// fn left(
///     lock: &mut ocaml_boxroot::DomainLock,
///     order: &orders::Order,
/// ) -> Result<i64, ocaml_boxroot::CallError> {
///     orders::reserve(lock, 500, order)
/// }
/// ```
#[macro_export]
macro_rules! include_bindings {
    ($($module:ident: $provider:ty),* $(,)?) => {
        /// The types that provide the externals of OCaml's modules.
        mod ocaml_externals {
            #![allow(non_camel_case_types, unused_imports)]
            // The types named below shadow these.
            pub use super::ocaml_externals_missing::*;
            $(pub use super::ocaml_externals::named::$module;)*

            mod named {
                use super::super::*;
                $(pub type $module = $provider;)*
            }
        }

        $crate::macro_support::include!($crate::macro_support::concat!(
            $crate::macro_support::env!(
                "OUT_DIR",
                "include_bindings! needs a build script that generates the bindings: add build.rs next to Cargo.toml"
            ),
            "/ocaml_bindings.rs"
        ));
    };
}

/// For generated bindings: makes a struct represent an OCaml exception with these arguments. The
/// `unsafe` form, for [`ocaml_functions!`], also defines the struct.
///
/// # Safety
///
/// Upheld by the generator: OCaml registers an exception with these arguments under this name.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_exception {
    ($name:ident = $registered:literal) => {
        $crate::bound_exception! { @exception generated $name [] $registered }
    };
    ($name:ident ($($index:tt $part:ident: $type:ty),+ $(,)?) = $registered:literal) => {
        $crate::bound_exception! { @exception generated $name [$([$index $index $type])+] $registered }
    };
    ($name:ident { $($index:tt $field:ident: $type:ty),+ $(,)? } = $registered:literal) => {
        $crate::bound_exception! { @exception generated $name [$([$index $field $type])+] $registered }
    };
    (unsafe [$($attribute:tt)*] [$visibility:vis] $name:ident [] = $registered:literal) => {
        $($attribute)*
        #[derive($crate::macro_support::Debug)]
        $visibility struct $name;

        $crate::bound_exception! { @exception unsafe $name [] $registered }
    };
    (
        unsafe [$($attribute:tt)*] [$visibility:vis] $name:ident
        [$($field:ident: $type:ty as $rust:ty),+] = $registered:literal
    ) => {
        $($attribute)*
        #[derive($crate::macro_support::Debug)]
        $visibility struct $name {
            $(
                #[allow(missing_docs)]
                pub $field: $rust,
            )+
        }

        $crate::bound_exception! { @fields [($name $($field)+)] $name [$([$field $type])+] $registered }
    };
    (@fields $form:tt $name:ident [$([$field:ident $type:ty])+] $registered:literal) => {
        const _: () = $crate::macro_support::check_names($crate::ocaml_form!($form));
        $crate::bound_exception! {
            @exception unsafe $name [$([{ $crate::ocaml_index!($form $name $field) } $field $type])+] $registered
        }
    };
    (@exception $promise:ident $name:ident [$([$index:tt $member:tt $type:ty])*] $registered:literal) => {
        const _: () = { $crate::ocaml_promise! { $promise $crate::macro_support::EXCEPTION } };

        impl $name {
            /// Returns this exception with its arguments if the error is this exception, or has it
            /// among its sources.
            ///
            /// # Errors
            ///
            /// Those of [`to_rust`](::ocaml_boxroot::Value::to_rust) if an argument cannot be
            /// converted.
            #[doc(alias = "downcast")]
            #[track_caller]
            pub fn of(
                lock: &mut $crate::DomainLock,
                error: &(impl $crate::macro_support::MayBeException + ?$crate::macro_support::Sized),
            ) -> $crate::macro_support::Result<$crate::macro_support::Option<Self>, $crate::ConversionError> {
                let $crate::macro_support::Some(exception) =
                    $crate::macro_support::exception(lock, error, $registered)
                else {
                    return $crate::macro_support::Ok($crate::macro_support::Option::None);
                };
                let _ = exception; // unused if it has no arguments
                $crate::macro_support::Ok($crate::macro_support::Some($name {
                    $(
                        // SAFETY: the exception has this argument (`ocaml_promise!`).
                        $member: unsafe {
                            $crate::macro_support::exception_argument::<$type, _>(
                                lock, exception, $index, $crate::macro_support::stringify!($member),
                            )
                        }?,
                    )*
                }))
            }

            /// Creates the OCaml exception. A function that OCaml called need not do this: it can
            /// return this error.
            ///
            /// # Errors
            ///
            /// Those of [`to_ocaml`](::ocaml_boxroot::ToOCaml::to_ocaml) if an argument cannot be
            /// converted.
            #[track_caller]
            pub fn exception(
                &self,
                lock: &mut $crate::DomainLock,
            ) -> $crate::macro_support::Result<$crate::Exception, $crate::CallError> {
                // SAFETY: the exception has these arguments (`ocaml_promise!`).
                unsafe {
                    $crate::macro_support::new_exception(
                        lock,
                        $registered,
                        $crate::macro_support::stringify!($name),
                        $crate::macro_support::PhantomData::<$crate::ocaml_several!(type $($type)*)>,
                        &[$($crate::macro_support::stringify!($member)),*],
                        $crate::ocaml_several!(fields $(&self.$member),*),
                    )
                }
            }
        }

        impl $crate::macro_support::Display for $name {
            fn fmt(
                &self,
                f: &mut $crate::macro_support::Formatter<'_>,
            ) -> $crate::macro_support::fmt::Result {
                $crate::macro_support::Debug::fmt(self, f)
            }
        }

        impl $crate::macro_support::Error for $name {
            /// Identifies the OCaml exception.
            fn source(
                &self,
            ) -> $crate::macro_support::Option<&(dyn $crate::macro_support::Error + 'static)> {
                $crate::macro_support::Some(
                    const {
                        &$crate::macro_support::Named::new($registered, |lock, error| {
                            $crate::macro_support::made_of(lock, error, $name::exception)
                        })
                    },
                )
            }
        }
    };
}

/// For generated bindings: a trait with the functions that an OCaml module declares as `external`,
/// and the C functions that OCaml calls. Functions in `plain { … }` take and return numbers: bare
/// numbers after `@bare`, values after `@tagged`.
///
/// # Safety
///
/// Upheld by the generator: OCaml declares the functions with these types.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_externals {
    (
        $(#[$attribute:meta])*
        pub trait $trait:ident for $provider:ty {
            $(
                $(#[doc = $doc:expr])*
                fn $name:ident $(<$($a:ident),+>)? = $symbol:literal $($bytecode:literal)?
                ($($(() : $unit:tt)? $($argument:ident: $type:ty $(as $rust:ty)?)?),* $(,)?) -> $result:ty $(as $converted:ty)?;
            )*
            $(plain {$(
                $(#[doc = $plain_doc:expr])*
                fn $plain:ident = $plain_symbol:literal $($plain_bytecode:literal)?
                ($($(() : $plain_unit:tt)? $($number:ident: @$passed:ident $of:ty as $natural:ty)?),* $(,)?)
                -> @$passed_back:ident $plain_of:ty as $plain_rust:ty;
            )+})?
        }
    ) => {
        const _: () = { $crate::ocaml_promise! { generated $crate::macro_support::EXTERNALS } };

        $(#[$attribute])*
        pub trait $trait {$(
            $(#[doc = $doc])*
            ///
            /// # Errors
            ///
            /// If the error is an [`Exception`](::ocaml_boxroot::Exception), or has one among its
            /// sources, OCaml sees that exception; otherwise it sees `Failure` with the error's
            /// text.
            fn $name $(<$($a: $crate::markers::OneType),+>)? (
                lock: &mut $crate::DomainLock,
                $($($argument: $crate::export_argument!(type $type $(as $rust)?),)?)*
            ) -> $crate::macro_support::Result<
                $crate::export_result!(type $result $(as $converted)?),
                $crate::macro_support::Box<dyn $crate::macro_support::Error>,
            >;
        )*

        $($(
            $(#[doc = $plain_doc])*
            ///
            /// # Panics
            ///
            /// A panic aborts the process, because OCaml expects no exception here. The collector
            /// must not run either, so there is no token.
            fn $plain($($($number: $natural,)?)*) -> $plain_rust;
        )+)?}

        $(const _: () = {
            $($(
                /// An OCaml type that Rust does not know. Its values must not leave their thread.
                struct $a($crate::macro_support::PhantomData<*const ()>);

                // SAFETY: in each call, it stands for one type.
                unsafe impl $crate::markers::OneType for $a {}
            )+)?

            $crate::export_entry! {
                generated $symbol, [$($bytecode)?] $name [<$provider as $trait>::$name] [ocaml_boxroot_interface()?;]
                [$($(() : $unit)? $($argument: $type $(as $rust)?)?),*] [$result $(as $converted)?]
            }
        };)*

        $($(const _: () = {
            #[export_name = $plain_symbol]
            unsafe extern "C" fn ocaml_boxroot_entry(
                $($($number: $crate::bound_plain!(type @$passed $of, $natural))? $(_: $crate::macro_support::Raw<$plain_unit>)?),*
            ) -> $crate::bound_plain!(type @$passed_back $plain_of, $plain_rust) {
                // SAFETY: OCaml called this function with numbers of these types (generated code).
                $($(let $number = unsafe { $crate::bound_plain!(from @$passed $of, $number) };)?)*
                // SAFETY: OCaml called this function (generated code).
                let result = unsafe {
                    $crate::macro_support::plain(
                        ocaml_boxroot_interface(),
                        move || <$provider as $trait>::$plain($($($number,)?)*),
                    )
                };
                // SAFETY: OCaml called this function, and takes a number of this type (generated
                // code).
                unsafe { $crate::bound_plain!(to @$passed_back $plain_of, result) }
            }

            $crate::bound_plain! {
                bytecode [$($plain_bytecode)?] [$provider as $trait] $plain
                [$($([$number $of])? $([$plain_unit])?)*] [$plain_of]
            }
        };)+)?
    };
}

/// For [`bound_externals!`]: the types and conversions of a plain function's numbers, and its
/// function for bytecode.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_plain {
    (type @bare $of:ty, $rust:ty) => { $rust };
    (type @tagged $of:ty, $rust:ty) => { $crate::raw::Value };
    (from @bare $of:ty, $number:ident) => { $number };
    (from @tagged $of:ty, $number:ident) => { $crate::macro_support::Plain::<$of>::from_value($number) };
    (to @bare $of:ty, $number:ident) => { $number };
    (to @tagged $of:ty, $number:ident) => { $crate::macro_support::Plain::<$of>::to_value($number) };
    (bytecode [] $($rest:tt)*) => {};
    (bytecode [$symbol:literal] [$provider:ty as $trait:ident] $name:ident $arguments:tt [$result:ty]) => {
        $crate::bound_plain! { @entry $symbol [$provider as $trait] $name $arguments [$result] }
    };
    (
        @entry $symbol:literal [$provider:ty as $trait:ident] $name:ident
        [$a:tt $($b:tt $($c:tt $($d:tt $($e:tt)?)?)?)?] [$result:ty]
    ) => {
        $crate::bound_plain! {
            @few $symbol [$provider as $trait] $name
            [a $a $(b $b $(c $c $(d $d $(e $e)?)?)?)?] [$result]
        }
    };
    (@entry $symbol:literal [$provider:ty as $trait:ident] $name:ident [$($arguments:tt)*] [$result:ty]) => {
        const _: () = { $crate::ocaml_promise! { generated $crate::macro_support::EXTERNALS } };

        #[export_name = $symbol]
        unsafe extern "C" fn ocaml_boxroot_bytecode(
            arguments: *const $crate::raw::Value,
            _count: $crate::macro_support::c_int,
        ) -> $crate::raw::Value {
            let mut next = arguments;
            // SAFETY: the bytecode runtime passes an array with as many arguments as OCaml
            // declares.
            unsafe {
                let result = $crate::bound_plain!(@call next [$provider as $trait] $name [] $($arguments)*);
                $crate::macro_support::Plain::<$result>::to_value(result)
            }
        }
    };
    (@few $symbol:literal [$provider:ty as $trait:ident] $name:ident [$($letter:ident $argument:tt)*] [$result:ty]) => {
        const _: () = { $crate::ocaml_promise! { generated $crate::macro_support::EXTERNALS } };

        #[export_name = $symbol]
        unsafe extern "C" fn ocaml_boxroot_bytecode(
            $($letter: $crate::macro_support::Raw<[(); { let _ = $crate::macro_support::stringify!($argument); 0 }]>),*
        ) -> $crate::raw::Value {
            let arguments = [$($letter),*];
            let mut next: *const $crate::raw::Value = &raw const arguments as _;
            // SAFETY: OCaml passes as many arguments as it declares.
            unsafe {
                let result = $crate::bound_plain!(@call next [$provider as $trait] $name [] $($argument)*);
                $crate::macro_support::Plain::<$result>::to_value(result)
            }
        }
    };
    (@call $next:ident [$provider:ty as $trait:ident] $name:ident [$($done:tt)*] [$number:ident $of:ty] $($rest:tt)*) => {
        $crate::bound_plain!(@call $next [$provider as $trait] $name [$($done)* [$of]] $($rest)*)
    };
    (@call $next:ident [$provider:ty as $trait:ident] $name:ident [$($done:tt)*] [$unit:tt] $($rest:tt)*) => {{
        // OCaml's `()`.
        let _ = $crate::macro_support::next(&mut $next);
        $crate::bound_plain!(@call $next [$provider as $trait] $name [$($done)*] $($rest)*)
    }};
    (@call $next:ident [$provider:ty as $trait:ident] $name:ident [$([$of:ty])*]) => {
        $crate::macro_support::plain(ocaml_boxroot_interface(), move || <$provider as $trait>::$name($(
            $crate::macro_support::Plain::<$of>::from_value($crate::macro_support::next(&mut $next))
        ),*))
    };
}

/// For generated bindings: a function that OCaml calls first. Its symbol identifies the interface
/// that the bindings were generated from. With `needs`, the module's externals fail before that
/// call, with an error that names the OCaml module to initialise.
#[doc(hidden)]
#[macro_export]
macro_rules! bound_abi {
    ($symbol:literal) => {
        $crate::bound_abi! { @symbol $symbol {} }

        /// For the externals.
        fn ocaml_boxroot_interface() -> $crate::macro_support::Result<(), $crate::macro_support::Infallible> {
            $crate::macro_support::Ok(())
        }
    };
    ($symbol:literal needs $module:literal) => {
        static OCAML_BOXROOT_COMPARED: $crate::macro_support::Compared = $crate::macro_support::Compared::new();

        $crate::bound_abi! { @symbol $symbol { $crate::macro_support::Compared::set(&OCAML_BOXROOT_COMPARED) } }

        /// For the externals.
        fn ocaml_boxroot_interface() -> $crate::macro_support::Result<(), $crate::macro_support::NotCompared> {
            $crate::macro_support::Compared::check(&OCAML_BOXROOT_COMPARED, $module)
        }
    };
    (@symbol $symbol:literal $body:block) => {
        const _: () = {
            $crate::ocaml_promise! { generated $crate::macro_support::ABI }

            #[export_name = $symbol]
            extern "C" fn ocaml_boxroot_abi(unit: $crate::raw::Value) -> $crate::raw::Value {
                $body
                unit
            }
        };
    };
}

/// For generated bindings.
pub mod bound_support {
    use crate::call::registered::argument_failed;
    use crate::lock::below_handlers;
    use crate::markers::{OCamlChar, OCamlInt32, OCamlInt64, OCamlNativeint};
    use crate::raw::ValueExt;
    pub use crate::types::exception::{
        argument as exception_argument, found as exception, MayBeException,
    };
    use crate::types::kept::Kept;
    use crate::types::several::{Sources, Types};
    use crate::{ffi, sys, CallError, DomainLock, Exception, OCamlFloat, OCamlInt, Value};
    use std::fmt;
    use std::marker::PhantomData;
    use std::sync::atomic::{AtomicBool, Ordering};
    use sys::token;

    macro_rules! messages {
        ($($name:ident $macro:literal $instead:literal)*) => {$(
            /// The compiler's message if the macro is called by hand.
            pub const $name: &str = concat!(
                $macro, " is only for the bindings that the build script generates; by hand, use ", $instead
            );
        )*};
    }

    messages! {
        FUNCTION "ocaml_functions! { generated … }" "ocaml_functions! { unsafe { … } }"
        EXCEPTION "bound_exception!" "Exception::new and Exception::argument"
        EXTERNALS "bound_externals!" "export!"
        ABI "bound_abi!" "#[unsafe(export_name = …)]"
    }

    /// Stops the compilation with this message unless `file` is the file of generated bindings in
    /// `folder`, which is `OUT_DIR`.
    pub const fn only_generated(file: &str, folder: Option<&str>, message: &'static str) {
        let is_generated = match folder {
            Some(folder) => is_generated(file.as_bytes(), folder.as_bytes()),
            None => false,
        };
        assert!(is_generated, "{}", message);
    }

    /// Whether `file` is the file of bindings in `folder`. Compares only the last characters of the
    /// folder's name (half of a cargo hash), because `--remap-path-prefix` may change the others.
    /// rustc interprets thousands of these calls: patterns are much faster than functions and
    /// loops.
    #[rustfmt::skip]
    const fn is_generated(file: &[u8], folder: &[u8]) -> bool {
        let [in_folder @ .., b'/' | b'\\', b'o', b'c', b'a', b'm', b'l', b'_', b'b', b'i', b'n', b'd', b'i', b'n', b'g',
            b's', b'.', b'r', b's'] = file
        else {
            return false;
        };
        match (in_folder, folder) {
            ([.., a, b, c, d, e, f, g, h, i, j, k, l], [.., m, n, o, p, q, r, s, t, u, v, w, x]) => {
                *a == *m && *b == *n && *c == *o && *d == *p && *e == *q && *f == *r
                    && *g == *s && *h == *t && *i == *u && *j == *v && *k == *w && *l == *x
            }
            _ => false, // cargo's folders have longer names
        }
    }

    /// Whether OCaml has called the function whose symbol identifies the interface of these
    /// bindings. If the OCaml code has another interface, the program does not link, because the
    /// symbol that OCaml calls does not exist.
    pub struct Compared(AtomicBool);

    impl Compared {
        /// OCaml has not called the function yet.
        #[allow(clippy::new_without_default)]
        pub const fn new() -> Self {
            Compared(AtomicBool::new(false))
        }

        /// OCaml has called the function.
        pub fn set(&self) {
            self.0.store(true, Ordering::Relaxed);
        }

        /// Returns an error unless OCaml has called the function. The error names the OCaml module
        /// that calls it.
        #[inline]
        pub fn check(&self, module: &'static str) -> Result<(), NotCompared> {
            match self.0.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(NotCompared(module)),
            }
        }
    }

    /// The error if OCaml called Rust too early.
    #[derive(Debug)]
    pub struct NotCompared(&'static str);

    impl fmt::Display for NotCompared {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let module = self.0;
            write!(
                f,
                "OCaml called Rust before it initialised the module {module}, which compares their interfaces: add \
                 `let () = {module}.register ()` to a module that is initialised before this call"
            )
        }
    }

    impl std::error::Error for NotCompared {}

    /// Calls a plain function. Panics if OCaml called Rust too early; this aborts the process,
    /// because OCaml expects no exception.
    ///
    /// # Safety
    ///
    /// The caller is a function that OCaml called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub unsafe fn plain<E: fmt::Display, R>(interface: Result<(), E>, f: impl FnOnce() -> R) -> R {
        /// Out of line, because the common case needs no `below_handlers`.
        #[cold]
        #[inline(never)]
        unsafe fn call_below_handlers<R>(f: impl FnOnce() -> R) -> R {
            // SAFETY: the lock is held (caller).
            unsafe { below_handlers(f) }
        }
        let call = move || match interface {
            Ok(()) => f(),
            Err(error) => panic!("{error}"),
        };
        // SAFETY: OCaml has called (caller), so the lock is held.
        unsafe {
            match token::is_on_own_stack() {
                true => call(),
                false => call_below_handlers(call),
            }
        }
    }

    /// A number of the OCaml type `T` that OCaml passes to plain functions.
    pub trait Plain<T> {
        /// # Safety
        ///
        /// The value is a `T`.
        unsafe fn from_value(value: sys::Value) -> Self;

        /// The number as a value. May run the collector unless the value is an immediate.
        ///
        /// # Safety
        ///
        /// OCaml called this function. Unless the value is an immediate, OCaml expects a
        /// collection.
        unsafe fn to_value(self) -> sys::Value;
    }

    macro_rules! plain {
        ($($rust:ty as $ocaml:ty: $value:ident => $from:expr, $number:ident => $to:expr;)*) => {$(
            impl Plain<$ocaml> for $rust {
                #[cfg_attr(not(debug_assertions), inline(always))]
                unsafe fn from_value($value: sys::Value) -> Self {
                    // SAFETY: the value is of this type (caller), and the collector does not run
                    // before it is read.
                    let $value: Value<'_, $ocaml> = unsafe { Value::from_raw($value) };
                    $from
                }

                #[cfg_attr(not(debug_assertions), inline(always))]
                unsafe fn to_value(self) -> sys::Value {
                    let $number = self;
                    // SAFETY: the collector may run whenever this allocates (caller).
                    #[allow(unused_unsafe)]
                    unsafe {
                        $to
                    }
                }
            }
        )*};
    }

    plain! {
        isize as OCamlInt: value => value.to_int(), n => Value::int(n).raw();
        bool as bool: value => value.to_bool(), b => Value::int(isize::from(b)).raw();
        u8 as OCamlChar: value => value.to_byte(), byte => Value::char(byte).raw();
        () as (): value => { let _ = value; }, unit => { let () = unit; Value::unit().raw() };
        f64 as OCamlFloat: value => value.to_float(), x => ffi::obx_alloc_float(x);
        i32 as OCamlInt32: value => value.to_int32(), n => ffi::obx_alloc_int32(n);
        i64 as OCamlInt64: value => value.to_int64(), n => ffi::obx_alloc_int64(n);
        isize as OCamlNativeint: value => value.to_nativeint(), n => ffi::obx_alloc_nativeint(n);
    }

    /// The C type of a value of type `T`.
    pub type Raw<T> = <T as AnyType>::Raw;

    /// For [`Raw`].
    pub trait AnyType {
        /// The C type of a value.
        type Raw;
    }

    impl<T> AnyType for T {
        type Raw = crate::sys::Value;
    }

    /// For the name of an OCaml type that does not use its parameters `A`: the marker itself.
    pub trait Ignoring<A: ?Sized> {
        /// The marker.
        type Itself: ?Sized;
    }

    impl<T: ?Sized, A: ?Sized> Ignoring<A> for T {
        type Itself = T;
    }

    /// Creates an exception. `shown` is its name in errors, and `names` are those of its arguments.
    ///
    /// # Safety
    ///
    /// OCaml registers the constructor of an exception with these arguments under the name.
    #[track_caller]
    pub unsafe fn new_exception<'a, T: Types, const N: usize>(
        lock: &mut DomainLock,
        name: &str,
        shown: &str,
        _types: PhantomData<T>,
        names: &'static [&'static str; N],
        sources: impl Sources<'a, T>,
    ) -> Result<Exception, CallError> {
        const { assert!(T::COUNT == N) };
        let mut arguments = Kept::places::<N>();
        sources.keep(&mut arguments, lock).map_err(|error| argument_failed(error, names, shown))?;
        let arguments = arguments.each_ref().map(Kept::place);
        // SAFETY: the exception has these arguments (caller).
        unsafe { Exception::new(lock, name, &arguments) }
    }
}
