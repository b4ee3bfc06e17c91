//! OCaml functions and calls of them.

use super::form::{arity, describe, is_closure, Form};
use super::kept::Kept;
use super::{CallError, Exception, FromOCaml, Made, OneType, ToOCaml};
use crate::raw::ValueExt;
use crate::value::CHECKS;
use crate::{ffi, Boxroot, ConversionError, DomainLock, Kind, OCamlAny, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::convert::Infallible;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

/// The type of an OCaml function from `Args` (a tuple) to `R`, as in
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`. If `Args` is `()`, the function takes OCaml's
/// `()`. Contravariant in `Args` and covariant in `R`.
///
/// # Rust functions
///
/// `Function::<Args, R>::from_rust` makes an OCaml function from a Rust function. OCaml owns the
/// Rust function. When the OCaml function is collected, the Rust function is dropped on any thread,
/// like an [`OCamlBox`](crate::markers::OCamlBox). OCaml may call it on any thread, on several
/// threads at once, and recursively. The Rust function receives the token and roots of the
/// arguments. With `from_rust_converting`, it receives Rust values of the types in its signature
/// instead of roots. It returns a root, a Rust value that converts to the result's type, or an
/// error, which OCaml receives as with [`export!`](crate::export!).
///
/// Write the function's type before `from_rust`. OCaml functions accept roots of functions as
/// arguments, but not Rust closures: rustc infers the types of a closure's arguments only from an
/// `Fn` bound, which roots do not satisfy.
///
/// ```
/// use ocaml_boxroot::{Boxroot, Function, OCamlInt, OCamlString, Value};
///
/// # ocaml_boxroot::macro_support::example(|lock| {
/// let names = vec!["zero", "one", "two"];
/// let name = Function::<(OCamlInt,), OCamlString>::from_rust(lock, move |lock, n| {
///     let n: usize = n.to_rust(lock)?;
///     Ok(names.get(n).unwrap_or(&"many").to_string())
/// })?;
/// // OCaml can now call it. Rust can also call it, with roots or with Rust values.
/// let two = Boxroot::new(lock, Value::int(2));
/// assert_eq!(name.call(lock, &two)?.0.to_string_lossy(), "two");
/// assert_eq!(name.call_converting::<String>(lock, 1)?, "one");
///
/// let twice =
///     Function::<(OCamlInt,), OCamlInt>::from_rust_converting(lock, |_, n: i64| Ok(2 * n))?;
/// assert_eq!(twice.call_converting::<i64>(lock, 21)?, 42);
/// # Ok(()) });
/// ```
#[doc(alias("caml_callback", "closure"))]
pub struct Function<Args, R: ?Sized>(
    PhantomData<fn(Args)>,
    PhantomData<*const R>, // neither `Send` nor `Sync` by itself: see the implementations below
    Infallible,
);

// SAFETY: the type has no values. A thread with a root of a closure can call the closure, and so
// use values of its argument and result types. The bounds on these types allow that.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Send for Function<Args, R> {}
// SAFETY: as for `Send`.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Sync for Function<Args, R> {}

impl<Args, R> fmt::Debug for Function<Args, R> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.2 {}
    }
}

// SAFETY: the marker stands for an OCaml function.
unsafe impl<Args, R: ?Sized> OneType for Function<Args, R> {}

impl<Args, R: ?Sized> Form for Function<Args, R> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        is_closure(value)
    }
}

/// The type of an OCaml function whose arguments have labels: `key:a -> b -> r` is
/// `Labelled<(Key, ()), Function<(A, B), R>>`. `Labels` has an item for each argument: `()` if it
/// has no label, [`Optional<L>`](Optional) if the label is optional.
/// [Bindings](crate::include_bindings) declare the labels.
///
/// Labels exist in types only. A root of `F`, the function without labels, can be passed where
/// OCaml expects the function with labels. To call a function with labels,
/// [convert](RootRef::to_rust) its root to a root of `F`. An optional argument is an `Option`.
pub struct Labelled<Labels, F>(PhantomData<fn() -> Labels>, PhantomData<F>, Infallible);

/// The label of an optional argument, for [`Labelled`].
#[derive(Debug)]
pub struct Optional<L>(PhantomData<fn() -> L>, Infallible);

impl<Labels, F> fmt::Debug for Labelled<Labels, F> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.2 {}
    }
}

// SAFETY: functions of OCaml.
unsafe impl<Labels, Args, R> OneType for Labelled<Labels, Function<Args, R>> {}

impl<Labels, Args, R> Form for Labelled<Labels, Function<Args, R>> {
    fn is_form_of(value: Value<'_, OCamlAny>) -> bool {
        is_closure(value)
    }
}

impl<Labels, Args, R> RootRef<Labelled<Labels, Function<Args, R>>> {
    /// The root, as one of the function without labels, to call it.
    pub fn without_labels(&self) -> &RootRef<Function<Args, R>> {
        // SAFETY: OCaml represents a function with labels as one of the same arguments without, an
        // optional one being an `option`.
        unsafe { self.cast() }
    }
}

macro_rules! with_labels {
    ($($root:ty),+) => {$(
        impl<Labels, Args, R> ToOCaml<Labelled<Labels, Function<Args, R>>> for $root {
            #[inline]
            fn to_value<'l>(
                &self,
                lock: &'l mut DomainLock,
            ) -> Made<'l, Labelled<Labels, Function<Args, R>>> {
                // SAFETY: as in `without_labels`.
                Ok((unsafe { self.cast() }.get(lock), lock))
            }

            #[inline]
            fn as_root(&self) -> Option<&RootRef<Labelled<Labels, Function<Args, R>>>> {
                // SAFETY: as in `without_labels`.
                Some(unsafe { self.cast() })
            }
        }
    )+};
}

with_labels!(RootRef<Function<Args, R>>, Boxroot<Function<Args, R>>);

impl<Labels, Args, R> FromOCaml<Labelled<Labels, Function<Args, R>>>
    for Boxroot<Function<Args, R>>
{
    fn from_ocaml<'l>(
        value: Value<'l, Labelled<Labels, Function<Args, R>>>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        // SAFETY: as in `without_labels`.
        Boxroot::try_new(lock, unsafe { Value::from_raw(value.raw()) })
    }

    fn has_form(value: Value<'_, Labelled<Labels, Function<Args, R>>>) -> bool {
        value.has_form()
    }
}

impl DomainLock {
    /// Calls a closure.
    ///
    /// # Panics
    ///
    /// In builds with checks, if `call_checked` returns an error that is not an exception.
    ///
    /// # Safety
    ///
    /// The closure and the arguments are live values. The closure accepts the arguments and returns
    /// an `R`.
    #[track_caller]
    pub(crate) unsafe fn call<'l, R: ?Sized>(
        &'l mut self,
        closure: sys::Value,
        arguments: &mut [sys::Value],
    ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
        // SAFETY: the caller promises the same.
        let result = match unsafe { self.call_checked(closure, arguments) } {
            Ok(result) => result,
            Err(CallError::Exception(exception)) => return Err(exception),
            Err(error) => panic!("boxroot: {error}"),
        };
        // SAFETY: `result` is live, and an `R` (caller). The collector does not run
        // during 'l, because the token is borrowed as shared.
        Ok((unsafe { Value::from_raw(result) }, self))
    }

    /// Calls a closure. The result is live. Builds with checks first test whether it is a closure,
    /// and how many arguments it takes. If it takes fewer, its result must be a function that takes
    /// the others, as OCaml allows.
    ///
    /// # Errors
    ///
    /// The exception that the function raised; in builds with checks,
    /// [`Mismatch`](crate::ConversionErrorKind::Mismatch).
    ///
    /// # Safety
    ///
    /// Same as [`call`](DomainLock::call).
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    unsafe fn call_checked(
        &mut self,
        closure: sys::Value,
        arguments: &mut [sys::Value],
    ) -> Result<sys::Value, CallError> {
        if CHECKS {
            // SAFETY: the caller promises the same.
            unsafe {
                let first = Value::from_raw(arguments[0]);
                let count = takes(Value::from_raw(closure), first, arguments.len())?;
                if count < arguments.len() {
                    return self.call_in_steps(closure, arguments, count);
                }
            }
        }
        // SAFETY: the caller promises the same. If the call raised, it has just ended.
        unsafe {
            match self.apply(closure, arguments) {
                Ok(result) => Ok(result),
                Err(raised) => Err(self.exception(raised).into()),
            }
        }
    }

    /// Calls a closure with the first `count` arguments, and its result with the others.
    ///
    /// # Safety
    ///
    /// Same as [`call`](DomainLock::call).
    #[track_caller]
    unsafe fn call_in_steps(
        &mut self,
        closure: sys::Value,
        arguments: &mut [sys::Value],
        count: usize,
    ) -> Result<sys::Value, CallError> {
        let (now, later) = arguments.split_at_mut(count);
        // SAFETY: the arguments are live (caller), and the collector does not run before
        // they are rooted.
        let root =
            |raw: &sys::Value| Boxroot::<OCamlAny>::try_new(self, unsafe { Value::from_raw(*raw) });
        let roots = later.iter().map(root).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the closure and the arguments are live, and have the right types (caller's
        // promise). The collector does not run before the result is used.
        unsafe {
            let result = self.call_checked(closure, now)?;
            if !is_closure(Value::from_raw(result)) {
                let all = arguments.len();
                return Err(ConversionError::mismatch(format!(
                    "expected a function of {all} arguments, found one of {count}"
                ))
                .into());
            }
            let mut later: Vec<_> = roots.iter().map(|root| root.get(self).raw()).collect();
            self.call_checked(result, &mut later)
        }
    }

    /// Calls a closure. Returns a live result, or an encoded exception as the error.
    ///
    /// # Safety
    ///
    /// The closure and the arguments are live values. The closure accepts the arguments.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn apply(
        &mut self,
        closure: sys::Value,
        arguments: &mut [sys::Value],
    ) -> Result<sys::Value, sys::Value> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so no unrooted
        // value is used after the call. The C functions return exceptions as encoded results.
        let result = unsafe {
            match arguments {
                [argument] => ffi::obx_callback1(closure, *argument),
                _ => {
                    let count = arguments.len() as c_int;
                    ffi::obx_callback(closure, count, arguments.as_mut_ptr())
                }
            }
        };
        match ffi::is_exception(result) {
            false => Ok(result),
            true => Err(result),
        }
    }

    /// The exception that ended a call.
    ///
    /// # Safety
    ///
    /// [`apply`](DomainLock::apply) has just returned `raised`.
    #[cold]
    #[track_caller]
    unsafe fn exception(&self, raised: sys::Value) -> Exception {
        // SAFETY: `raised` encodes an exception, which is live because `apply` just returned it.
        unsafe { Exception::raised(self, ffi::extract_exception(raised)) }
    }

    /// Calls a closure with these arguments, or with `()` if there are none.
    ///
    /// # Errors
    ///
    /// Same as [`call_checked`](DomainLock::call_checked).
    ///
    /// # Safety
    ///
    /// The closure is live, and accepts the arguments.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub(crate) unsafe fn call_with<'l, const N: usize>(
        &'l mut self,
        closure: sys::Value,
        arguments: [Kept<'_>; N],
    ) -> Result<(Value<'l, OCamlAny>, &'l DomainLock), CallError> {
        let mut raw = [Value::unit().raw(); N];
        // SAFETY: the array has `N` elements.
        unsafe { Kept::take_all(arguments, raw.as_mut_ptr(), self) };
        let raw: &mut [sys::Value] = match N {
            0 => &mut [Value::unit().raw()],
            _ => &mut raw,
        };
        // SAFETY: the closure and the arguments are live, because the collector has not run since
        // they were read. The closure accepts these arguments (caller).
        let result = unsafe { self.call_checked(closure, raw)? };
        // SAFETY: as in `call`.
        Ok((unsafe { Value::from_raw(result) }, self))
    }
}

/// How many of `count` arguments a function takes at once. `first` is the first argument.
///
/// # Errors
///
/// [`Mismatch`](crate::ConversionErrorKind::Mismatch) if the value is not a function, or if it
/// takes a tuple and `first` is not a tuple of that size.
fn takes(
    function: Value<'_, OCamlAny>,
    first: Value<'_, OCamlAny>,
    count: usize,
) -> Result<usize, ConversionError> {
    if !is_closure(function) {
        let found = describe(function);
        return Err(ConversionError::mismatch(format!("expected a function, found {found}")));
    }
    match arity(function) {
        None => Ok(count), // in bytecode: unknown
        Some(arity @ 1..) => Ok(count.min(arity as usize)),
        Some(tuple) => {
            let size = tuple.unsigned_abs();
            if first.kind() == (Kind::Block { tag: 0, size }) {
                return Ok(1);
            }
            let (function, first) = (describe(function), describe(first));
            Err(ConversionError::mismatch(format!("{function} is called with {first}")))
        }
    }
}

/// The ordinal numbers of arguments, for errors of `call_converting`.
const ORDINALS: [&str; 8] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

/// Converts the argument with this number, counted from 0.
#[inline]
#[track_caller]
fn argument<'a, T, R: ToOCaml<T>>(
    value: &'a R,
    number: usize,
    lock: &mut DomainLock,
) -> Result<Kept<'a>, ConversionError> {
    match Kept::new(value, lock) {
        Ok(kept) => Ok(kept),
        Err(error) => {
            Err(error.of(format_args!("the {} argument of an OCaml function", ORDINALS[number])))
        }
    }
}

impl<Args, R: ?Sized> RootRef<Function<Args, R>> {
    /// Calls the function, and copies its result.
    ///
    /// # Safety
    ///
    /// The function takes these arguments, or `()` if there are none.
    #[inline]
    #[track_caller]
    unsafe fn convert_result<X: FromOCaml<R>, const N: usize>(
        &self,
        lock: &mut DomainLock,
        arguments: [Kept<'_>; N],
    ) -> Result<X, CallError> {
        let closure = self.get(lock).raw();
        // SAFETY: the closure is live, because the collector has not run since it was read from its
        // root. It takes the arguments (caller).
        let (result, lock) = match unsafe { lock.call_with(closure, arguments) } {
            Ok(result) => result,
            Err(error) if CHECKS => return Err(error.of(format_args!("an OCaml function"))),
            Err(exception) => return Err(exception),
        };
        // SAFETY: the function returns an `R`, as its type says.
        match unsafe { Value::<R>::from_raw(result.raw()) }.to_rust::<X>(lock) {
            Ok(result) => Ok(result),
            Err(error) => Err(error.of(format_args!("the result of an OCaml function")).into()),
        }
    }
}

macro_rules! callable {
    (@values $lock:ident) => { [Value::unit().raw()] };
    (@values $lock:ident $($argument:ident)+) => { [$($argument.get($lock).raw()),+] };
    (@tuple) => { () };
    (@tuple $($type:ident)+) => { ($($type,)+) };
    ($($argument:ident: $type:ident, $number:literal);*) => {
        impl<$($type,)* R: ?Sized> RootRef<Function<callable!(@tuple $($type)*), R>> {
            #[allow(clippy::too_many_arguments)]
            /// Calls the function with the values of these roots, or with `()` if there are none.
            /// Also returns the token as a shared reference, for use with the result.
            ///
            /// # Errors
            ///
            /// The exception that the function raised.
            ///
            /// # Panics
            ///
            /// In [builds with checks](crate#builds-with-checks), if the value cannot be called
            /// with these arguments.
            #[doc(alias("caml_callback", "caml_callback_exn"))]
            #[track_caller]
            pub fn call<'l>(
                &self,
                lock: &'l mut DomainLock,
                $($argument: &RootRef<$type>),*
            ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
                let closure = self.get(lock).raw();
                let mut arguments = callable!(@values lock $($argument)*);
                // SAFETY: the values are live, because the collector has not run since they were
                // read from roots. Their types match the function's type.
                unsafe { lock.call(closure, &mut arguments) }
            }

            #[allow(clippy::too_many_arguments)]
            /// Calls the function with copies of these Rust values, or with `()` if there are none.
            /// A root passes its value, not a copy. Returns a copy of the result, or a root for it
            /// if `X` is a `Boxroot`.
            ///
            /// # Errors
            ///
            /// The exception that the function raised, or the error of a conversion. This error
            /// names the argument, or says that the result could not be converted.
            #[doc(alias("caml_callback", "caml_callback_exn"))]
            #[inline]
            #[track_caller]
            pub fn call_converting<X: FromOCaml<R>>(
                &self,
                lock: &mut DomainLock,
                $($argument: impl ToOCaml<$type>),*
            ) -> Result<X, CallError> {
                let arguments = [$(self::argument::<$type, _>(&$argument, $number, lock)?),*];
                // SAFETY: the arguments' types match the function's type.
                unsafe { self.convert_result(lock, arguments) }
            }
        }
    };
}

callable!();
callable!(a: A, 0);
callable!(a: A, 0; b: B, 1);
callable!(a: A, 0; b: B, 1; c: C, 2);
callable!(a: A, 0; b: B, 1; c: C, 2; d: D, 3);
callable!(a: A, 0; b: B, 1; c: C, 2; d: D, 3; e: E, 4);
callable!(a: A, 0; b: B, 1; c: C, 2; d: D, 3; e: E, 4; f: F, 5);
callable!(a: A, 0; b: B, 1; c: C, 2; d: D, 3; e: E, 4; f: F, 5; g: G, 6);
callable!(a: A, 0; b: B, 1; c: C, 2; d: D, 3; e: E, 4; f: F, 5; g: G, 6; h: H, 7);
