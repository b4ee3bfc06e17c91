//! Computing the next element may run the collector.

use ocaml_boxroot::{CallError, DomainLock, OCamlInt, OCamlSeq, RootRef};

fn wrong(lock: &mut DomainLock, seq: &RootRef<OCamlSeq<OCamlInt>>) -> Result<(), CallError> {
    for n in seq.iter::<i32>(lock) {
        lock.alloc_string(n?.to_string())?;
    }
    Ok(())
}

fn main() {}
