//! The programs that the guide (`docs/guide`) shows, chapter by chapter.
//!
//! Run it: `cargo run --manifest-path examples/guide/Cargo.toml`

#![forbid(unsafe_code)]

use std::error::Error;

mod calls;
mod exceptions;
#[cfg(ocaml5)]
mod threads;
mod types;

ocaml_boxroot::include_bindings!(greetings: calls::Host);

fn main() -> Result<(), Box<dyn Error>> {
    ocaml_boxroot::Runtime::start()?;
    ocaml_boxroot::DomainLock::attach(|lock| {
        calls::all(lock)?;
        types::all(lock)?;
        exceptions::all(lock)?;
        #[cfg(ocaml5)]
        threads::all(lock)?;
        Ok::<_, Box<dyn Error>>(())
    })?;
    println!("the guide's programs run");
    Ok(())
}
