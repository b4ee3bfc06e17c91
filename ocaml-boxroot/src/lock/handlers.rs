//! Rust code that runs below effect handlers of OCaml 5; see `../c/handlers.c`.

use crate::ffi;
use std::ffi::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Calls `f`. If unwinders cannot follow the callers of `f`, hides the callers from them.
///
/// # Safety
///
/// This thread holds the lock, perhaps inside a collection.
#[inline]
pub(crate) unsafe fn below_handlers<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the lock is held (caller).
    if unsafe { ffi::obx_callers_are_hidden() } == 0 {
        return f();
    }
    let (mut f, mut result) = (Some(f), None);
    call_without_caller(&mut || {
        result = f.take().map(|f| catch_unwind(AssertUnwindSafe(f)));
    });
    match result.expect("the function was called") {
        Ok(result) => result,
        Err(payload) => resume_unwind(payload),
    }
}

/// Calls `f`, which does not unwind.
#[cold]
fn call_without_caller(mut f: &mut dyn FnMut()) {
    unsafe extern "C" fn call(f: *mut c_void) {
        // SAFETY: `f` is from the call below, which does not use it until this returns.
        unsafe { (*f.cast::<&mut dyn FnMut()>())() }
    }
    // SAFETY: the C function calls `call` with this pointer, once.
    unsafe { ffi::obx_call_without_caller(call, (&raw mut f).cast()) }
}
