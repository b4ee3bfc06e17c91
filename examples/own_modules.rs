//! A Rust program with OCaml modules of its own (`ocaml/orders.ml`): records, variants, exceptions, and closures in both
//! directions. The build script links the modules into the program: here `build.rs` of this repository; a whole
//! project of this kind is in `async_server`.
//!
//! Run it: `cargo run --example own_modules`

use ocaml_boxroot::{
    ocaml_functions, ocaml_type, Boxroot, CallError, DomainLock, Error, Function, OCamlFloat,
    OCamlInt, OCamlList, OCamlString, Runtime,
};

ocaml_type! {
    /// `type size = Small | Large | Custom of { grams : int }`
    enum OCamlSize for Size { Small, Large, Custom { grams: OCamlInt } }

    /// `type order = { customer : string; size : size; price : float }`
    struct OCamlOrder for Order { customer: OCamlString, size: OCamlSize, price: OCamlFloat }
}

#[derive(Clone, Debug, PartialEq)]
enum Size {
    Small,
    Large,
    Custom { grams: u32 },
}

#[derive(Clone, Debug, PartialEq)]
struct Order {
    customer: String,
    size: Size,
    price: f64,
}

type Change = Function<(OCamlOrder,), OCamlOrder>;

ocaml_functions! {
    // SAFETY: these are the types of the functions in orders.ml.
    unsafe {
        /// `reserve : int -> order -> int`, which may raise `Out_of_stock`.
        fn reserve(stock: OCamlInt, order: OCamlOrder) -> OCamlInt = "orders.reserve";
        /// `discount : int -> order -> order`, used as a function that returns a function.
        fn discount(percent: OCamlInt) -> Change = "orders.discount";
        /// `map : (order -> order) -> order list -> order list`
        fn map(change: Change, orders: OCamlList<OCamlOrder>) -> OCamlList<OCamlOrder> = "orders.map";
    }
}

fn order(customer: &str, size: Size, price: f64) -> Order {
    Order { customer: customer.to_string(), size, price }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Runtime::start()?;
    DomainLock::attach(run)?
}

fn run(lock: &mut DomainLock) -> Result<(), Box<dyn std::error::Error>> {
    let orders = vec![
        order("Ada", Size::Large, 12.0),
        order("Grace", Size::Custom { grams: 700 }, 9.0),
        order("Alan", Size::Small, 4.0),
    ];

    // Records and variants are converted. An OCaml exception is an error, which has a name and arguments.
    let mut stock: u32 = 1800;
    let mut refused = Vec::new();
    for order in &orders {
        match reserve(lock, stock, order) {
            Ok(left) => stock = left,
            Err(CallError::Exception(e)) if e.is(lock, "orders.Out_of_stock") => {
                // SAFETY: `exception Out_of_stock of string * int`.
                let missing = unsafe { e.argument::<OCamlInt>(lock, 1)? }.ok_or(Error::Mismatch)?;
                refused.push((order.customer.clone(), missing.to_rust::<u32>(lock)?));
            }
            Err(other) => return Err(other.into()),
        }
    }
    assert_eq!((stock, &*refused), (100, &[("Alan".to_string(), 150)][..]));

    // An OCaml closure, which Rust can keep for any time.
    let tenth_off: Boxroot<Change> = discount(lock, 10)?;
    let cheaper: Vec<Order> = map(lock, &tenth_off, &orders)?;
    assert_eq!(cheaper[0].price, 10.8);

    // A Rust closure, which OCaml calls.
    let surname = "Lovelace";
    let rename = Change::from_rust(lock, move |lock, order| {
        let order: Order = order.to_rust(lock)?;
        Ok::<_, Error>(Order { customer: format!("{} {surname}", order.customer), ..order })
    })?;
    let renamed: Vec<Order> = map(lock, &rename, &orders)?;
    assert_eq!(renamed[0].customer, "Ada Lovelace");

    println!(
        "{} pays {:.2}; {} g are left; refused: {refused:?}",
        renamed[0].customer, cheaper[0].price, stock
    );
    Ok(())
}
