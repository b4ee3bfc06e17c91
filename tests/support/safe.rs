//! Functions for tests of the safe crate: they start and call OCaml, root strings, and give the
//! collector work.

use super::exported::{Run, RUN};
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::markers::OCamlBox;
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    Boxroot, DomainLock, Exception, Function, OCamlInt, OCamlString, Runtime, ToOCaml, Value,
};
use ocaml_boxroot_sys as sys;

/// Starts OCaml, and runs `f` under its lock.
pub fn with_ocaml<R>(f: impl FnOnce(&mut DomainLock) -> R) -> R {
    Runtime::start().unwrap();
    DomainLock::with(f).unwrap()
}

/// Waits for the lock, because the count is exact only under it.
pub fn assert_no_roots() {
    assert_eq!(DomainLock::with(|_| stats().live_roots), Ok(0));
}

/// Allocates three times the size of the minor heap, so that it is collected and overwritten.
pub fn churn(lock: &mut DomainLock) {
    for _ in 0..7000 {
        lock.alloc_string([b'g'; 1000]).unwrap();
    }
}

/// Collects all garbage.
pub fn full_major(lock: &mut DomainLock) {
    let unit = ().to_ocaml(lock).unwrap();
    function::<((),), ()>(lock, "full_major").call(lock, &unit).unwrap();
}

/// A function of testlib.ml.
pub fn function<Args, R>(lock: &mut DomainLock, name: &str) -> Boxroot<Function<Args, R>> {
    // SAFETY: each caller uses the types that the function has in testlib.ml.
    unsafe { lock.named(name) }.unwrap()
}

/// Calls `body` from OCaml, through a closure of testlib.ml.
pub fn call_back(
    lock: &mut DomainLock,
    body: extern "C" fn(sys::Value) -> sys::Value,
) -> Result<(), String> {
    let call: Boxroot<Function<(OCamlInt, OCamlInt), ()>> = function(lock, "call");
    let address = Boxroot::new(lock, Value::int(body as *const () as isize));
    let argument = Boxroot::new(lock, Value::int(5));
    call.call(lock, &address, &argument).map(|_| ()).map_err(|e| e.to_string())
}

/// A function of testlib.ml that takes its functions from Rust.
pub fn through_ocaml(lock: &mut DomainLock, name: &str, n: isize) -> Result<isize, String> {
    let f: Boxroot<Function<(OCamlInt,), OCamlInt>> = function(lock, name);
    let n = Boxroot::new(lock, Value::int(n));
    f.call(lock, &n).map(|(result, _)| result.to_int()).map_err(|e| e.to_string())
}

pub type Strings = Vec<Boxroot<OCamlString>>;

pub fn start() -> Runtime {
    Runtime::start().unwrap()
}

pub fn string(lock: &mut DomainLock, text: &str) -> Boxroot<OCamlString> {
    text.to_ocaml(lock).unwrap()
}

pub fn strings(lock: &mut DomainLock, n: usize) -> Strings {
    (0..n).map(|i| string(lock, &i.to_string())).collect()
}

pub fn check(lock: &DomainLock, strings: &Strings) {
    for (i, root) in strings.iter().enumerate() {
        assert_eq!(root.get(lock).to_string_lossy(), i.to_string());
    }
}

/// Makes OCaml run `body(n)`. `how` names one of the functions of exported.ml that start with
/// "run", or "exit".
pub fn ocaml(lock: &mut DomainLock, how: &str, n: isize, body: Run) -> Result<isize, Exception> {
    *RUN.lock().unwrap() = Some(body);
    let f = function::<(OCamlInt,), OCamlInt>(lock, how);
    let n = n.to_ocaml(lock).unwrap();
    f.call(lock, &n).map(|(result, _)| result.to_int())
}

pub fn churn_a_little(lock: &mut DomainLock) {
    for _ in 0..100 {
        lock.alloc_string([b'z'; 100]).unwrap();
    }
}

/// A thread-specific key. Its destructor may be called on any thread, and does not use the value.
pub fn make_key(destructor: extern "C" fn(*mut libc::c_void)) -> libc::pthread_key_t {
    let mut key = 0;
    // SAFETY: `key` is valid, and safe functions may be called on any thread.
    assert_eq!(unsafe { libc::pthread_key_create(&mut key, Some(destructor)) }, 0);
    key
}

/// Gives a key of `make_key` a value on this thread, so that its destructor is called.
pub fn set_key(key: libc::pthread_key_t) {
    // SAFETY: the key is from `make_key`, and no destructor uses the value.
    assert_eq!(unsafe { libc::pthread_setspecific(key, std::ptr::dangling()) }, 0);
}

/// Has another content after it was dropped.
pub struct Canary(pub u64);

impl Canary {
    pub const ALIVE: u64 = 0x0123_4567_89ab_cdef;
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.0 = 0;
    }
}

pub fn boxed<T: Send + 'static>(lock: &mut DomainLock, value: T) -> Boxroot<OCamlBox<T>> {
    let (value, lock) = lock.alloc_box(value).unwrap();
    Boxroot::new(lock, value)
}

pub type Count = Function<(OCamlInt,), OCamlInt>;
