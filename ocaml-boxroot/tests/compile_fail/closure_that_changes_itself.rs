//! OCaml calls the function while it runs.

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
