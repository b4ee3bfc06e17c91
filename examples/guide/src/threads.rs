//! `threads.md`: two domains.

use crate::parallel;
use ocaml_boxroot::{DomainLock, Function, OCamlInt};
use std::error::Error;

pub fn all(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    domains(lock)
}

fn domains(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let sum =
        |from: i64, to: i64| move |_: &mut DomainLock| Ok::<i64, Box<dyn Error>>((from..to).sum());
    let low = Function::<(), OCamlInt>::from_rust(lock, sum(0, 500_000))?;
    let high = Function::<(), OCamlInt>::from_rust(lock, sum(500_000, 1_000_000))?;
    // OCaml calls `low` in a new domain, and `high` at the same time in this one.
    let (low, high) = parallel::both(lock, &low, &high)?;
    let (low, high): (i64, i64) = (low.to_rust(lock)?, high.to_rust(lock)?);
    assert_eq!(low + high, 499_999_500_000);
    Ok(())
}
