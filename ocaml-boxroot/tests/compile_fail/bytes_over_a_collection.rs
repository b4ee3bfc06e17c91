//! The bytes of a string end where the collector may run, which may move or free the string.

use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlString};

fn wrong<'l>(lock: &'l mut DomainLock, text: &Boxroot<OCamlString>) -> Result<Vec<u8>, Error> {
    let bytes = text.get(lock).as_bytes();
    lock.alloc_string("this may run the collector")?;
    Ok(bytes.to_vec())
}

fn main() {}
