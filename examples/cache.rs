//! A cache of OCaml closures that several threads share. The closures are formulas, which OCaml
//! (`ocaml/formula.ml`) compiles to functions. A `Boxroot` of a function is Send and Sync, so the
//! cache is an ordinary map behind an ordinary lock. The thread that evicts an entry drops it,
//! without OCaml's lock.
//!
//! Run it: `cargo run --example cache`

use ocaml_boxroot::debug::stats;
use ocaml_boxroot::sync::RwLockExt;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, CallError, DomainLock, Function, OCamlFloat, OCamlString, Runtime,
    ToOCaml,
};
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

type Formula = Function<(OCamlFloat,), OCamlFloat>;

ocaml_functions! {
    // SAFETY: this is the type of the function in formula.ml.
    unsafe {
        /// `compile : string -> float -> float`, which may raise `Failure`.
        fn compile(text: OCamlString) -> Formula = "formula.compile";
    }
}

/// Compiled formulas, by their text.
#[derive(Default)]
struct Cache(RwLock<HashMap<String, Arc<Boxroot<Formula>>>>);

impl Cache {
    /// The value of a formula at `x`.
    fn value(&self, lock: &mut DomainLock, text: &str, x: f64) -> Result<f64, CallError> {
        let formula = self.get(lock, text)?;
        let x = x.to_ocaml(lock)?;
        let (y, lock) = formula.call(lock, &x)?;
        Ok(y.to_rust(lock)?)
    }

    fn get(&self, lock: &mut DomainLock, text: &str) -> Result<Arc<Boxroot<Formula>>, CallError> {
        // While this thread waits for the map, other threads can use OCaml.
        let known = self.0.read_released(lock).unwrap().get(text).cloned();
        if let Some(formula) = known {
            return Ok(formula);
        }
        // The map is not locked while OCaml compiles. Two threads may compile the same formula; one
        // result is kept.
        let compiled = Arc::new(compile(lock, text)?);
        let mut formulas = self.0.write_released(lock).unwrap();
        Ok(formulas.entry(text.to_string()).or_insert(compiled).clone())
    }

    /// Evicts half of the formulas. Does not need OCaml's lock.
    fn evict(&self) {
        let mut keep = false;
        self.0.write().unwrap().retain(|_, _| {
            keep = !keep;
            keep
        });
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    let cache = Cache::default();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for i in 0..5000 {
                    let n = (i * 7 + thread) % 100;
                    let text = format!("{n}*x*x + 3*x + {thread}");
                    let value = DomainLock::with(|lock| cache.value(lock, &text, 2.0));
                    assert_eq!(value.unwrap().unwrap(), f64::from(4 * n + 6 + thread));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..50 {
                std::thread::sleep(Duration::from_millis(1));
                cache.evict();
            }
        });
    });

    let wrong = DomainLock::with(|lock| cache.value(lock, "2*y", 1.0))?;
    let message = wrong.unwrap_err().to_string();
    assert!(message.contains("expected a number or x"), "{message}");

    let cached = cache.0.read().unwrap().len();
    let live = DomainLock::with(|_| stats().live_roots)?;
    println!("{cached} formulas are cached, {live} roots are alive; the error of a wrong one is: {message}");
    cache.0.write().unwrap().clear(); // without OCaml's lock
    assert_eq!(DomainLock::with(|_| stats().live_roots)?, 0);
    Ok(())
}
