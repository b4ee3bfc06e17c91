//! A Rust function for OCaml does not change what it captured: OCaml may call it again while a call is running.

use ocaml_boxroot::{DomainLock, Error, Function, OCamlInt};

fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    let mut count = 0;
    Function::<(), OCamlInt>::from_rust(lock, move |_| {
        count += 1;
        Ok::<_, Error>(count)
    })?;
    Ok(())
}

fn main() {}
