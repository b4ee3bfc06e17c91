//! A Rust program with its own OCaml module, `ocaml/orders.ml`: records, variants, exceptions,
//! closures in both directions, and a Rust function that OCaml calls. The build script compiles the
//! module, and generates bindings from its interface. Both compilers check every call, so nothing
//! here is `unsafe`.
//!
//! Run it: `cargo run --manifest-path examples/own_modules/Cargo.toml`

#![forbid(unsafe_code)]

use ocaml_boxroot::{DomainLock, Runtime};
use orders::{OCamlChange, Order, Size};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

// `mod orders`: in target/debug/build/own-modules-*/out/ocaml_bindings.rs.
ocaml_boxroot::include_bindings!(orders: Audit);

static DELIVERED_TODAY: AtomicUsize = AtomicUsize::new(0);

/// Implements the function that orders.ml declares as `external`.
pub struct Audit;

impl orders::Externals for Audit {
    fn audit(_lock: &mut DomainLock, order: Order, day: String) -> Result<(), Box<dyn Error>> {
        DELIVERED_TODAY.fetch_add(usize::from(day == "today"), Ordering::Relaxed);
        println!("to {}, {day}: {:?}", order.customer, order.size);
        Ok(())
    }
}

fn order(customer: &str, size: Size, price: f64) -> Order {
    Order { customer: customer.to_string(), size, price, note: None }
}

fn main() -> Result<(), Box<dyn Error>> {
    Runtime::start()?;
    DomainLock::attach(run)
}

fn run(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let orders = vec![
        order("Ada", Size::Large, 12.0),
        order("Grace", Size::Custom { grams: 700 }, 9.0),
        order("Alan", Size::Small, 4.0),
    ];

    // Records and variants are converted. An OCaml exception becomes an error with a Rust type.
    let mut stock = 1800;
    let mut refused = Vec::new();
    for order in &orders {
        match orders::reserve(lock, stock, order) {
            Ok(left) => stock = left,
            Err(error) => match orders::OutOfStock::of(lock, &error)? {
                Some(out) => refused.push(out),
                None => return Err(error.into()),
            },
        }
    }
    assert_eq!(stock, 100);
    assert_eq!(refused, [orders::OutOfStock { customer: "Alan".to_string(), missing: 150 }]);

    // An OCaml closure. Rust can keep it for any length of time.
    let tenth_off = orders::discount(lock, 10)?;
    let cheaper = orders::map(lock, &tenth_off, &orders)?;
    assert_eq!(cheaper[0].price, 10.8);

    // A Rust closure, which OCaml calls.
    let surname = "Lovelace";
    let rename = OCamlChange::from_rust(lock, move |lock, order| {
        let order: Order = order.to_rust(lock)?;
        Ok(Order { customer: format!("{} {surname}", order.customer), ..order })
    })?;
    let renamed = orders::map(lock, &rename, &orders)?;
    assert_eq!(renamed[0].customer, "Ada Lovelace");

    // OCaml calls `Audit::audit`.
    assert_eq!(orders::deliver(lock, Some(true), &renamed)?, 3);
    assert_eq!(DELIVERED_TODAY.load(Ordering::Relaxed), 3);

    println!("{} pays {:.2}; {stock} g are left", renamed[0].customer, cheaper[0].price);
    Ok(())
}
