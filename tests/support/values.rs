//! Rust functions that tests/support/values.ml calls.

use super::safe::churn;
use ocaml_boxroot::markers::{OCamlBox, OCamlChar};
use ocaml_boxroot::{
    export, ocaml_functions, Boxroot, CallError, ConversionError, OCamlFloat, OCamlInt,
    OCamlString, ToOCaml,
};
use std::error::Error;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::Mutex;

export! {
    /// `external throw : unit -> unit = "values_throw"`: raises the content of [`THROWN`].
    unsafe fn values_throw(_lock) -> Result<() as (), Box<dyn Error>> {
        Err(THROWN.lock().unwrap().take().unwrap() as Box<dyn Error>)
    }

    /// `external throw_from : int -> unit = "values_throw_from"`: raises the same as `raise_nth`.
    unsafe fn values_throw_from(lock, n: OCamlInt as isize) -> Result<() as (), CallError> {
        raise_nth(lock, n)
    }

    /// All arguments and the result are converted.
    unsafe fn values_joined(
        lock,
        text: OCamlString as String,
        n: OCamlInt as u8,
        x: OCamlFloat as f64,
        yes: bool as bool,
        c: OCamlChar as char,
    ) -> Result<OCamlString as String, ConversionError> {
        churn(lock);
        Ok(format!("{text} {n} {x} {yes} {c}"))
    }

    /// More than five arguments, some as roots, and some converted.
    unsafe fn values_six(
        lock, a: OCamlInt, b: OCamlInt as i64, c: OCamlInt, d: OCamlInt as i64, e: OCamlInt,
        f: OCamlInt as i64,
    ) -> Result<OCamlInt, ConversionError> {
        churn(lock);
        let mut roots = 0;
        for root in [a, c, e] {
            roots = 10 * roots + root.get(lock).to_int();
        }
        (1000 * roots as i64 + 100 * b + 10 * d + f).to_ocaml(lock)
    }

    unsafe fn values_nine(
        ocaml, body: OCamlInt as i8, text: OCamlString, arguments: OCamlInt as i8,
        result: OCamlInt as i8, error: OCamlInt as i8, next: OCamlInt as i8,
        lock: OCamlInt as i8, name: OCamlInt as i8, index: OCamlInt as i8,
    ) -> Result<OCamlString as String, Box<dyn std::error::Error>> {
        let text = text.to_rust::<String>(ocaml)?;
        Ok(format!("{body}{text}{arguments}{result}{error}{next}{lock}{name}{index}"))
    }

    /// Has no arguments. Its names are names that the macro itself could have used.
    pub unsafe fn values_nothing(body) -> Result<OCamlInt as i32, String> {
        churn(body);
        Ok(self::call() + body_of_the_user())
    }

    unsafe fn values_narrow(_lock, n: OCamlInt as u8) -> Result<OCamlInt as u64, ConversionError> {
        Ok(if n == 0 { u64::MAX } else { n.into() })
    }

    /// The argument, and a function of the user, have a name that the macro itself uses.
    unsafe fn values_body(lock, body: OCamlInt) -> Result<OCamlInt as isize, ConversionError> {
        Ok(call::body(body.get(lock).to_int()))
    }

    unsafe fn values_fail(_lock, n: OCamlInt as i32) -> Result<() as (), String> {
        match n {
            0 => Err(format!("{}\0{}", "é".repeat(700), "tail")),
            1 => panic!("{}\0{}", "p".repeat(1000), "tail"),
            _ => Ok(()),
        }
    }

    /// Calls OCaml, which calls this function again, endlessly.
    unsafe fn values_bounce(lock, n: OCamlInt as isize) -> Result<OCamlInt as isize, CallError> {
        bounce(lock, n + 1)
    }

    unsafe fn values_swap(lock, pair: (OCamlInt, OCamlString) as (i32, String))
        -> Result<(OCamlString, OCamlInt) as (String, i32), ConversionError>
    {
        churn(lock);
        let (n, text) = pair;
        Ok((text, n))
    }

    /// `external make : int -> rust = "values_make"`
    unsafe fn values_make(lock, n: OCamlInt as isize)
        -> Result<OCamlBox<Counted>, ConversionError>
    {
        let (value, lock) = lock.alloc_box(Counted::new(n))?;
        Boxroot::try_new(lock, value)
    }

    /// `external read : rust -> int = "values_read"`
    unsafe fn values_read(lock, value: OCamlBox<Counted>)
        -> Result<OCamlInt as isize, ConversionError>
    {
        Ok(value.get(lock).get().number())
    }
}

ocaml_functions! {
    unsafe {
        pub fn bounce(n: OCamlInt) -> OCamlInt = "bounce";
        fn raise_nth(n: OCamlInt) -> () = "raise_nth";
    }
}

/// The error that `values_throw` returns.
pub static THROWN: Mutex<Option<Box<dyn Error + Send + Sync>>> = Mutex::new(None);

fn call() -> i32 {
    40
}

fn body_of_the_user() -> i32 {
    2
}

mod call {
    pub fn body(n: isize) -> isize {
        n + 1
    }
}

/// The number of live values of type `Counted`, of all threads.
static LIVE: AtomicIsize = AtomicIsize::new(0);

/// Counts itself, and detects uses after its drop.
pub struct Counted {
    n: isize,
    check: Box<isize>,
}

impl Counted {
    pub fn new(n: isize) -> Counted {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Counted { n, check: Box::new(!n) }
    }

    pub fn number(&self) -> isize {
        assert_eq!(*self.check, !self.n);
        self.n
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.number();
        *self.check = 0;
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The number of live values of type `Counted`.
pub fn live() -> isize {
    LIVE.load(Ordering::SeqCst)
}
