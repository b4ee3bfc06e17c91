use crate::{ffi, Boxroot, DomainLock, Error, RootRef, Value};
use ocaml_boxroot_sys as sys;
use std::ffi::{c_int, CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The type of an OCaml function from `Args` (a tuple) to `R`, as in
/// `Boxroot<Function<(OCamlString,), OCamlInt>>`.
pub struct Function<Args, R: ?Sized>(PhantomData<(Args, *const R)>);

// SAFETY: a name for a type; a closure may be called from any domain and any thread, which gets at
// what the closure takes and returns.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Send for Function<Args, R> {}
// SAFETY: as above.
unsafe impl<Args: Send + Sync, R: ?Sized + Send + Sync> Sync for Function<Args, R> {}

/// The type of OCaml's `exn`.
#[derive(Debug)]
pub enum OCamlException {}

/// An exception that OCaml raised. As text: the exception's name and arguments.
///
/// An exported function that returns it as its error raises it again, unchanged; see
/// [`export!`](crate::export!).
#[derive(Clone, Debug)]
pub struct Exception {
    message: String,
    /// `None` if the runtime had no room left to make one.
    value: Option<Arc<Boxroot<OCamlException>>>,
}

impl Exception {
    /// The exception itself. `None` for a stack overflow in which OCaml had no room for one.
    pub fn value(&self) -> Option<&RootRef<OCamlException>> {
        Some(self.value.as_ref()?)
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OCaml exception: {}", self.message)
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
    /// result of that type, and on OCaml 4 does not call `Thread.exit`, which would jump over the
    /// frames of Rust.
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
        if ffi::is_exception(result) {
            // SAFETY: a live exception, or 0.
            return Err(unsafe { exception(self, ffi::extract_exception(result)) });
        }
        // SAFETY: a live result of this type (caller); the token is borrowed, shared, for 'l.
        Ok((unsafe { Value::from_raw(result) }, self))
    }
}

/// # Safety
///
/// `raw` is a live exception, or 0: there was no room on the stack.
unsafe fn exception(lock: &DomainLock, raw: sys::Value) -> Exception {
    if raw == 0 {
        return Exception { message: "Stack_overflow".to_string(), value: None };
    }
    // SAFETY: a live exception (caller), which formatting does not move; the message is a C string
    // that is ours to free.
    unsafe {
        let value = Boxroot::try_new(lock, Value::from_raw(raw)).ok().map(Arc::new);
        let text = ffi::caml_format_exception(raw);
        if text.is_null() {
            return Exception { message: Error::OutOfMemory.to_string(), value };
        }
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        ffi::caml_stat_free(text.cast());
        Exception { message, value }
    }
}

macro_rules! callable {
    ($($argument:ident: $type:ident),+) => {
        impl<$($type,)+ R: ?Sized> RootRef<Function<($($type,)+), R>> {
            #[allow(clippy::too_many_arguments)]
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
callable!(a: A, b: B, c: C, d: D);
callable!(a: A, b: B, c: C, d: D, e: E);
callable!(a: A, b: B, c: C, d: D, e: E, f: F);
callable!(a: A, b: B, c: C, d: D, e: E, f: F, g: G);
callable!(a: A, b: B, c: C, d: D, e: E, f: F, g: G, h: H);
