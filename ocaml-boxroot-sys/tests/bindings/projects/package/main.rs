#![forbid(unsafe_code)]

use ocaml_boxroot::{DomainLock, Runtime};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod shop, mod extra

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let order = shop::basics::Order { words: vec!["tea".into()], count: 2 };
        println!("{}", extra::describe(lock, &order)?);
        Ok(())
    })
}
