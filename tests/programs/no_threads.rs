//! An OCaml program without the threads library: other threads are refused, and told why.

use ocaml_boxroot::{DomainLock, Error, OCamlString, Runtime, ToOCaml};

fn main() -> Result<(), Error> {
    let mut runtime = Runtime::start()?;
    let root = ToOCaml::<OCamlString>::to_ocaml("kept", runtime.lock())?;
    runtime.lock().release(|| {
        let attached = std::thread::spawn(|| DomainLock::attach(|_| ())).join().unwrap();
        assert_eq!(attached, Err(Error::SystemThreadsMissing));
        assert!(attached.unwrap_err().to_string().contains("threads.cmxa"));
        // The thread that started OCaml is known to it.
        assert_eq!(DomainLock::attach(|_| ()), Ok(()));
        // Dropping needs no threads library.
        std::thread::spawn(move || drop(root)).join().unwrap();
    });
    runtime.lock().alloc_string("still here")?;
    Ok(())
}
