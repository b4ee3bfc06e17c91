//! A Rust function for OCaml does not borrow, because OCaml may keep it for any time.

use ocaml_boxroot::{DomainLock, Error, Function, OCamlString};

fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    Function::<(), OCamlString>::from_rust(lock, |_| Ok::<_, Error>(text.to_string()))?;
    Ok(())
}

fn main() {}
