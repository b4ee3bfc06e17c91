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
    /// Releases the lock without running signal handlers, so it cannot raise.
    pub fn caml_enter_blocking_section_no_pending();

    /// The cell of a value registered with `Callback.register`, or `NULL`. The cell is a root, and
    /// is never freed. On OCaml 4, needs the lock.
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
    /// Calls a closure. The result may be an encoded exception, for instance if too little stack is
    /// left.
    pub fn obx_callback1(closure: Value, argument: Value) -> Value;
    pub fn obx_callback(closure: Value, count: c_int, arguments: *mut Value) -> Value;
    /// The constructor of the predefined exception with this number in `<caml/fail.h>`.
    pub fn obx_predefined_exception(number: c_int) -> Value;
    /// `Failure text` as an encoded exception; `Out_of_memory` if memory ran out. May run the
    /// collector.
    pub fn obx_failure(text: *const c_char, length: usize) -> Value;
    /// Raises the result of a body if it is an encoded exception, otherwise returns it.
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
    /// Sets `SA_ONSTACK` for signal handlers. Does nothing on OCaml 4. Any thread, at any time.
    pub fn obx_protect_signals();
    /// 1 if the signal's handler would run on OCaml's stacks, otherwise 0. Any thread, at any time.
    #[cfg(feature = "debug-checks")]
    pub fn obx_signal_is_unprotected(number: c_int) -> c_int;
}

// `c/backtrace.c`.
extern "C" {
    /// Whether OCaml records backtraces. Needs the lock.
    pub fn obx_records_backtraces() -> isize;
    /// The number of slots in the backtrace of an exception that a callback has just returned. The
    /// slots are valid until OCaml code runs. Needs the lock.
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
    /// Whether this thread has enough stack left for another level of conversions. Also returns the
    /// range of stack addresses at which this holds, if known.
    pub fn obx_has_stack(end: &mut usize, size: &mut usize) -> c_int;
    /// Whether the thread also has more stack left than OCaml code may use without checking.
    pub fn obx_has_stack_for_ocaml() -> c_int;
}

// `c/runtime.c`.
extern "C" {
    fn obx_report(text: *const u8, length: usize);
    fn obx_is_started() -> c_int;
    fn obx_generation() -> core::ffi::c_uint;
}

/// Writes to standard error, and ignores errors. Does not use Rust's `stderr`, which a thread of
/// the parent may have locked before a fork.
pub fn report(text: &str) {
    // SAFETY: the text has that many bytes.
    unsafe { obx_report(text.as_ptr(), text.len()) }
}

/// Counts the forks between the first process of the program and a process. In the child of a fork,
/// mutexes that other threads of the parent had locked stay locked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Generation(core::ffi::c_uint);

impl Generation {
    /// The generation of this process. Any thread, at any time.
    pub fn now() -> Generation {
        // SAFETY: no precondition.
        Generation(unsafe { obx_generation() })
    }

    /// Whether this process was forked from the process of this generation.
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
    /// Waits for the lock, and takes it, on a thread that does not hold it. Registers the thread
    /// first if necessary. Returns 0 if this thread holds the lock now, [`NO_THREADS`] if the
    /// program has no threads library, or another number if the thread cannot be registered.
    pub fn obx_acquire(is_known: bool) -> c_int;
    /// Releases the lock, after [`obx_acquire`].
    pub fn obx_release();
    /// Blocks all signals on this thread.
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
    /// Makes the collector run sooner. Does not run it.
    pub fn obx_count_memory(bytes: usize);

    pub static obx_float_arrays_are_flat: c_int;
    /// An array or a record of `length` uninitialised floats, in the flat form.
    pub fn obx_alloc_flat_array(length: usize) -> Value;
}

/// The size of the text that a failing function of [`Operations`](crate::types::boxed::Operations)
/// may write, in bytes.
pub const ERROR_SIZE: usize = 256;

// `c/box.c`.
extern "C" {
    /// A custom block that owns `held`, which takes `size` bytes and begins with a
    /// `struct obx_held` for C. The block's finaliser drops `held`. The type is from
    /// `obx_unmarshal_boxes`, or NULL. May run the collector. 0 if out of memory; then the caller
    /// keeps `held`.
    pub fn obx_alloc_box(held: *mut c_void, size: usize, r#type: *const c_void) -> Value;
    /// Whether a value is a block from `obx_alloc_box`.
    pub fn obx_is_box(value: Value) -> c_int;
    /// Whether this thread is in the finaliser of such a block and is dropping its value. Any
    /// thread.
    pub fn obx_in_finaliser() -> c_int;
    /// Lets OCaml unmarshal boxes of a type with these operations and this name through `read`. The
    /// result is never freed. NULL if out of memory. Needs the lock.
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
    /// Whether the value of a weak pointer is alive. Also returns the value. Does not run the
    /// collector.
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
    /// A closure of `count` arguments. The cell `body` holds a box with a Rust function, which the
    /// closure calls through `call`. 0 if this program cannot have closures.
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
    /// A bigarray of one dimension, of a kind and a layout, with a copy of `size` bytes of data; 0
    /// if out of memory.
    pub fn obx_alloc_bigarray(
        flags: c_int,
        data: *const c_void,
        length: usize,
        size: usize,
    ) -> Value;
    /// A bigarray of a kind and a layout, with `size` bytes of data that belong to `owner`, which
    /// is like `held` of `obx_alloc_box`. The finaliser of the last bigarray with the data drops
    /// the owner. 0 if out of memory; then the caller keeps the owner.
    pub fn obx_own_bigarray(
        flags: c_int,
        owner: *mut c_void,
        data: *mut c_void,
        size: usize,
        dimensions: usize,
        sizes: *const usize,
    ) -> Value;
    /// A bigarray that shares a part of the memory of the bigarray in a root, from element `offset`
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
    /// 1 if [`obx_start`] can start the OCaml program, otherwise 0. Any thread, at any time.
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
    /// Releases the mutex, which this thread holds, for a moment.
    pub fn obx_wait_for_state();
}

/// Whether a result of an `_exn` function is an encoded exception; C: `Is_exception_result`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn is_exception(result: Value) -> bool {
    result & 3 == 2
}

/// An encoded exception; C: `Make_exception_result`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn exception_result(exception: Value) -> Value {
    exception | 2
}

/// The exception in an encoded exception; C: `Extract_exception`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn extract_exception(result: Value) -> Value {
    result & !3
}
