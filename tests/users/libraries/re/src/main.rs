use ocaml_boxroot::{DomainLock, Runtime};
use re::group;

ocaml_boxroot::include_bindings!(); // mod re

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let pattern = re::perl::re(lock, None, r"(\w+) was born in (\d+)")?;
        let compiled = re::compile(lock, &pattern)?;
        let groups = re::exec(lock, None, None, &compiled, "Ada was born in 1815.")?;
        let (name, year) = (group::get(lock, &groups, 1)?, group::get(lock, &groups, 2)?);
        assert_eq!((&*name, &*year), ("Ada", "1815"));
        println!("{name}, {year}");

        assert!(re::exec_opt(lock, None, None, &compiled, "Nobody was born.")?.is_none());
        Ok(())
    })
}
