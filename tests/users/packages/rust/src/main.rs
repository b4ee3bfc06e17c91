use ocaml_boxroot::{DomainLock, Runtime};
use orders::{Order, Size};

ocaml_boxroot::include_bindings!(); // mod orders

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let order = Order { customer: "Ada".into(), size: Size::Custom { grams: 200 }, price: 9.0 };
        println!("{} g are left", orders::reserve(lock, 500, &order)?);
        Ok(())
    })
}
