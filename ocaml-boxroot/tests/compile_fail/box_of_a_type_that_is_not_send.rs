//! The content of a box is Send, because OCaml drops it on any thread.

use ocaml_boxroot::{DomainLock, Error};
use std::rc::Rc;

fn wrong(lock: &mut DomainLock) -> Result<(), Error> {
    lock.alloc_box(Rc::new(1))?;
    Ok(())
}

fn main() {}
