use crate::{ffi, Boxroot, CallError, DomainLock, Error, Exception, Function, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::{c_int, CStr, CString};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};

impl DomainLock {
    /// Roots the value that OCaml code registered with `Callback.register name`. `None` if there
    /// is none. For functions, [`ocaml_functions!`](crate::ocaml_functions!) does this.
    ///
    /// # Safety
    ///
    /// The value is a `T`. If `T` is a [`Function`], the function accepts arguments of these types and returns a
    /// result of that type, and on OCaml 4 it does not call `Thread.exit`, which would jump over Rust
    /// frames.
    ///
    /// # Panics
    ///
    /// If memory runs out.
    #[track_caller]
    pub unsafe fn named<T: ?Sized>(&self, name: &str) -> Option<Boxroot<T>> {
        let value = self.named_value(&CString::new(name).ok()?)?;
        // SAFETY: the value is live, and a `T` (caller).
        Some(Boxroot::new(self, unsafe { Value::from_raw(value.raw()) }))
    }

    /// The value that OCaml registered under this name, as a value of no particular type.
    pub(crate) fn named_value(&self, name: &CStr) -> Option<Value<'_, ()>> {
        let cell = named_cell(name)?;
        // SAFETY: the cell is from `named_cell`. Its value is rooted, and the collector does not run while the token is
        // borrowed shared.
        unsafe { Some(Value::from_raw(load(self, cell))) }
    }

    /// Calls a closure.
    ///
    /// # Safety
    ///
    /// The closure and the arguments are live values. The closure accepts the arguments and returns an `R`.
    #[track_caller]
    unsafe fn call<'l, R: ?Sized>(
        &'l mut self,
        closure: sys::Value,
        arguments: &mut [sys::Value],
    ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
        let count = arguments.len() as c_int;
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so no unrooted value is
        // used after the call. `obx_callback` returns exceptions as results.
        let result = unsafe { ffi::obx_callback(closure, count, arguments.as_mut_ptr()) };
        if ffi::is_exception(result) {
            // SAFETY: `result` encodes a live exception, or 0; the collector has not run since.
            return Err(unsafe { Exception::raised(self, ffi::extract_exception(result)) });
        }
        // SAFETY: `result` is live, and an `R` (caller). The collector does not run in 'l, because the token is only
        // borrowed shared.
        Ok((unsafe { Value::from_raw(result) }, self))
    }
}

/// The cell where OCaml keeps a registered value. It is never freed, and is a root. Callers hold the lock, which
/// protects OCaml 4's table of names.
fn named_cell(name: &CStr) -> Option<NonNull<sys::Value>> {
    // SAFETY: the name is a C string, and the lock is held.
    NonNull::new(unsafe { ffi::caml_named_value(name.as_ptr()) }.cast_mut())
}

/// The value in the cell of a registered value.
///
/// # Safety
///
/// `cell` is from [`named_cell`].
unsafe fn load(_lock: &DomainLock, cell: NonNull<sys::Value>) -> sys::Value {
    // SAFETY: the cell is never freed (caller). The load is atomic, because another domain may be registering another
    // value under the name.
    unsafe { AtomicIsize::from_ptr(cell.as_ptr()) }.load(Ordering::Acquire)
}

macro_rules! callable {
    ($($argument:ident: $type:ident),+) => {
        impl<$($type,)+ R: ?Sized> RootRef<Function<($($type,)+), R>> {
            #[allow(clippy::too_many_arguments)]
            /// Calls the function with the values that these roots own. Also returns the token, shared, to use the
            /// result.
            ///
            /// # Errors
            ///
            /// The exception that the function raised.
            #[track_caller]
            pub fn call<'l>(
                &self,
                lock: &'l mut DomainLock,
                $($argument: &RootRef<$type>),+
            ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
                let closure = self.get(lock).raw();
                let mut arguments = [$($argument.get(lock).raw()),+];
                // SAFETY: the values are live, because the collector has not run since they were read from roots. Their
                // types are those that the function's type promises.
                unsafe { lock.call(closure, &mut arguments) }
            }
        }
    };
}

callable!(a: A);
callable!(a: A, b: B);
callable!(a: A, b: B, c: C);
callable!(a: A, b: B, c: C, d: D);
callable!(a: A, b: B, c: C, d: D, e: E);
callable!(a: A, b: B, c: C, d: D, e: E, f: F);
callable!(a: A, b: B, c: C, d: D, e: E, f: F, g: G);
callable!(a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H);

impl<R: ?Sized> RootRef<Function<(), R>> {
    /// Calls the function with `()`. Also returns the token, shared, to use the result.
    ///
    /// # Errors
    ///
    /// The exception that the function raised.
    #[track_caller]
    pub fn call<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
        let closure = self.get(lock).raw();
        // SAFETY: the closure is live, because the collector has not run since it was read from its root. It takes `()`
        // and returns an `R`, as its type promises.
        unsafe { lock.call(closure, &mut [Value::unit().raw()]) }
    }
}

/// Declares functions that OCaml registers with `Callback.register`, so that they can be called like Rust functions.
///
/// ```no_run
/// use ocaml_boxroot::{ocaml_functions, CallError, DomainLock, OCamlInt, OCamlString};
///
/// ocaml_functions! {
///     // SAFETY: these are the types of the functions in OCaml.
///     unsafe {
///         /// `Callback.register "count" (fun (text : string) (k : int) -> … : int)`
///         pub fn count(text: OCamlString, k: OCamlInt) -> OCamlInt = "count";
///         /// `Callback.register "reset" (fun () -> …)`
///         pub fn reset() = "reset";
///     }
/// }
///
/// fn use_them(lock: &mut DomainLock) -> Result<i64, CallError> {
///     reset(lock)?;
///     count(lock, "so many words", 2)
/// }
/// ```
///
/// Each becomes a Rust function. It takes the token (`&mut DomainLock`), and for each argument a Rust value or a root that
/// is [`ToOCaml`](crate::ToOCaml) the argument's type. It returns a Rust value or a root (`Boxroot<…>`) that is
/// [`FromOCaml`](crate::FromOCaml) the result's type, as the caller chooses, or a [`CallError`](crate::CallError). Without
/// `->`, OCaml's function returns `()`, and the Rust function, too. There may be any number of arguments; without any,
/// OCaml's function is called with `()`. The name is looked up at the first call; if OCaml has registered nothing under it,
/// the error is [`NotRegistered`](crate::Error::NotRegistered).
///
/// # Safety
///
/// `unsafe` stands for the promise that every function that OCaml registers under the name takes such arguments, returns
/// such a result, and on OCaml 4 does not call `Thread.exit`, which would jump over Rust frames.
#[macro_export]
macro_rules! ocaml_functions {
    (unsafe {$(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $registered:literal;
    )*}) => {$(
        $(#[$attribute])*
        #[allow(unsafe_code)] // an error under `forbid(unsafe_code)`: this is a promise
        #[allow(clippy::too_many_arguments)]
        #[track_caller]
        $visibility fn $name<$(OCamlResult: $crate::FromOCaml<$result>)?>(
            lock: &mut $crate::DomainLock,
            $($argument: impl $crate::ToOCaml<$type>),*
        ) -> $crate::macro_support::Result<
            $crate::unit_or!($(OCamlResult, $result)?), $crate::CallError
        > {
            let arguments = [$($crate::call_support::argument::<$type, _>(&$argument, lock)?),*];
            {
                // Types in the signature of an item are not inferred, and cannot be `OCamlResult`.
                static FUNCTION: $crate::call_support::Named<
                    fn($($type),*), $crate::unit_or!($($result, $result)?)
                > = $crate::call_support::Named::new($registered);
                // SAFETY: the registered function has these argument and result types (promise of the user's `unsafe`).
                unsafe { $crate::call_support::Named::call(&FUNCTION, lock, arguments) }
            }
        }
    )*};
}

/// For [`ocaml_functions!`]: the first one of two types; `()` if there are none.
#[doc(hidden)]
#[macro_export]
macro_rules! unit_or {
    () => {
        ()
    };
    ($type:ty, $result:ty) => {
        $type
    };
}

/// For [`ocaml_functions!`].
pub mod call_support {
    use super::*;
    use crate::{FromOCaml, OCamlAny, ToOCaml};
    use std::marker::PhantomData;

    /// A function that OCaml registers under a name, with arguments of the types of those of `Args`, and a result `T`.
    pub struct Named<Args, T: ?Sized> {
        name: &'static str,
        /// From `named_cell`; NULL until the name was found.
        cell: AtomicPtr<sys::Value>,
        _types: PhantomData<fn(Args, *const T)>,
    }

    /// A root for an argument.
    #[track_caller]
    pub fn argument<T: ?Sized, R: ToOCaml<T>>(
        value: &R,
        lock: &mut DomainLock,
    ) -> Result<Boxroot<OCamlAny>, Error> {
        Ok(value.to_ocaml(lock)?.into_any())
    }

    impl<Args, T: ?Sized> Named<Args, T> {
        /// The function with this name, which is not looked up yet.
        pub const fn new(name: &'static str) -> Self {
            Named { name, cell: AtomicPtr::new(std::ptr::null_mut()), _types: PhantomData }
        }

        fn cell(&self) -> Option<NonNull<sys::Value>> {
            let cell = NonNull::new(self.cell.load(Ordering::Acquire));
            cell.or_else(|| {
                let cell = named_cell(&CString::new(self.name).ok()?)?;
                self.cell.store(cell.as_ptr(), Ordering::Release);
                Some(cell)
            })
        }

        /// Calls the function, with `()` if there are no arguments.
        ///
        /// # Safety
        ///
        /// The registered function takes these arguments and returns a `T`.
        #[track_caller]
        pub unsafe fn call<R: FromOCaml<T>, const N: usize>(
            &self,
            lock: &mut DomainLock,
            arguments: [Boxroot<OCamlAny>; N],
        ) -> Result<R, CallError> {
            let cell = self.cell().ok_or_else(|| Error::NotRegistered(self.name.into()))?;
            let mut unit = [Value::unit().raw()];
            let mut raw = arguments.each_ref().map(|argument| argument.get(lock).raw());
            let raw: &mut [sys::Value] = if N == 0 { &mut unit } else { &mut raw };
            // SAFETY: `cell` is from `named_cell`.
            let closure = unsafe { load(lock, cell) };
            // SAFETY: the closure and the arguments are live, because the collector has not run since they were read. The
            // function has these types (caller).
            let (result, lock) = unsafe { lock.call::<T>(closure, raw) }?;
            Ok(R::from_ocaml(result, lock)?)
        }
    }
}
