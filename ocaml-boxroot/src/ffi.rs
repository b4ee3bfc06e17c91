//! The functions of the OCaml runtime and of `shim.c` that this crate calls.

use ocaml_boxroot_sys::Value;
use std::ffi::{c_char, c_int, c_void};

extern "C" {
    /// Takes this thread's domain lock. Blocks. Runs no OCaml code.
    pub fn caml_leave_blocking_section();
    /// Releases it, without running signal handlers, so that it cannot raise.
    pub fn caml_enter_blocking_section_no_pending();

    /// A value registered with `Callback.register`; the cell is a root. `NULL` if unknown.
    pub fn caml_named_value(name: *const c_char) -> *const Value;
    /// A message in memory of `caml_stat_alloc`.
    pub fn caml_format_exception(exception: Value) -> *mut c_char;
    pub fn caml_stat_free(block: *mut c_void);

    /// Calls a closure. The result may be an encoded exception; exception 0 means that there
    /// is no stack left.
    pub fn obx_callback(closure: Value, count: c_int, arguments: *mut Value) -> Value;
    pub fn obx_has_threads() -> c_int;
    pub fn obx_register_thread() -> c_int;
    pub fn obx_unregister_thread();
    pub fn obx_alloc_string(bytes: *const c_char, length: usize) -> Value;
    pub fn obx_string_length(string: Value) -> usize;

    /// A block of 1 to 256 fields, copied from roots.
    pub fn obx_alloc_block(tag: c_int, size: usize, fields: *const *const Value) -> Value;
    /// An array of units; 0 if out of memory.
    pub fn obx_alloc_array(length: usize) -> Value;
    pub fn obx_store(block: Value, i: usize, value: Value);
    pub fn obx_alloc_float(x: f64) -> Value;
    pub fn obx_float(value: Value) -> f64;
    pub fn obx_is_float(value: Value) -> c_int;
    pub static obx_float_arrays_are_flat: c_int;
    /// A flat array of floats; 0 if out of memory.
    pub fn obx_alloc_flat_floats(floats: *const f64, length: usize) -> Value;
    pub fn obx_size(block: Value) -> usize;
    pub fn obx_is_flat_floats(array: Value) -> c_int;

    /// Raises what a body returned if it is an encoded exception, else returns it.
    pub fn ocaml_boxroot_finish(result: Value) -> Value;
}

#[cfg(feature = "startup")]
extern "C" {
    /// Starts the runtime and runs the program's modules. Leaves the lock held.
    pub fn caml_startup_exn(argv: *const *const c_char) -> Value;
    pub fn caml_shutdown();
    pub fn obx_is_started() -> c_int;
    pub fn obx_other_domains() -> usize;
}

/// Whether a result of an `_exn` function is an encoded exception; C: `Is_exception_result`.
pub fn is_exception(result: Value) -> bool {
    result & 3 == 2
}

/// An encoded exception; C: `Make_exception_result`.
pub fn exception_result(exception: Value) -> Value {
    exception | 2
}

/// The exception in it; C: `Extract_exception`.
pub fn extract_exception(result: Value) -> Value {
    result & !3
}
