//! A call has a token of its own, and the caller's is lent to it.

use ocaml_boxroot::{DomainLock, Error, Function, OCamlInt};

fn wrong(lock: &'static mut DomainLock) -> Result<(), Error> {
    let mine = &*lock;
    Function::<(), OCamlInt>::from_rust(lock, move |_| Ok::<_, Error>(format!("{mine:?}").len()))?;
    Ok(())
}

fn main() {}
