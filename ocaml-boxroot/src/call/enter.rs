//! Functions of Rust that OCaml calls: how a body runs, and how its result, error or panic gets to OCaml.

use super::registered::Place;
use crate::types::exception::value_inside;
use crate::types::form::Looks;
use crate::{ffi, Boxroot, DomainLock, FromOCaml, ToOCaml, Value};
use ocaml_boxroot_sys as sys;
use std::any::Any;
use std::error::Error;
use std::panic::{catch_unwind, AssertUnwindSafe};

impl DomainLock {
    /// The body of an `extern "C"` function that OCaml calls: calls `f` with a token. The caller passes the
    /// result to `ocaml_boxroot_finish`, a C function of this crate, which raises it if it is an
    /// exception, and else returns it. If `f` panics, or there can be no token (for the errors of
    /// [`assume_held`](DomainLock::assume_held)), the result is the exception `Failure` with the message.
    /// [`export!`](crate::export!) does all of this.
    ///
    /// # Safety
    ///
    /// OCaml called this function, as an `external` without `[@@noalloc]`, and not as a finaliser of a custom block; the
    /// result goes to `ocaml_boxroot_finish`. `f` returns a valid value, or an exception that is encoded as in the results of the
    /// `_exn` functions of OCaml's C interface.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use ocaml_boxroot::{sys, DomainLock, OCamlInt, Value};
    ///
    /// extern "C" {
    ///     fn ocaml_boxroot_finish(result: sys::Value) -> sys::Value;
    /// }
    ///
    /// /// `external next : int -> int = "example_next"`
    /// #[no_mangle]
    /// unsafe extern "C" fn example_next(n: sys::Value) -> sys::Value {
    ///     // SAFETY: OCaml calls, with an `int`; the result goes to `ocaml_boxroot_finish`.
    ///     unsafe {
    ///         let result = DomainLock::enter(|_lock| {
    ///             let n: Value<OCamlInt> = Value::from_raw(n);
    ///             Value::int(n.to_int() + 1).raw()
    ///         });
    ///         ocaml_boxroot_finish(result)
    ///     }
    /// }
    /// ```
    #[doc(alias("CAMLprim", "CAMLparam"))]
    #[cfg_attr(feature = "debug-checks", track_caller)]
    pub unsafe fn enter(f: impl FnOnce(&mut DomainLock) -> sys::Value) -> sys::Value {
        // SAFETY: OCaml called this function (caller), so the lock is held until it returns. If a calling
        // frame has a token, it was borrowed as `&mut` by the function that called OCaml.
        // The payload of a panic is dropped inside, too: its `drop` is code of the program, which may look at the call stack.
        let result = unsafe {
            DomainLock::assume_held(|lock| {
                catch_unwind(AssertUnwindSafe(|| f(lock))).map_err(panic_message)
            })
        };
        let message = match result {
            Ok(Ok(value)) => return value,
            Ok(Err(message)) => message,
            Err(error) => error.to_string(),
        };
        // SAFETY: the lock is held, because OCaml called this function (caller). The token is gone, and with it
        // all unrooted values.
        unsafe { failure(&message) }
    }
}

/// The message of a panic. Drops the payload. If that panics, too, the second payload is leaked.
fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
        (Some(message), _) => message.clone(),
        (None, Some(message)) => (*message).to_string(),
        (None, None) => "a Rust function panicked".to_string(),
    };
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    message
}

/// The result of a body that failed: OCaml will see the exception `Failure message`.
///
/// # Safety
///
/// This thread holds the lock, and uses no unrooted value afterwards.
unsafe fn failure(message: &str) -> sys::Value {
    // SAFETY: the lock is held, and the collector may run, because no unrooted value is used afterwards (caller).
    unsafe { ffi::obx_failure(message.as_ptr().cast(), message.len()) }
}

/// For [`export!`](crate::export!): runs a body, and turns its result into what [`finish`] takes.
///
/// # Safety
///
/// As for [`DomainLock::enter`].
#[cfg_attr(feature = "debug-checks", track_caller)]
pub unsafe fn enter<T: ?Sized>(
    body: impl FnOnce(&mut DomainLock) -> Result<Boxroot<T>, Box<dyn Error>>,
) -> sys::Value {
    // SAFETY: OCaml called, and the result goes to `finish` (caller); `answer` returns a valid value or an encoded
    // exception.
    unsafe {
        DomainLock::enter(|lock| {
            let result = body(lock);
            answer(lock, result)
        })
    }
}

/// The result of a body as a value for OCaml; an error becomes an encoded exception.
pub(super) fn answer<T: ?Sized>(
    lock: &mut DomainLock,
    result: Result<Boxroot<T>, Box<dyn Error>>,
) -> sys::Value {
    let error = match result {
        Ok(root) => {
            let raw = root.get(lock).raw();
            root.delete_in(lock);
            return raw;
        }
        Err(error) => error,
    };
    // The error is dropped before the exception is an unrooted value: code of the program might run
    // the collector.
    if let Some(exception) = value_inside(&*error) {
        drop(error);
        return ffi::exception_result(exception.get(lock).raw());
    }
    let message = error.to_string();
    drop(error);
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so there is no unrooted value.
    unsafe { failure(&message) }
}

/// For [`export!`](crate::export!): an argument for the body, rooted.
///
/// # Safety
///
/// `raw` is a live value and a `T`.
#[inline]
#[track_caller]
pub unsafe fn rooted<T: ?Sized>(
    lock: &DomainLock,
    raw: sys::Value,
    looks: Looks<T>,
    place: Place,
) -> Result<Boxroot<T>, crate::Error> {
    // SAFETY: the value is live and a `T` (caller).
    let value = unsafe { Value::from_raw(raw) };
    looks.check(value).map_err(|error| error.of_argument(place))?;
    Boxroot::try_new(lock, value)
}

/// For [`export!`](crate::export!): an argument for the body, copied to Rust. An error says in which argument it is.
///
/// # Safety
///
/// `raw` is a live value and a `T`.
#[inline]
#[track_caller]
pub unsafe fn converted<T: ?Sized, R: FromOCaml<T>>(
    lock: &DomainLock,
    raw: sys::Value,
    place: Place,
) -> Result<R, crate::Error> {
    // SAFETY: the value is live and a `T` (caller).
    R::from_ocaml(unsafe { Value::from_raw(raw) }, lock).map_err(|error| error.of_argument(place))
}

/// For [`export!`](crate::export!): the result of the body of the function with this name, copied to OCaml.
#[inline]
#[track_caller]
pub fn result<T: ?Sized, R: ToOCaml<T>>(
    lock: &mut DomainLock,
    result: &R,
    function: &str,
) -> Result<Boxroot<T>, crate::Error> {
    result.to_ocaml(lock).map_err(|error| error.of_result(function))
}

/// For [`export!`](crate::export!): the next element of an array.
///
/// # Safety
///
/// There is one.
pub unsafe fn next(array: &mut *const sys::Value) -> sys::Value {
    // SAFETY: the array has this element (caller), so that the pointer behind it is valid, too.
    unsafe {
        let element = **array;
        *array = array.add(1);
        element
    }
}

/// For [`export!`](crate::export!): raises the result if it is an encoded exception, else returns it.
///
/// # Safety
///
/// In a function that OCaml called, in whose frame nothing is left to drop; `result` is what
/// [`enter`] returned.
#[inline(always)]
pub unsafe fn finish(result: sys::Value) -> sys::Value {
    // SAFETY: OCaml called, no frame that the exception jumps over has anything to drop, and `result` is what `enter`
    // returned (caller).
    unsafe { ffi::ocaml_boxroot_finish(result) }
}
