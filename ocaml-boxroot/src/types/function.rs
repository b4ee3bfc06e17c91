//! Functions, and their calls.

use super::Exception;
use crate::{ffi, DomainLock, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::convert::Infallible;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

/// The type of an OCaml function from `Args` (a tuple) to `R`, as in
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`. If `Args` is `()`, the function takes OCaml's `()`.
/// Contravariant in `Args`, covariant in `R`.
///
/// # Rust functions
///
/// `Function::<Args, R>::from_rust` makes an OCaml function from a Rust function. OCaml owns the Rust function, and drops it
/// on any thread when it is garbage, as it drops an [`OCamlBox`](crate::OCamlBox). OCaml may call it on any thread, on
/// several threads at once, and again while a call is running. The Rust function gets the token and roots of the
/// arguments. It returns a root, or a Rust value that is [`ToOCaml`](crate::ToOCaml) the result's type, or an error, which
/// OCaml sees as with [`export!`](crate::export!).
///
/// ```
/// use ocaml_boxroot::{Boxroot, Error, Function, OCamlInt, OCamlString, Value};
///
/// # let _ocaml = ocaml_boxroot::Runtime::start()?;
/// # ocaml_boxroot::DomainLock::attach(|lock| -> Result<(), Box<dyn std::error::Error>> {
/// let names = vec!["zero", "one", "two"];
/// let name = Function::<(OCamlInt,), OCamlString>::from_rust(lock, move |lock, n| {
///     let n: usize = n.to_rust(lock)?;
///     Ok::<_, Error>(names.get(n).unwrap_or(&"many").to_string())
/// })?;
/// // Now OCaml can have it; or Rust calls it, as OCaml would.
/// let two = Boxroot::new(lock, Value::int(2));
/// assert_eq!(name.call(lock, &two)?.0.to_string_lossy(), "two");
/// # Ok(()) })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Function<Args, R: ?Sized>(
    PhantomData<fn(Args)>,
    PhantomData<*const R>, // neither `Send` nor `Sync` by itself: see the implementations below
    Infallible,
);

// SAFETY: the type is only a name. A thread that has a root of a closure can call it, and so use values of the types
// that it takes and returns; these types allow that.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Send for Function<Args, R> {}
// SAFETY: as for `Send`.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Sync for Function<Args, R> {}

impl<Args, R> fmt::Debug for Function<Args, R> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.2 {}
    }
}

impl DomainLock {
    /// Calls a closure.
    ///
    /// # Safety
    ///
    /// The closure and the arguments are live values. The closure accepts the arguments and returns an `R`.
    #[track_caller]
    pub(crate) unsafe fn call<'l, R: ?Sized>(
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
