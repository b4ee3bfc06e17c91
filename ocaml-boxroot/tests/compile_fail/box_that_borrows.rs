//! OCaml keeps it for as long as it likes.

use ocaml_boxroot::{DomainLock, Error};

fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    lock.alloc_box(text)?;
    Ok(())
}

fn main() {}
