//! An OCaml program that calls `boxroot_setup` before it initialises the threads library. On OCaml
//! 4 the library can then no longer track the lock: create reports that, and existing roots stay
//! valid.

use ocaml_boxroot::{AttachError, DomainLock, Runtime};
use ocaml_boxroot_sys as sys;
use std::sync::OnceLock;
use sys::{BoxRoot, Status, Value};

struct Early(BoxRoot);
// SAFETY: a root may be deleted on any thread.
unsafe impl Send for Early {}
// SAFETY: as for `Send`.
unsafe impl Sync for Early {}

static EARLY: OnceLock<Early> = OnceLock::new();

/// `external setup : string -> unit = "late_threads_setup"`, before threads are initialised.
#[no_mangle]
unsafe extern "C" fn late_threads_setup(text: Value) -> Value {
    // SAFETY: OCaml calls, with a live string.
    unsafe {
        assert!(sys::boxroot_setup());
        let root = sys::boxroot_create(text).expect("set up");
        assert!(EARLY.set(Early(root)).is_ok());
    }
    1
}

/// `external check : unit -> unit = "late_threads_check"`, after a minor collection.
#[no_mangle]
extern "C" fn late_threads_check(_: Value) -> Value {
    assert_eq!(sys::status(), if cfg!(ocaml5) { Status::Running } else { Status::Invalid });
    1
}

/// `external check_thread : unit -> unit = "late_threads_check_thread"`, on another thread.
#[no_mangle]
unsafe extern "C" fn late_threads_check_thread(unit: Value) -> Value {
    // SAFETY: OCaml calls, with a live value.
    let root = unsafe { sys::boxroot_create(unit) };
    if cfg!(ocaml5) {
        // SAFETY: no other code deletes it.
        unsafe { sys::boxroot_delete(root.expect("set up")) };
    } else {
        assert!(root.is_none());
        let message = sys::error_message().to_string_lossy();
        assert!(message.contains("Thread module"), "{message}");
    }
    unit
}

fn main() {
    let started = Runtime::start();
    if cfg!(ocaml5) {
        // The order does not matter. OCaml code set boxroot up, not Runtime::start.
        started.expect("OCaml 5 does not mind");
        assert_eq!(sys::status(), Status::Running);
        DomainLock::with(|lock| lock.alloc_string("x").map(|_| ())).unwrap().unwrap();
        return;
    }
    assert_eq!(started.err(), Some(AttachError::Invalid.into()));
    assert_eq!(sys::status(), Status::Invalid);
    // SAFETY: the value is an immediate; this thread started the runtime and holds its lock.
    let refused = unsafe { sys::boxroot_create(3) };
    assert!(refused.is_none(), "and it stays so");
    let message = sys::error_message().to_string_lossy();
    assert!(message.contains("Thread module"), "{message}");
    assert!(matches!(
        DomainLock::with(|_| ()),
        Err(AttachError::Invalid | AttachError::AlreadyHeld)
    ));
    // The root that was created before still keeps its value, and can be deleted.
    let early = EARLY.get().expect("OCaml called").0;
    // SAFETY: the root is live; this thread holds the lock.
    unsafe {
        let text = sys::boxroot_get(early) as *const u8;
        assert_eq!(std::slice::from_raw_parts(text, 5), b"early");
        sys::boxroot_delete(early);
    }
}
