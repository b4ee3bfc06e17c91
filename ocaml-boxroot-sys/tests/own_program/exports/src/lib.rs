//! The Rust function that the OCaml code calls, in a library that is linked because the program
//! uses it.

use std::sync::atomic::{AtomicIsize, Ordering};

static ANSWER: AtomicIsize = AtomicIsize::new(0);

/// `external report : int -> unit = "report"`
#[no_mangle]
pub extern "C" fn report(answer: isize) -> isize {
    ANSWER.store(answer >> 1, Ordering::SeqCst);
    1
}

pub fn answer() -> isize {
    ANSWER.load(Ordering::SeqCst)
}
