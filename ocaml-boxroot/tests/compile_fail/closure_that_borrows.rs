//! OCaml keeps the function for as long as it likes.

use ocaml_boxroot::{DomainLock, Error, Function, OCamlString};

fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    Function::<(), OCamlString>::from_rust(lock, |_| Ok::<_, Error>(text.to_string()))?;
    Ok(())
}

fn main() {}
