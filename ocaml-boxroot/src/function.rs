use crate::{ffi, Boxroot, DomainLock, Error, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::{c_int, CStr, CString};
use std::fmt;
use std::marker::PhantomData;

/// The type of an OCaml function from `Args` (a tuple) to `R`, as in
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`.
pub struct Function<Args, R: ?Sized>(PhantomData<(Args, *const R)>);

// SAFETY: a name for a type; a closure may be called from any domain and any thread.
unsafe impl<Args, R: ?Sized> Send for Function<Args, R> {}
// SAFETY: as above.
unsafe impl<Args, R: ?Sized> Sync for Function<Args, R> {}

/// An exception that OCaml raised, as its text: the exception's name and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception(String);

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OCaml exception: {}", self.0)
    }
}

impl std::error::Error for Exception {}

impl DomainLock {
    /// Roots the value that OCaml code registered with `Callback.register name`. `None` if there
    /// is none.
    ///
    /// # Safety
    ///
    /// The value is a `T`. For a [`Function`]: it accepts arguments of these types and returns a
    /// result of that type.
    ///
    /// # Panics
    ///
    /// If memory runs out.
    pub unsafe fn named<T: ?Sized>(&self, name: &str) -> Option<Boxroot<T>> {
        let name = CString::new(name).ok()?;
        // SAFETY: the token proves that the lock is held; the cell, if any, is a live root.
        let value = unsafe { ffi::caml_named_value(name.as_ptr()).as_ref() }?;
        // SAFETY: a live value, of this type (caller).
        Some(Boxroot::new(self, unsafe { Value::from_raw(*value) }))
    }

    /// Calls a closure with rooted arguments.
    ///
    /// # Safety
    ///
    /// The closure accepts the arguments and returns an `R`.
    unsafe fn call<'l, R: ?Sized, const N: usize>(
        &'l mut self,
        closure: sys::Value,
        mut arguments: [sys::Value; N],
    ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
        // SAFETY: the token proves that the lock is held, and is borrowed mutably, so no
        // unrooted value is used after the call; the function returns exceptions as results.
        let result = unsafe { ffi::obx_callback(closure, N as c_int, arguments.as_mut_ptr()) };
        if ffi::is_exception(result) && ffi::extract_exception(result) == 0 {
            return Err(Exception("Stack_overflow".to_string()));
        }
        if ffi::is_exception(result) {
            // SAFETY: a live exception; formatting does not run the collector.
            return Err(unsafe { format_exception(ffi::extract_exception(result)) });
        }
        // SAFETY: a live result of this type (caller); the token is borrowed, shared, for 'l.
        Ok((unsafe { Value::from_raw(result) }, self))
    }
}

/// # Safety
///
/// The lock is held, and `exception` is a live exception.
unsafe fn format_exception(exception: sys::Value) -> Exception {
    // SAFETY: (caller); the message is a C string that is ours to free.
    unsafe {
        let message = ffi::caml_format_exception(exception);
        if message.is_null() {
            return Exception(Error::OutOfMemory.to_string());
        }
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        ffi::caml_stat_free(message.cast());
        Exception(text)
    }
}

macro_rules! callable {
    ($($argument:ident: $type:ident),+) => {
        impl<$($type,)+ R: ?Sized> RootRef<Function<($($type,)+), R>> {
            /// Calls the function. The caller keeps the arguments rooted.
            ///
            /// # Errors
            ///
            /// The exception that the function raised, if it did.
            pub fn call<'l>(
                &self,
                lock: &'l mut DomainLock,
                $($argument: &RootRef<$type>),+
            ) -> Result<(Value<'l, R>, &'l DomainLock), Exception> {
                let closure = self.get(lock).raw();
                let arguments = [$($argument.get(lock).raw()),+];
                // SAFETY: the types agree; whoever named the function's type answers for it.
                unsafe { lock.call(closure, arguments) }
            }
        }
    };
}

callable!(a: A);
callable!(a: A, b: B);
callable!(a: A, b: B, c: C);
