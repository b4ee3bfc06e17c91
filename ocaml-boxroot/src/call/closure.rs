//! Rust functions as OCaml closures.

use super::enter::{encoding, pass, run};
use crate::markers::OCamlBox;
use crate::raw::ValueExt;
use crate::{
    ffi, Boxroot, ConversionError, ConversionErrorKind, DomainLock, FromOCaml, Function, OCamlAny,
    RootRef, ToOCaml, Value,
};
use ocaml_boxroot_sys as sys;

/// The body of a closure. It gets roots of its arguments, which it casts to their types. Its result
/// is valid as long as the collector does not run.
type Body = dyn Fn(&mut DomainLock, &[Boxroot<OCamlAny>]) -> Answer + Send + Sync;
type Answer = Result<sys::Value, Box<dyn std::error::Error>>;

/// An OCaml closure of `count` arguments that calls `body`.
///
/// # Safety
///
/// The closure is an `F`: `body` expects the arguments that OCaml gives to an `F`, and returns the
/// result of an `F`.
#[track_caller]
unsafe fn closure<F>(
    lock: &mut DomainLock,
    count: usize,
    body: Box<Body>,
) -> Result<Boxroot<F>, ConversionError> {
    let bytes = size_of_val(&*body);
    let (value, now) = lock.alloc_box_owning(body, bytes)?;
    let body = Boxroot::try_new(now, value)?;
    let cell = body.as_any() as *const RootRef<OCamlAny>;
    // SAFETY: the token proves that the lock is held, and is borrowed mutably, so the collector may
    // run. The cell is that of `body`, a live root.
    let raw = unsafe { ffi::obx_alloc_closure(cell.cast(), call_boxed, count) };
    if raw == 0 {
        return Err(ConversionError::new(ConversionErrorKind::NoClosures));
    }
    // SAFETY: `raw` is a new closure, and an `F` (caller).
    Boxroot::try_new(lock, unsafe { Value::from_raw(raw) })
}

/// For `c/closure.c`: calls the function in the box `body`.
///
/// # Safety
///
/// OCaml called the closure, and the caller passes the result to `ocaml_boxroot_finish`. The box
/// and the arguments are live values, and are those of a closure from [`closure`].
unsafe extern "C" fn call_boxed(
    body: sys::Value,
    arguments: *const sys::Value,
    count: usize,
) -> sys::Value {
    let call = |lock: &mut DomainLock| -> Answer {
        // SAFETY: the box and the arguments are live, and of these types (caller). The collector
        // does not run before they are rooted.
        let (body, arguments) = unsafe {
            let body: Boxroot<OCamlBox<Box<Body>>> = Boxroot::try_new(lock, Value::from_raw(body))?;
            let raw = std::slice::from_raw_parts(arguments, count);
            let mut arguments = Vec::with_capacity(count);
            for &raw in raw {
                arguments.push(Boxroot::try_new(lock, Value::from_raw(raw))?);
            }
            (body, arguments)
        };
        // SAFETY: the box owns the function, and the root `body` keeps the box alive until the
        // function returns.
        let function: &Body = unsafe { &*(&**body.get(lock).get() as *const Body) };
        function(lock, &arguments)
    };
    // SAFETY: OCaml called this function, and the result goes to `ocaml_boxroot_finish` (caller).
    unsafe { run(encoding(call), pass) }
}

macro_rules! from_rust {
    ($count:literal: $($argument:ident $type:ident $rust:ident $index:tt),*) => {
        impl<$($type: 'static,)* R: 'static> Function<from_rust!(@tuple $($type)*), R> {
            /// A Rust function as an OCaml function; see [`Function`].
            ///
            /// # Errors
            ///
            /// [`NoClosures`](crate::ConversionErrorKind::NoClosures) in bytecode programs, on
            /// processors other than x86-64 and arm64, and on systems whose object files are not
            /// ELF; [`OutOfMemory`](crate::ConversionErrorKind::OutOfMemory).
            #[doc(alias = "closure")]
            #[track_caller]
            pub fn from_rust<F, X>(lock: &mut DomainLock, f: F) -> Result<Boxroot<Self>, ConversionError>
            where
                F: Fn(&mut DomainLock $(, &RootRef<$type>)*) -> Result<X, Box<dyn std::error::Error>>,
                F: Send + Sync + 'static,
                X: ToOCaml<R>,
            {
                let body = move |lock: &mut DomainLock, arguments: &[Boxroot<OCamlAny>]| -> Answer {
                    let _ = arguments; // a function of () has none
                    // SAFETY: OCaml gives arguments of these types, because the closure has this
                    // function's type.
                    $(let $argument: &RootRef<$type> = unsafe { arguments[$index].cast() };)*
                    let result = f(lock $(, $argument)*)?;
                    let (value, _) = ToOCaml::<R>::to_value(&result, lock)?;
                    Ok(value.raw())
                };
                // SAFETY: `body` has the argument and result types of `Self`.
                unsafe { closure(lock, $count, Box::new(body)) }
            }

            /// A Rust function of Rust values as an OCaml function; see [`Function`]. If an
            /// argument cannot be converted, OCaml sees the exception `Failure`.
            ///
            /// # Errors
            ///
            /// As [`from_rust`](Function#rust-functions).
            #[track_caller]
            pub fn from_rust_converting<F, X $(, $rust)*>(
                lock: &mut DomainLock,
                f: F,
            ) -> Result<Boxroot<Self>, ConversionError>
            where
                F: Fn(&mut DomainLock $(, $rust)*) -> Result<X, Box<dyn std::error::Error>>,
                F: Send + Sync + 'static,
                X: ToOCaml<R>,
                $($rust: FromOCaml<$type>,)*
            {
                Self::from_rust(lock, move |lock: &mut DomainLock $(, $argument: &RootRef<$type>)*| {
                    $(let $argument = $argument.to_rust(lock)?;)*
                    f(lock $(, $argument)*)
                })
            }
        }
    };
    (@tuple) => { () };
    (@tuple $($type:ident)+) => { ($($type,)+) };
}

from_rust!(1: );
from_rust!(1: a A P 0);
from_rust!(2: a A P 0, b B Q 1);
from_rust!(3: a A P 0, b B Q 1, c C S 2);
from_rust!(4: a A P 0, b B Q 1, c C S 2, d D T 3);
from_rust!(5: a A P 0, b B Q 1, c C S 2, d D T 3, e E1 U 4);
from_rust!(6: a A P 0, b B Q 1, c C S 2, d D T 3, e E1 U 4, g F1 V 5);
from_rust!(7: a A P 0, b B Q 1, c C S 2, d D T 3, e E1 U 4, g F1 V 5, h G W 6);
from_rust!(8: a A P 0, b B Q 1, c C S 2, d D T 3, e E1 U 4, g F1 V 5, h G W 6, i H Y 7);
