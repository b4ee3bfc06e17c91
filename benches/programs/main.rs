//! Starts OCaml, whose `main.ml` runs the program that the environment names.

use ocaml_boxroot_sys as _;
use std::ffi::c_char;

#[cfg(variants)]
mod rust;

extern "C" {
    fn caml_main(argv: *const *const c_char);
}

fn main() {
    let arguments = [c"bench".as_ptr(), std::ptr::null()];
    // SAFETY: the only start of the runtime in this process.
    unsafe { caml_main(arguments.as_ptr()) }
}
