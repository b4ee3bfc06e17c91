//! The programs that the guide (`docs/guide`) shows, chapter by chapter.
//!
//! Run it: `cargo run --manifest-path examples/guide/Cargo.toml`

#![forbid(unsafe_code)]

use std::error::Error;

mod calls;
mod exceptions;
mod types;

ocaml_boxroot::include_bindings!(greetings: calls::Host);

fn main() -> Result<(), Box<dyn Error>> {
    ocaml_boxroot::Runtime::start()?;
    ocaml_boxroot::DomainLock::attach(|lock| {
        calls::all(lock)?;
        types::all(lock)?;
        exceptions::all(lock)
    })??;
    println!("the guide's programs run");
    Ok(())
}
