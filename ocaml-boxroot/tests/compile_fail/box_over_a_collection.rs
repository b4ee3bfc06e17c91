//! What is in it is dropped when the collector finds it dead.

use ocaml_boxroot::{DomainLock, Error};

fn wrong(lock: &mut DomainLock) -> Result<i32, Error> {
    let (value, _) = lock.alloc_box(1)?;
    let number = value.get();
    lock.alloc_string("this may run the collector")?;
    Ok(*number)
}

fn main() {}
