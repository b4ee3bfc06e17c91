use ocaml_boxroot::{DomainLock, Runtime};
use orders::{Order, OutOfStock, Size};

ocaml_boxroot::include_bindings!(); // mod orders

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let order = Order { customer: "Ada".into(), size: Size::Custom { grams: 700 }, price: 9.0 };
        match orders::reserve(lock, 500, &order) {
            Ok(left) => println!("{left} g are left"),
            Err(error) => match OutOfStock::of(lock, &error)? {
                Some(OutOfStock(customer, missing)) => {
                    println!("{customer}: {missing} g are missing")
                }
                None => return Err(error.into()),
            },
        }
        Ok(())
    })
}
