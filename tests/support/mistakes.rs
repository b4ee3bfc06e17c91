//! Rust functions that tests/support/mistakes.ml declares with other types.

use ocaml_boxroot::markers::OCamlBox;
use ocaml_boxroot::{
    export, ocaml_type, Boxroot, CallError, ConversionError, Function, OCamlFloat, OCamlInt,
    OCamlList, OCamlString,
};

ocaml_type! {
    /// The right type: `order` of mistakes.ml.
    pub struct OCamlOrder for Order {
        customer: OCamlString, size: OCamlSize, price: OCamlFloat, note: Option<OCamlString>,
    }

    /// The right type: `size` of mistakes.ml.
    pub enum OCamlSize for Size {
        Small, Large, Custom { grams: OCamlInt }, Box(OCamlInt, OCamlString), Old((OCamlInt, OCamlString)),
    }

    /// `order`, with an `int` for its customer.
    pub struct OCamlOtherOrder for OtherOrder {
        customer: OCamlInt, size: OCamlSize, price: OCamlFloat, note: Option<OCamlString>,
    }
}

#[derive(Debug)]
pub struct Order {
    customer: String,
    size: Size,
    price: f64,
    note: Option<String>,
}

#[derive(Debug)]
pub enum Size {
    Small,
    Large,
    Custom { grams: i32 },
    Box(i32, String),
    Old((i32, String)),
}

#[derive(Debug)]
pub struct OtherOrder {
    customer: i64,
    size: Size,
    price: f64,
    note: Option<String>,
}

export! {
    unsafe fn mistakes_an_int(_lock, n: OCamlInt as i64) -> Result<OCamlInt as i64, ConversionError> {
        Ok(n)
    }

    unsafe fn mistakes_a_string(_lock, text: OCamlString as String) -> Result<OCamlInt as usize, ConversionError> {
        Ok(text.len())
    }

    unsafe fn mistakes_swapped(_lock, n: OCamlInt as i64, text: OCamlString as String)
        -> Result<OCamlInt as i64, ConversionError>
    {
        Ok(n + text.len() as i64)
    }

    unsafe fn mistakes_first_forgotten(_lock, n: OCamlInt as i64) -> Result<OCamlInt as i64, ConversionError> {
        Ok(n)
    }

    unsafe fn mistakes_an_order(_lock, order: OCamlOrder as Order) -> Result<OCamlInt as usize, ConversionError> {
        Ok(order.customer.len())
    }

    unsafe fn mistakes_part_of_order(_lock, order: OCamlOtherOrder as OtherOrder)
        -> Result<OCamlInt as i64, ConversionError>
    {
        Ok(order.customer)
    }

    unsafe fn mistakes_a_callback(lock, f: Function<(OCamlInt,), OCamlInt>)
        -> Result<OCamlInt as i64, CallError>
    {
        f.call_converting(lock, 1)
    }

    unsafe fn mistakes_counter(lock, _unit: ()) -> Result<OCamlBox<u64>, ConversionError> {
        let (value, lock) = lock.alloc_box(7u64)?;
        Boxroot::try_new(lock, value)
    }

    unsafe fn mistakes_read(lock, counter: OCamlBox<String>) -> Result<OCamlInt as usize, ConversionError> {
        Ok(counter.get(lock).get().len())
    }
}
