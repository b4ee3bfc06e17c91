//! The functions of the OCaml runtime and of `src/c/*.c` that this crate calls.

use ocaml_boxroot_sys::Value;
use std::ffi::{c_char, c_int, c_void};

/// A result of [`obx_acquire`]: the program does not link the `threads` library.
pub const NO_THREADS: c_int = 1;

// The OCaml runtime.
extern "C" {
    /// Waits for the lock of this thread's domain, and takes it, on a thread that OCaml knows. Runs
    /// no OCaml code.
    pub fn caml_leave_blocking_section();
    /// Releases the lock, without running signal handlers, so that it cannot raise.
    pub fn caml_enter_blocking_section_no_pending();

    /// The cell of a value registered with `Callback.register`, or `NULL`. The cell is a root, and
    /// is never freed. On OCaml 4 it needs the lock.
    pub fn caml_named_value(name: *const c_char) -> *const Value;
    /// An uninitialised block of 1 to 256 words, in the minor heap. May run the collector. Does not
    /// raise.
    pub fn caml_alloc_small(size: usize, tag: c_int) -> Value;

    /// The text of an exception, for [`caml_stat_free`]; NULL if memory ran out. Needs the lock.
    pub fn caml_format_exception(exception: Value) -> *mut c_char;
    pub fn caml_stat_free(block: *mut c_void);
}

// `c/call.c`.
extern "C" {
    /// Calls a closure. The result may be an encoded exception, also because too little of the
    /// stack is left.
    pub fn obx_callback1(closure: Value, argument: Value) -> Value;
    pub fn obx_callback(closure: Value, count: c_int, arguments: *mut Value) -> Value;
    /// The constructor of OCaml's own exception with this number in `<caml/fail.h>`.
    pub fn obx_predefined_exception(number: c_int) -> Value;
    /// `Failure text` as an encoded exception; `Out_of_memory` if memory ran out. May run the
    /// collector.
    pub fn obx_failure(text: *const c_char, length: usize) -> Value;
    /// Raises the result of a body if it is an encoded exception, else returns it.
    pub fn ocaml_boxroot_finish(result: Value) -> Value;
}

// `c/handlers.c`.
extern "C" {
    /// Whether an unwinder cannot follow the callers of the OCaml code that called Rust. Needs the
    /// lock.
    pub fn obx_callers_are_hidden() -> c_int;
    /// Calls `f(argument)` from a frame at which unwinders stop. `f` must not unwind.
    pub fn obx_call_without_caller(f: unsafe extern "C" fn(*mut c_void), argument: *mut c_void);
}

// `c/signals.c`.
extern "C" {
    /// Sets `SA_ONSTACK` for the handlers of signals. Does nothing on OCaml 4. Any thread, at any
    /// time.
    pub fn obx_protect_signals();
    /// 1 if the signal's handler would run on OCaml's stacks, else 0. Any thread, at any time.
    #[cfg(feature = "debug-checks")]
    pub fn obx_signal_is_unprotected(number: c_int) -> c_int;
}

// `c/backtrace.c`.
extern "C" {
    /// Whether OCaml records backtraces. Needs the lock.
    pub fn obx_records_backtraces() -> isize;
    /// How many slots the backtrace has of an exception that a callback has just returned. They are
    /// valid until OCaml code runs. Needs the lock.
    pub fn obx_backtrace(exception: Value, slots: &mut *const usize) -> usize;
    /// The text of a backtrace, for [`free`]; NULL if memory ran out. Needs the lock.
    pub fn obx_backtrace_text(slots: *const usize, count: usize) -> *mut c_char;
}

// The C library.
extern "C" {
    pub fn free(block: *mut c_void);
    /// The name of a signal.
    #[cfg(feature = "debug-checks")]
    pub fn strsignal(number: c_int) -> *const c_char;
}

// `c/stack.c`.
extern "C" {
    /// Whether this thread has enough stack left for another level of conversions; and the part of
    /// the stack in which it has, if that is known.
    pub fn obx_has_stack(end: &mut usize, size: &mut usize) -> c_int;
    /// Whether, besides, more of the stack is left than OCaml code may take without checking for
    /// room.
    pub fn obx_has_stack_for_ocaml() -> c_int;
}

// `c/runtime.c`.
extern "C" {
    fn obx_report(text: *const u8, length: usize);
    fn obx_is_started() -> c_int;
    fn obx_generation() -> core::ffi::c_uint;
}

/// Writes to standard error, if anybody reads that. Not by Rust's `stderr`: in the child of a fork,
/// a thread that is not there may have locked it.
pub fn report(text: &str) {
    // SAFETY: the text has that many bytes.
    unsafe { obx_report(text.as_ptr(), text.len()) }
}

/// How many forks led from the program's start to a process. In the child of a fork, a
/// mutex may stay locked by a thread that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Generation(core::ffi::c_uint);

impl Generation {
    /// That of this process. Any thread, at any time.
    pub fn now() -> Generation {
        // SAFETY: no precondition.
        Generation(unsafe { obx_generation() })
    }

    /// Whether this process is a child of the process that had it.
    pub fn is_over(self) -> bool {
        self != Generation::now()
    }
}

/// Whether OCaml was started in this process. Any thread, at any time.
pub fn is_started() -> bool {
    // SAFETY: no precondition.
    unsafe { obx_is_started() != 0 }
}

// `c/thread_name.c`.
extern "C" {
    /// The number that the system gives this thread, and its name, which ends with a NUL. Any
    /// thread, at any time.
    #[cfg(feature = "debug-checks")]
    pub fn obx_thread(name: &mut [u8; 16]) -> u64;
    /// Gives this thread a name, which Linux cuts after 15 bytes.
    pub fn obx_name_thread(name: *const c_char);
}

// `c/threads.c`.
extern "C" {
    /// Checks whether the program has the threads library.
    pub fn obx_look_for_threads();
    /// Waits for the lock, and takes it, on a thread that does not hold it; registers the thread
    /// first if need be. Returns 0 if this thread holds the lock now, [`NO_THREADS`], or another
    /// number if the thread cannot be registered.
    pub fn obx_acquire(is_known: bool) -> c_int;
    /// Releases the lock, after [`obx_acquire`].
    pub fn obx_release();
    /// Signals are not handled on this thread from now on.
    #[cfg(feature = "debug-checks")]
    pub fn obx_block_signals();
    /// Notes that OCaml knows this thread, because it started the runtime.
    pub fn obx_set_known();
}

// `c/alloc.c`. No function raises. Those that allocate may run the collector, and return 0 if
// memory ran out.
extern "C" {
    pub fn obx_alloc_string(bytes: *const c_char, length: usize) -> Value;

    pub fn obx_alloc_float(x: f64) -> Value;
    pub fn obx_alloc_int32(n: i32) -> Value;
    pub fn obx_int32(value: Value) -> i32;
    pub fn obx_alloc_int64(n: i64) -> Value;
    pub fn obx_int64(value: Value) -> i64;
    pub fn obx_alloc_nativeint(n: isize) -> Value;
    pub fn obx_nativeint(value: Value) -> isize;

    /// The tag and the size of a value that is not an immediate.
    #[cfg(any(ocaml4, doc))]
    pub fn obx_kind(value: Value, size: &mut usize) -> c_int;
    /// A block whose fields are copied from roots.
    pub fn obx_alloc_block(tag: c_int, size: usize, fields: *const *const Value) -> Value;
    /// A list whose rest is in a root. Never 0.
    pub fn obx_alloc_cons(first: Value, rest: *const Value) -> Value;
    /// An array of units.
    pub fn obx_alloc_array(length: usize) -> Value;
    pub fn obx_store(block: Value, i: usize, value: Value);
    /// The collector will run sooner. Does not run it.
    pub fn obx_count_memory(bytes: usize);

    pub static obx_float_arrays_are_flat: c_int;
    /// An array or a record of so many floats, in the flat form. The numbers are any.
    pub fn obx_alloc_flat_array(length: usize) -> Value;
}

/// How many bytes of a text a function of [`Operations`](crate::types::boxed::Operations) may
/// write, if it fails.
pub const ERROR_SIZE: usize = 256;

// `c/box.c`.
extern "C" {
    /// A custom block that owns `held`, which takes `size` bytes, and begins with what C reads
    /// (`struct obx_held`). The block's finaliser drops it. The type is from `obx_unmarshal_boxes`,
    /// or NULL. May run the collector. 0 if out of memory; then the caller keeps `held`.
    pub fn obx_alloc_box(held: *mut c_void, size: usize, r#type: *const c_void) -> Value;
    /// Whether a value is a block from `obx_alloc_box`.
    pub fn obx_is_box(value: Value) -> c_int;
    /// Whether this thread drops such a block's value, in its finaliser. Any thread.
    pub fn obx_in_finaliser() -> c_int;
    /// Lets OCaml unmarshal boxes of a type with these operations and this name, by this function.
    /// The result is never freed. NULL if out of memory. Needs the lock.
    pub fn obx_unmarshal_boxes(
        operations: *const c_void,
        name: *const u8,
        length: usize,
        read: unsafe extern "C" fn(*const u8, usize, *mut c_char) -> *mut c_void,
    ) -> *const c_void;
}

// `c/weak.c`.
extern "C" {
    /// A weak pointer to the value of a root, or 0 if out of memory. May run the collector. Does
    /// not raise.
    pub fn obx_alloc_weak(root: *const Value) -> Value;
    /// Whether the value of a weak pointer is alive, and the value. Does not run the collector.
    pub fn obx_get_weak(weak: Value, value: &mut Value) -> c_int;
}

// `c/form.c`.
extern "C" {
    /// How many arguments the code of a closure takes at once; negative for a tuple; 0 in bytecode.
    pub fn obx_arity(closure: Value) -> isize;
    /// The name of the operations of a custom block.
    pub fn obx_custom_name(block: Value) -> *const c_char;
}

// `c/closure.c`.
extern "C" {
    /// A closure of `count` arguments that calls the Rust function in the box in the cell `body`,
    /// by `call`; 0 if this program cannot have closures.
    pub fn obx_alloc_closure(
        body: *const Value,
        call: unsafe extern "C" fn(Value, *const Value, usize) -> Value,
        count: usize,
    ) -> Value;
}

// `c/bigarray.c`.
extern "C" {
    pub fn obx_ba_kind(array: Value) -> c_int;
    pub fn obx_ba_layout(array: Value) -> c_int;
    pub fn obx_ba_data(array: Value) -> *mut c_void;
    pub fn obx_ba_dimensions(array: Value) -> usize;
    pub fn obx_ba_dimension(array: Value, i: usize) -> usize;
    /// A bigarray of one dimension, of a kind and a layout, with a copy of the data, `size` bytes;
    /// 0 if out of memory.
    pub fn obx_alloc_bigarray(
        flags: c_int,
        data: *const c_void,
        length: usize,
        size: usize,
    ) -> Value;
    /// A bigarray of a kind and a layout, with this data, `size` bytes, which belongs to `owner`, a
    /// `held` of `obx_alloc_box`. The finaliser of the last bigarray with the data drops it. 0 if
    /// out of memory; then the caller keeps the owner.
    pub fn obx_own_bigarray(
        flags: c_int,
        owner: *mut c_void,
        data: *mut c_void,
        size: usize,
        dimensions: usize,
        sizes: *const usize,
    ) -> Value;
    /// A bigarray with a part of the memory of that in a root, from the element with this number
    /// on; 0 if out of memory.
    pub fn obx_ba_part(
        whole: *const Value,
        offset: usize,
        dimensions: usize,
        sizes: *const usize,
    ) -> Value;
    /// Copies the elements to a bigarray of the same kind, with as many elements.
    pub fn obx_ba_copy(from: Value, to: Value);
}

// `c/runtime.c`.
extern "C" {
    /// Makes sure that OCaml's `exit` does not free the heap. Needs the lock.
    pub fn obx_keep_heap();
}

// `c/start.c`, and the rest of `c/runtime.c`.
extern "C" {
    /// 1 if the program contains the start of OCaml's native code, otherwise 0. Any thread, at any
    /// time.
    pub fn obx_can_start() -> c_int;
    /// Starts the runtime and runs the program's modules, if it can. Leaves the lock held. The
    /// result may be an encoded exception.
    pub fn obx_start(arguments: *const *const c_char) -> Value;
    /// Shuts the runtime down. Needs the lock.
    pub fn obx_shut_down();
    /// How many domains run besides the caller's. Needs the lock.
    pub fn obx_other_domains() -> usize;

    /// Takes the mutex of the state in `runtime/state.rs`, which is free in the child of a fork.
    pub fn obx_lock_state();
    /// Releases the mutex, which this thread holds.
    pub fn obx_unlock_state();
    /// Releases the mutex, which this thread holds, for a while.
    pub fn obx_wait_for_state();
}

/// Whether a result of an `_exn` function is an encoded exception; C: `Is_exception_result`.
#[inline(always)]
pub fn is_exception(result: Value) -> bool {
    result & 3 == 2
}

/// An encoded exception; C: `Make_exception_result`.
#[inline(always)]
pub fn exception_result(exception: Value) -> Value {
    exception | 2
}

/// The exception in an encoded exception; C: `Extract_exception`.
#[inline(always)]
pub fn extract_exception(result: Value) -> Value {
    result & !3
}
