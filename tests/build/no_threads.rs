//! An OCaml program without the threads library: other threads get an error that says why.

use ocaml_boxroot::{AttachError, DomainLock, Error, OCamlString, Runtime, ToOCaml};

fn main() -> Result<(), Error> {
    Runtime::start()?;
    // OCaml knows the thread that started it.
    let root = DomainLock::attach(|lock| ToOCaml::<OCamlString>::to_ocaml("kept", lock))?;
    let attached = std::thread::spawn(|| DomainLock::with(|_| ())).join().unwrap();
    assert_eq!(attached, Err(AttachError::SystemThreadsMissing));
    assert!(attached.unwrap_err().to_string().contains("threads.cmxa"));
    // Dropping needs no threads library.
    std::thread::spawn(move || drop(root)).join().unwrap();
    DomainLock::attach(|lock| lock.alloc_string("still here").map(|_| ()))?;
    Ok(())
}
