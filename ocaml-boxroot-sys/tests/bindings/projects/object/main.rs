use ocaml_boxroot::{DomainLock, Runtime};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod words

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        println!("{}", words::upper(lock, "tea")?);
        Ok(())
    })
}
