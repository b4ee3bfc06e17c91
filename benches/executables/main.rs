//! Starts OCaml. Its `main.ml` runs the program that the environment names.

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

/// Never called. Its size shifts all code that is linked after it (`LAYOUTS` in
/// `benches/harness/mod.rs`). The compiler sorts the functions of a crate by their symbols, and
/// this one comes first.
#[export_name = "BENCH_PADDING"]
extern "C" fn padding() {
    const SIZE: usize = match option_env!("BENCH_LAYOUT") {
        None => 0,
        Some(bytes) => match usize::from_str_radix(bytes, 10) {
            Ok(bytes) => bytes,
            Err(_) => panic!("BENCH_LAYOUT: a number of bytes is needed"),
        },
    };
    // SAFETY: `padding` is never called, so this is not executed.
    unsafe { std::arch::asm!(".skip {}", const SIZE) }
}

extern "C" {
    fn caml_main(argv: *const *const c_char);
}

fn main() {
    std::hint::black_box(padding as extern "C" fn()); // otherwise the linker drops it
    let arguments = [c"bench".as_ptr(), std::ptr::null()];
    // SAFETY: the only start of the runtime in this process.
    unsafe { caml_main(arguments.as_ptr()) }
}
