//! The functions of the OCaml runtime and of `src/*.c` that this crate calls.

use ocaml_boxroot_sys::Value;
use std::ffi::{c_char, c_int, c_void};

/// What [`obx_acquire`] answers, else.
pub const NO_THREADS: c_int = 1;

extern "C" {
    /// Takes this thread's domain lock, on a thread that OCaml knows. Blocks. Runs no OCaml code.
    pub fn caml_leave_blocking_section();
    /// Releases it, without running signal handlers, so that it cannot raise.
    pub fn caml_enter_blocking_section_no_pending();

    /// A value registered with `Callback.register`; the cell is a root. `NULL` if unknown.
    pub fn caml_named_value(name: *const c_char) -> *const Value;

    /// The constructor of one of OCaml's own exceptions, or 0.
    pub fn obx_predefined_exception(name: *const c_char) -> Value;
    /// `Failure text` as an encoded exception; exception 0 if memory ran out.
    pub fn obx_failure(text: *const c_char, length: usize) -> Value;

    // threads.c and runtime.c
    pub fn obx_look_for_threads();
    /// 0 if this thread holds the lock now.
    pub fn obx_acquire(is_known: c_int) -> c_int;
    pub fn obx_keep_heap();

    /// Calls a closure. The result may be an encoded exception; exception 0 means that there
    /// is no stack left.
    pub fn obx_callback(closure: Value, count: c_int, arguments: *mut Value) -> Value;

    /// Raises what a body returned if it is an encoded exception, else returns it.
    pub fn ocaml_boxroot_finish(result: Value) -> Value;
}

// `values.c`. What allocates answers 0 if memory ran out, and does not raise.
extern "C" {
    pub fn obx_alloc_string(bytes: *const c_char, length: usize) -> Value;
    pub fn obx_string_length(string: Value) -> usize;

    pub fn obx_alloc_float(x: f64) -> Value;
    pub fn obx_float(value: Value) -> f64;
    pub fn obx_is_float(value: Value) -> c_int;
    pub fn obx_alloc_int32(n: i32) -> Value;
    pub fn obx_int32(value: Value) -> i32;
    pub fn obx_alloc_int64(n: i64) -> Value;
    pub fn obx_int64(value: Value) -> i64;
    pub fn obx_alloc_nativeint(n: isize) -> Value;
    pub fn obx_nativeint(value: Value) -> isize;

    pub fn obx_size(block: Value) -> usize;
    pub fn obx_tag(block: Value) -> c_int;
    /// A block whose fields are copied from roots.
    pub fn obx_alloc_block(tag: c_int, size: usize, fields: *const *const Value) -> Value;
    /// An array of units.
    pub fn obx_alloc_array(length: usize) -> Value;
    pub fn obx_store(block: Value, i: usize, value: Value);

    pub static obx_float_arrays_are_flat: c_int;
    /// A flat array, or record, of floats.
    pub fn obx_alloc_flat_floats(floats: *const f64, length: usize) -> Value;
    pub fn obx_is_flat_floats(block: Value) -> c_int;

    /// A custom block that owns `held`, which takes `size` bytes: `ocaml_boxroot_drop` drops it.
    pub fn obx_alloc_box(held: *mut c_void, size: usize) -> Value;
}

// `closure.c`.
extern "C" {
    /// A closure that calls the function in a box; 0 if there can be none.
    pub fn obx_alloc_closure(body: *const Value, count: usize) -> Value;
}

// `bigarray.c`.
extern "C" {
    pub fn obx_ba_kind(array: Value) -> c_int;
    pub fn obx_ba_data(array: Value) -> *mut c_void;
    pub fn obx_ba_dimensions(array: Value) -> usize;
    pub fn obx_ba_dimension(array: Value, i: usize) -> usize;
    /// A bigarray of one dimension with a copy of the data, `size` bytes; 0 if out of memory.
    pub fn obx_alloc_bigarray(
        kind: c_int,
        data: *const c_void,
        length: usize,
        size: usize,
    ) -> Value;
}

#[cfg(any(feature = "startup", doc))]
extern "C" {
    /// Starts the runtime and runs the program's modules. Leaves the lock held. The result may be an
    /// encoded exception.
    pub fn obx_start(arguments: *const *const c_char) -> Value;
    /// OCaml knows this thread: it started the runtime.
    pub fn obx_set_known();
    pub fn obx_shut_down();
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
