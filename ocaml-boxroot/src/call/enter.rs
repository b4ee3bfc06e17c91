//! Rust functions that OCaml calls: runs a body, and passes its result, error or panic to OCaml.

use super::registered::Place;
use crate::lock::{State, Watched};
use crate::raw::{DomainLockExt, ValueExt};
use crate::types::exception::exception_inside;
use crate::{ffi, Boxroot, DomainLock, Exception, FromOCaml, RootRef, ToOCaml, Value};
use ocaml_boxroot_sys::{self as sys, token};
use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::error::Error;
use std::panic::{self, catch_unwind, AssertUnwindSafe};
use std::sync::Once;

/// Like [`DomainLockExt::enter`], but `f` tells whether its result is a valid value or an encoded
/// exception, which `fail` gets.
///
/// # Safety
///
/// As for [`DomainLockExt::enter`]. `fail` may raise the exception.
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(feature = "debug-checks", track_caller)]
pub(crate) unsafe fn run(
    f: impl FnOnce(&mut DomainLock) -> Result<sys::Value, sys::Value>,
    fail: unsafe fn(sys::Value) -> sys::Value,
) -> sys::Value {
    // SAFETY: OCaml called this function (caller), so the lock is held until it returns. The use of
    // this thread belongs to a calling frame, and keeps the runtime up; when its thread attached,
    // the heap was kept. If a calling frame has a token, the function that called OCaml borrowed
    // the token as `&mut`.
    let mut lock = match unsafe { token::reenter() } {
        // SAFETY: as above.
        Some(domain) => unsafe { DomainLock::of(domain) },
        // SAFETY: as above. No value of this frame needs a drop.
        None => unsafe {
            return match run_first(f) {
                Ok(result) => result,
                Err(exception) => fail(exception),
            };
        },
    };
    let exception = {
        let _watched = Watched::new(State::Holds);
        match catch_unwind(AssertUnwindSafe(|| f(&mut lock))) {
            Ok(Ok(result)) => return result,
            Ok(Err(exception)) => exception,
            // SAFETY: the lock is held. `f` has ended, so its values are not used any more.
            Err(payload) => unsafe { failure_of(payload) },
        }
    };
    // SAFETY: the lock is held, and no value of this frame needs a drop.
    unsafe { fail(exception) }
}

/// The result of a body that panicked, as that of [`failure`].
///
/// # Safety
///
/// As for [`failure`].
#[cold]
#[inline(never)]
unsafe fn failure_of(payload: Box<dyn Any + Send>) -> sys::Value {
    // SAFETY: as promised by the caller.
    unsafe { failure(&panic_message(payload)) }
}

/// Like [`run`], for a thread without a use, or below an effect handler.
///
/// # Safety
///
/// As for [`DomainLockExt::enter`].
#[cold]
#[cfg_attr(feature = "debug-checks", track_caller)]
unsafe fn run_first(
    f: impl FnOnce(&mut DomainLock) -> Result<sys::Value, sys::Value>,
) -> Result<sys::Value, sys::Value> {
    // SAFETY: OCaml called this function (caller), so the lock is held until it returns. If a
    // calling frame has a token, the function that called OCaml borrowed it as `&mut`. The payload
    // of a panic is also dropped in here, because its `drop` is user code, which may walk the call
    // stack.
    let result = unsafe {
        DomainLock::assume_held(|lock| {
            catch_unwind(AssertUnwindSafe(|| f(lock))).map_err(panic_message)
        })
    };
    let message = match result {
        Ok(Ok(result)) => return result,
        Ok(Err(message)) => message,
        Err(error) => Cow::Owned(error.to_string()),
    };
    // SAFETY: the lock is held, because OCaml called this function (caller). The token is gone, so
    // no unrooted value is left.
    Err(unsafe { failure(&message) })
}

/// Returns the message of a panic and drops the payload. If the drop also panics, its payload is
/// leaked.
#[cold]
pub(crate) fn panic_message(payload: Box<dyn Any + Send>) -> Cow<'static, str> {
    let message = match payload.downcast::<&str>().map_err(|payload| payload.downcast::<String>()) {
        Ok(message) => Cow::Borrowed(*message),
        Err(Ok(message)) => Cow::Owned(*message),
        Err(Err(payload)) => {
            if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(another);
            }
            Cow::Borrowed("a Rust function panicked")
        }
    };
    match PLACE.try_with(Cell::take) {
        Ok(Some(place)) => Cow::Owned(format!("{message}, at {place}")),
        _ => message,
    }
}

thread_local! {
    /// Where this thread panicked, if [`locate_panics`] was called.
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Adds the location of a panic to the text of the `Failure` that OCaml sees, as in
/// `no order, at src/main.rs:12:5`. This function sets a panic hook, which also calls the previous
/// hook. If the program sets panic hooks, call this function after that.
///
/// # Panics
///
/// If the thread is panicking.
#[doc(alias("set_hook", "catch_unwind"))]
pub fn locate_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string);
            let _ = PLACE.try_with(|cell| cell.set(place)); // fails while the thread ends
            before(info);
        }));
    });
}

/// The result of a failed body: OCaml will see the exception `Failure message`.
///
/// # Safety
///
/// This thread holds the lock, and uses no unrooted value afterwards.
unsafe fn failure(message: &str) -> sys::Value {
    // SAFETY: the lock is held, and the collector may run, because no unrooted value is used
    // afterwards (caller).
    unsafe { ffi::obx_failure(message.as_ptr().cast(), message.len()) }
}

/// For [`export!`](crate::export!): runs a body, which returns a value that is valid as long as the
/// collector does not run. Returns that value, or raises an exception.
///
/// # Safety
///
/// As for [`DomainLockExt::enter`]. The caller's frame has nothing left to drop.
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(feature = "debug-checks", track_caller)]
pub unsafe fn enter(
    body: impl FnOnce(&mut DomainLock) -> Result<sys::Value, Box<dyn Error>>,
) -> sys::Value {
    // SAFETY: OCaml called the caller, whose frame has nothing to drop, so an exception may jump
    // over it.
    unsafe { run(encoding(body), raise) }
}

/// A body whose errors become encoded exceptions.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn encoding(
    body: impl FnOnce(&mut DomainLock) -> Result<sys::Value, Box<dyn Error>>,
) -> impl FnOnce(&mut DomainLock) -> Result<sys::Value, sys::Value> {
    move |lock| match body(lock) {
        Ok(raw) => Ok(raw),
        Err(error) => Err(encoded(lock, error)),
    }
}

/// The error of a body as an encoded exception.
#[cold]
fn encoded(lock: &mut DomainLock, error: Box<dyn Error>) -> sys::Value {
    // The error is dropped while the exception is still rooted, because `drop` is user code and may
    // panic.
    let exception = exception_inside(lock, &*error);
    if let Some(value) = exception.as_ref().and_then(Exception::value) {
        drop(error);
        return ffi::exception_result(value.get(lock).raw());
    }
    let message = error.to_string();
    drop(error);
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so there is no
    // unrooted value.
    unsafe { failure(&message) }
}

/// For [`export!`](crate::export!): an argument of a body. An immediate needs no root, only a cell.
pub enum Argument<T: ?Sized> {
    /// An immediate in this cell.
    Immediate(RootRef<T>),
    /// Any other value.
    Root(Boxroot<T>),
}

impl<T: ?Sized> Argument<T> {
    /// # Safety
    ///
    /// `raw` is a live value and a `T`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[track_caller]
    pub unsafe fn new(
        lock: &DomainLock,
        raw: sys::Value,
    ) -> Result<Argument<T>, crate::ConversionError> {
        // SAFETY: the value is live and a `T` (caller).
        let value = unsafe { Value::from_raw(raw) };
        match RootRef::immediate(value) {
            Some(cell) => Ok(Argument::Immediate(cell)),
            None => Ok(Argument::Root(Boxroot::try_new(lock, value)?)),
        }
    }

    /// The argument as the body gets it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn get(&self) -> &RootRef<T> {
        match self {
            Argument::Immediate(cell) => cell,
            Argument::Root(root) => root,
        }
    }

    /// Drops the argument while the lock is held.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn end(self, lock: &DomainLock) {
        if let Argument::Root(root) = self {
            root.delete_in(lock);
        }
    }
}

/// For [`export!`](crate::export!): an argument, copied to Rust for the body. The error names the
/// argument.
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
) -> Result<R, crate::ConversionError> {
    // SAFETY: the value is live and a `T` (caller).
    unsafe { Value::<T>::from_raw(raw) }.to_rust(lock).map_err(|error| error.of_argument(place))
}

/// For [`export!`](crate::export!): copies the result of a body to OCaml. Errors name `function`.
/// The copy is valid as long as the collector does not run.
#[cfg_attr(not(debug_assertions), inline(always))]
#[track_caller]
pub fn result<T: ?Sized, R: ToOCaml<T>>(
    lock: &mut DomainLock,
    result: &R,
    function: &str,
) -> Result<sys::Value, crate::ConversionError> {
    match result.to_value(lock) {
        Ok((value, _)) => Ok(value.raw()),
        Err(error) => Err(error.of_result(function)),
    }
}

/// For [`export!`](crate::export!): the value of a root that the body returned. It is valid as long
/// as the collector does not run.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn unrooted<T: ?Sized>(lock: &DomainLock, result: Boxroot<T>) -> sys::Value {
    result.into_value(lock).raw()
}

/// For [`export!`](crate::export!): the next element of an array.
///
/// # Safety
///
/// There is one.
pub unsafe fn next(array: &mut *const sys::Value) -> sys::Value {
    // SAFETY: the array has this element (caller), so the pointer after it is also valid.
    unsafe {
        let element = **array;
        *array = array.add(1);
        element
    }
}

/// Raises an encoded exception.
///
/// # Safety
///
/// OCaml called a function whose frame, and those of the functions that it called, have nothing
/// left to drop. The lock is held.
#[cold]
unsafe fn raise(exception: sys::Value) -> sys::Value {
    // SAFETY: no frame that the exception jumps over has anything to drop (caller).
    unsafe { ffi::ocaml_boxroot_finish(exception) }
}

/// For [`run`]: returns an encoded exception.
pub(crate) fn pass(exception: sys::Value) -> sys::Value {
    exception
}
