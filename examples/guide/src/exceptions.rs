//! `exceptions.md`: OCaml exceptions, and the Rust errors for them.

use crate::stock::{self, Missing};
use ocaml_boxroot::exceptions::NotFound;
use ocaml_boxroot::{CallError, DomainLock, Function, OCamlInt, OCamlString};
use std::error::Error;

pub fn all(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    own(lock)?;
    of_the_library(lock)?;
    of_rust(lock)
}

fn own(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let count = stock::count(lock, "tea", 5)?;
    let error: CallError = stock::take(lock, 7, &count).unwrap_err();
    assert_eq!(error.to_string(), r#"OCaml exception: Stock.Missing("tea", 2)"#);
    match Missing::of(lock, &error)? {
        Some(Missing(label, n)) => println!("{n} of {label} are missing"),
        None => return Err(error.into()), // another exception, or a conversion error
    }
    Ok(())
}

fn of_the_library(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    match stock::find(lock, "tea", &[] as &[stock::Item]) {
        Ok(item) => println!("{item:?}"),
        Err(error) if NotFound::of(lock, &error)?.is_some() => println!("no tea"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

type Price = Function<(OCamlString,), OCamlInt>;

fn of_rust(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let price = Price::from_rust(lock, |lock, name| -> Result<i64, Box<dyn Error>> {
        match name.to_rust::<String>(lock)?.as_str() {
            "tea" => Ok(8),
            "milk" => Err(NotFound.into()), // Not_found
            "salt" => Err(Missing("salt".into(), 1).into()), // Stock.Missing ("salt", 1)
            other => Err(format!("no price for {other}").into()), // Failure "no price for …"
        }
    })?;
    let mut raised = |name: &str| price.call_converting::<i64>(lock, name).unwrap_err().to_string();
    assert_eq!(raised("milk"), "OCaml exception: Not_found");
    assert_eq!(raised("salt"), r#"OCaml exception: Stock.Missing("salt", 1)"#);
    assert_eq!(raised("soap"), r#"OCaml exception: Failure("no price for soap")"#);
    Ok(())
}
