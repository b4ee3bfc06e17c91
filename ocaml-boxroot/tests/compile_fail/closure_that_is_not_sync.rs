//! A Rust function for OCaml is Sync, because OCaml may call it on several threads at once.

use ocaml_boxroot::{DomainLock, Error, Function, OCamlInt};
use std::cell::Cell;

fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    let count = Cell::new(0);
    Function::<(), OCamlInt>::from_rust(lock, move |_| {
        count.set(count.get() + 1);
        Ok::<_, Error>(count.get())
    })?;
    Ok(())
}

fn main() {}
