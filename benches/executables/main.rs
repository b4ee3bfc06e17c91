//! Starts OCaml, whose `main.ml` runs the program that the environment names.

use ocaml_boxroot_sys::Value;
use std::ffi::c_char;

mod raw;
#[cfg(variants)]
mod rust;

/// `struct implementation` of `benches/runtime/implementation.h`, for roots of type `R`.
#[repr(C)]
struct Implementation<R> {
    name: *const c_char,
    prepare: extern "C" fn(),
    pairs: extern "C" fn(isize),
    create: unsafe extern "C" fn(*mut R, *const Value, isize),
    get: unsafe extern "C" fn(*const R, isize) -> Value,
    modify: unsafe extern "C" fn(*mut R, Value, isize),
    delete: unsafe extern "C" fn(*const R, isize),
}

// SAFETY: a constant; the name is static.
unsafe impl<R> Sync for Implementation<R> {}

extern "C" {
    fn caml_main(argv: *const *const c_char);
}

fn main() {
    let arguments = [c"bench".as_ptr(), std::ptr::null()];
    // SAFETY: the only start of the runtime in this process.
    unsafe { caml_main(arguments.as_ptr()) }
}
