//! The content of a box does not borrow, because OCaml may keep it for any time.

use ocaml_boxroot::{DomainLock, Error};

fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    lock.alloc_box(text)?;
    Ok(())
}

fn main() {}
