//! Making a block needs `unsafe`, the promise that its type has such blocks.

use ocaml_boxroot::{DomainLock, Error, OCamlString};

fn wrong(lock: &mut DomainLock) -> Result<String, Error> {
    let (value, _) = lock.alloc_block::<OCamlString>(0, &[])?;
    Ok(value.to_string_lossy())
}

fn main() {}
