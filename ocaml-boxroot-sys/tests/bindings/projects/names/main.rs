use ocaml_boxroot::{DomainLock, Runtime};
use std::error::Error;

ocaml_boxroot::include_bindings!(); // mod money

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let five = money::Cents { cents: 5 };
        let ten = money::add(lock, &five, &five)?;
        println!("{}", money::add_all(lock, [five, ten])?.cents);
        Ok(())
    })
}
