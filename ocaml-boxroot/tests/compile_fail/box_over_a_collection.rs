//! A reference to the content of a box ends where the collector may run, which may drop the content.

use ocaml_boxroot::{DomainLock, Error};

fn wrong(lock: &mut DomainLock) -> Result<i32, Error> {
    let (value, _) = lock.alloc_box(1)?;
    let number = value.get();
    lock.alloc_string("this may run the collector")?;
    Ok(*number)
}

fn main() {}
