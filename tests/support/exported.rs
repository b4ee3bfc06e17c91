//! Rust functions that tests/support/exported.ml calls.

use super::safe::churn;
use ocaml_boxroot::{
    export, raw, Boxroot, ConversionError, DomainLock, Exception, Function, OCamlInt, OCamlString,
    RootRef, ToOCaml, Value,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

export! {
    /// external repeat : string -> int -> string = "safe_repeat"
    unsafe fn safe_repeat(lock, text: OCamlString, times: OCamlInt) -> Result<OCamlString, String> {
        churn(lock);
        let times = times.get(lock).to_int();
        if times < 0 {
            return Err(format!("{times} times"));
        }
        let repeated = text.get(lock).to_string_lossy().repeat(times as usize);
        repeated.to_ocaml(lock).map_err(|e| e.to_string())
    }

    /// external deeper : (int -> int) -> int -> int = "safe_deeper": calls the function.
    unsafe fn safe_deeper(lock, f: Function<(OCamlInt,), OCamlInt>, n: OCamlInt)
        -> Result<OCamlInt, Exception>
    {
        LEVELS.fetch_add(1, Ordering::SeqCst);
        let _level = Level;
        if n.get(lock).to_int() == -1 {
            panic!("at the bottom");
        }
        churn(lock);
        let (result, lock) = f.call(lock, n)?;
        Ok(Boxroot::new(lock, result))
    }

    /// external drop_roots : unit -> unit = "safe_drop_roots"
    unsafe fn safe_drop_roots(_lock, _unit: ()) -> Result<(), ConversionError> {
        HANDED_OVER.lock().unwrap().clear();
        Ok(())
    }

    /// external run : int -> int = "safe_run"
    unsafe fn safe_run(lock, n: OCamlInt) -> Result<OCamlInt, Box<dyn std::error::Error>> {
        let body = *RUN.lock().unwrap();
        body.ok_or("nothing to run")?(lock, n)?;
        Ok(n.get(lock).to_int().to_ocaml(lock)?)
    }
}

/// external note : int -> unit = "safe_note" [@@noalloc]
///
/// Needs no token, so OCaml may be shut down.
#[no_mangle]
extern "C" fn safe_note(n: raw::Value) -> raw::Value {
    NOTED.store(n as usize >> 1, Ordering::SeqCst);
    1 // ()
}

/// The last number that `safe_note` got.
pub static NOTED: AtomicUsize = AtomicUsize::new(0);

/// The function that `safe_run` runs.
pub static RUN: Mutex<Option<Run>> = Mutex::new(None);

pub type Run = fn(&mut DomainLock, &RootRef<OCamlInt>) -> Result<(), Box<dyn std::error::Error>>;

/// The number of calls of `safe_deeper` that are running.
pub static LEVELS: AtomicUsize = AtomicUsize::new(0);

/// The roots that `safe_drop_roots` drops.
pub static HANDED_OVER: Mutex<Vec<Boxroot<OCamlString>>> = Mutex::new(Vec::new());

/// Subtracts one level when a call of `safe_deeper` is left.
struct Level;

impl Drop for Level {
    fn drop(&mut self) {
        LEVELS.fetch_sub(1, Ordering::SeqCst);
    }
}
