//! The C interface, the runtime's, and the OCaml side of the tests (`tests/support/testlib.ml`).

use ocaml_boxroot_sys as sys;
use ocaml_sys::{caml_callbackN_exn, caml_named_value, caml_string_length};
pub use ocaml_sys::{caml_enter_blocking_section, caml_leave_blocking_section, caml_shutdown};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use sys::{BoxRoot, Value};

extern "C" {
    fn caml_startup_exn(argv: *const *const c_char) -> Value;
    fn caml_iterate_named_values(f: extern "C" fn(Value, *const c_char));
    pub fn caml_finish_major_cycle(force_compaction: c_int);
    pub fn test_finish_marking();
    pub fn caml_c_thread_register() -> c_int;
    pub fn caml_c_thread_unregister() -> c_int;
    pub fn on_event(listener: BoxRoot);
    pub fn test_domain() -> usize;
    pub fn test_register_in_domain(domain: usize) -> c_int;
    pub fn test_custom_owner(root: Option<BoxRoot>) -> Value;
    pub fn test_pair(first: Value) -> Value;
    pub fn test_finalised() -> usize;
    pub fn test_creates_refused() -> usize;
    pub fn test_inline_round_trip(n: usize) -> usize;
    pub fn test_delete_null();
    pub fn test_install_other(second: c_int);
    pub fn test_other_scans(second: c_int) -> usize;
    pub fn test_hooks(which: c_int, body: Option<extern "C" fn()>);
    pub fn test_work_of_a_waiting_domain();
    pub fn test_other_body(body: Option<extern "C" fn()>);
    pub fn boxroot_domain_self() -> *mut c_void;
    pub fn boxroot_create_many(
        domain: *mut c_void,
        roots: *mut Option<BoxRoot>,
        values: *const Value,
        n: usize,
    ) -> bool;
    pub fn boxroot_delete_many(domain: *mut c_void, roots: *const Option<BoxRoot>, n: usize);
    pub fn bxr_os_fail(k: usize, for_good: bool) -> usize;
    pub fn bxr_runtime_marking_done() -> bool;
    pub fn bxr_orphans_exist() -> bool;
    pub fn test_directories() -> usize;
    pub fn test_begin_cycle();
    pub fn test_take_major_hook(take: bool);
    pub fn test_page_is_in_heap(page: *mut c_void, is_in_heap: bool);
    pub fn test_set_event_status(status: c_int);
    pub fn test_rename_events(rename: bool);
    pub fn test_count_destroyed_events();
    pub fn test_destroyed_events() -> usize;
    pub fn test_fast_paths_are_open() -> bool;
    pub fn test_begin_delete(root: BoxRoot, late: bool) -> bool;
    pub fn test_drain_lists() -> usize;
    pub fn test_promote();
    pub fn test_in_the_midst_of_a_promotion(meanwhile: extern "C" fn());
    #[cfg(cplusplus)]
    pub fn test_cpp_pointer() -> c_int;
    #[cfg(cplusplus)]
    pub fn test_cpp_unwinding() -> c_int;
}

pub const UNIT: Value = 1;

pub const OCAML5: bool = cfg!(ocaml5);

pub fn int(n: usize) -> Value {
    ((n as Value) << 1) | 1
}

pub fn to_int(v: Value) -> usize {
    (v >> 1) as usize
}

/// Starts the runtime, and boxroot on it.
pub fn start() {
    start_runtime();
    assert!(unsafe { sys::boxroot_setup() });
}

/// Starts the runtime, and leaves the lock with this thread.
pub fn start_runtime() {
    let arguments = [c"test".as_ptr(), std::ptr::null()];
    let result = unsafe { caml_startup_exn(arguments.as_ptr()) };
    assert_ne!(result & 3, 2, "the OCaml side could not start");
    LazyLock::force(&FUNCTIONS);
}

/// The functions that testlib.ml registers. They are looked up early: later, `caml_named_value`
/// might wait for other domains and release the lock meanwhile, and the caller's values might move.
static FUNCTIONS: LazyLock<HashMap<&CStr, &Value>> = LazyLock::new(|| {
    static NAMES: Mutex<Vec<&CStr>> = Mutex::new(Vec::new());
    extern "C" fn add(_: Value, name: *const c_char) {
        NAMES.lock().unwrap().push(unsafe { CStr::from_ptr(name) });
    }
    unsafe { caml_iterate_named_values(add) };
    let address = |name: &CStr| unsafe { &*caml_named_value(name.as_ptr()) };
    NAMES.lock().unwrap().drain(..).map(|name| (name, address(name))).collect()
});

/// Calls a function of testlib.ml. The caller holds the lock, as for most functions here.
pub fn ocaml(name: &str, arguments: &[Value]) -> Value {
    let mut arguments = arguments.to_vec();
    let c_name = CString::new(name).unwrap();
    let f = FUNCTIONS.get(&*c_name).unwrap_or_else(|| panic!("testlib.ml registers no {name}"));
    let result = unsafe { caml_callbackN_exn(**f, arguments.len(), arguments.as_mut_ptr()) };
    assert_ne!(result & 3, 2, "{name} raised an exception");
    result
}

/// A function that OCaml calls; see `call_rust`.
pub type Body = extern "C" fn(Value) -> Value;

/// Makes OCaml call `body(argument)`. `how` is a function of testlib.ml such as "spawn".
pub fn call_rust(how: &str, body: Body, argument: usize) {
    ocaml(how, &[int(body as usize), int(argument)]);
}

pub fn without_lock<R>(f: impl FnOnce() -> R) -> R {
    unsafe { caml_enter_blocking_section() };
    let result = f();
    unsafe { caml_leave_blocking_section() };
    result
}

/// Runs `f` on a new thread that OCaml does not know, while this thread has released the lock.
pub fn on_foreign_thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    without_lock(|| std::thread::spawn(f).join().unwrap())
}

pub fn full_major() {
    ocaml("full_major", &[UNIT]);
}

/// Waits until a count is `least` or more.
pub fn wait_for(count: &AtomicUsize, least: usize) {
    while count.load(Ordering::SeqCst) < least {
        std::thread::yield_now();
    }
}

/// Finishes the marking of this cycle, so that slots of roots that are deleted now become free at
/// once.
pub fn finish_marking() {
    unsafe { test_finish_marking() }
}

pub fn minor() {
    ocaml("minor", &[UNIT]);
}

/// Runs collections of every kind, and allocates much, so that memory of values that are not kept
/// alive is overwritten.
pub fn stress() {
    ocaml("churn", &[int(50_000)]);
    full_major();
    ocaml("churn", &[int(50_000)]);
    ocaml("compact", &[UNIT]);
    ocaml("churn", &[int(50_000)]);
    full_major();
    validate();
}

pub fn validate() {
    let broken = sys::boxroot_validate();
    if !broken.is_null() {
        panic!("invariant broken: {}", unsafe { CStr::from_ptr(broken) }.to_string_lossy());
    }
}

pub fn string(v: Value) -> String {
    assert_eq!(v & 1, 0, "a string is a block");
    let bytes = unsafe { std::slice::from_raw_parts(v as *const u8, caml_string_length(v)) };
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn errno() -> c_int {
    unsafe { *libc::__errno_location() }
}

pub fn error_string() -> String {
    sys::error_message().to_string_lossy().into_owned()
}
