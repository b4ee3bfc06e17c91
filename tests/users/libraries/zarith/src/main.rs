use ocaml_boxroot::{DomainLock, Runtime};

ocaml_boxroot::include_bindings!(); // mod z

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let two = z::of_int(lock, 2)?;
        let power = z::pow(lock, &two, 100)?;
        let text = z::to_string(lock, &power)?;
        assert_eq!(text, "1267650600228229401496703205376");
        println!("2^100 = {text}");
        Ok(())
    })
}
