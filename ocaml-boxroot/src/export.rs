use crate::{ffi, lock, sys, Boxroot, DomainLock, Exception};
use std::error::Error;

/// Defines functions that OCaml can call.
///
/// ```
/// use ocaml_boxroot::{export, Boxroot, Error, OCamlInt, OCamlString, ToOCaml};
///
/// export! {
///     /// `external repeat : string -> int -> string = "example_repeat"`
///     unsafe fn example_repeat(lock, text: OCamlString, times: OCamlInt)
///         -> Result<OCamlString, String>
///     {
///         let times = usize::try_from(times.get(lock).to_int()).map_err(|e| e.to_string())?;
///         text.get(lock).to_text().repeat(times).to_ocaml(lock).map_err(|e| e.to_string())
///     }
/// }
/// ```
///
/// The body gets the token as `lock` (or any other name) and each argument as a
/// [`&RootRef`](crate::RootRef): rooted, so it may allocate and call OCaml at will. It ends with
/// `Ok` and a [`Boxroot`] of the result's type, or with `Err` and anything that `?` turns into a
/// `Box<dyn std::error::Error>`. An [`Exception`] is raised again, unchanged; OCaml sees any
/// other error, and a panic, as the exception `Failure`. At most five arguments; a function
/// without any takes OCaml's `()`.
///
/// # Safety
///
/// `unsafe` stands for the promise that OCaml declares `external name : … = "name"` with these
/// types, and that no other library defines the symbol. It must not be the finaliser of a
/// custom block, where nothing may be allocated.
///
/// # How the exception is raised
///
/// The body, and whatever it has to drop, is behind when the exception is raised, and no panic
/// leaves the function. The frame of the exported function itself, which has nothing to drop, is
/// jumped over; the language allows that (RFC 2945, "plain old frames").
#[macro_export]
macro_rules! export {
    ($(
        $(#[$attribute:meta])*
        unsafe fn $name:ident($lock:ident, $($argument:ident: $type:ty),+ $(,)?)
            -> Result<$result:ty, $error:ty> $body:block
    )+) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        ///
        /// Only OCaml may call it, through a declaration with these types.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($argument: $crate::sys::Value),+) -> $crate::sys::Value {
            fn body(
                $lock: &mut $crate::DomainLock,
                $($argument: &$crate::RootRef<$type>),+
            ) -> ::std::result::Result<$crate::Boxroot<$result>, $error> $body

            // SAFETY: OCaml called with live values of these types, and what `enter` returns goes
            // to `finish`, as it is.
            unsafe {
                let result = $crate::DomainLock::enter(|lock| {
                    $(let $argument = $crate::Boxroot::<$type>::new(
                        lock,
                        $crate::Value::from_raw($argument),
                    );)+
                    let result = body(lock, $(&$argument),+);
                    $crate::export_support::answer(lock, result)
                });
                $crate::export_support::finish(result)
            }
        }
    )+};
}

/// For [`export!`]: the result for OCaml; an error becomes an encoded exception.
pub fn answer<T: ?Sized, E: Into<Box<dyn Error>>>(
    lock: &DomainLock,
    result: Result<Boxroot<T>, E>,
) -> sys::Value {
    let error = match result {
        Ok(root) => {
            let raw = root.get(lock).raw();
            root.delete_in(lock);
            return raw;
        }
        Err(error) => error.into(),
    };
    let exception = error.downcast_ref::<Exception>().and_then(Exception::value);
    match exception {
        Some(exception) => ffi::exception_result(exception.get(lock).raw()),
        None => lock::failure(error.to_string()),
    }
}

/// For [`export!`]: raises what is an encoded exception.
///
/// # Safety
///
/// In a function that OCaml called, in whose frame nothing is left to drop; `result` is what
/// [`DomainLock::enter`] returned.
#[inline(always)]
pub unsafe fn finish(result: sys::Value) -> sys::Value {
    // SAFETY: as promised by the caller.
    unsafe { ffi::ocaml_boxroot_finish(result) }
}
