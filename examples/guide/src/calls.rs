//! `calls.md`: functions, labels, closures, effects.

use crate::greetings::{self, LetterOptions, OCamlChange};
use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, OCamlString};
use std::error::Error;

pub fn all(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    labels(lock)?;
    closures(lock)?;
    any_type(lock)?;
    abstract_type(lock)?;
    called(lock)?;
    #[cfg(ocaml5)]
    effects(lock)?;
    Ok(())
}

fn labels(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let text = greetings::greet(lock, Some("Dr".into()), "Ada")?;
    assert_eq!(text, "Hello, Dr Ada");
    assert_eq!(greetings::greet(lock, None, "Ada")?, "Hello, Ada");

    let options = LetterOptions { copies: Some(2), ..Default::default() };
    assert_eq!(greetings::letter(lock, "Ada", options)?, "Dear Ada, Bob; Dear Ada, Bob");
    Ok(())
}

fn closures(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    // An OCaml closure: a root, which Rust keeps, gives to OCaml, or calls.
    let dotted: Boxroot<OCamlChange> = greetings::prefixed(lock, ".")?;
    assert_eq!(greetings::map_words(lock, &dotted, "a b")?, ".a .b");
    assert_eq!(dotted.call_converting::<String>(lock, "c")?, ".c");

    // A Rust closure, which OCaml owns and calls.
    let mark = "!".to_string();
    let loud = OCamlChange::from_rust(lock, move |lock, word| {
        let word = word.get(lock).as_str()?;
        Ok(word.to_uppercase() + &mark)
    })?;
    assert_eq!(greetings::map_words(lock, &loud, "so what")?, "SO! WHAT!");
    Ok(())
}

fn any_type(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let last: Option<Boxroot<OCamlInt>> = greetings::last(lock, [1, 2, 3])?;
    assert_eq!(last.expect("three elements").to_rust::<i64>(lock)?, 3);
    let none = greetings::last::<OCamlString>(lock, &[] as &[&str])?;
    assert!(none.is_none());
    Ok(())
}

fn abstract_type(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let session = greetings::start(lock, "Ada")?; // a Boxroot<OCamlSession>
    greetings::again(lock, &session)?;
    assert_eq!(greetings::again(lock, &session)?, 2);
    Ok(())
}

/// Implements the functions that `Greetings` declares as `external`.
pub struct Host;

impl greetings::Externals for Host {
    fn log(_lock: &mut DomainLock, level: isize, text: String) -> Result<(), Box<dyn Error>> {
        if text.is_empty() {
            return Err("nothing to log".into()); // OCaml's exception Failure
        }
        println!("[{level}] {text}");
        Ok(())
    }
}

fn called(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    assert_eq!(greetings::greet_all(lock, ["Ada", "Alan"])?, 2);
    Ok(())
}

#[cfg(ocaml5)]
fn effects(lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    use crate::questions;
    use ocaml_boxroot::{CallError, Function};

    // The handler is inside the call: the effect does not reach Rust.
    assert_eq!(questions::ask_and_answer(lock, "Tea?")?, "Tea? Yes.");

    // No handler: an exception.
    let error = questions::ask(lock, "Tea?").unwrap_err();
    assert_eq!(error.to_string(), "OCaml exception: Stdlib.Effect.Unhandled(_)");

    // A handler, but Rust's frames are between it and the effect: the same exception.
    let asks = Function::<(), OCamlString>::from_rust(lock, |lock| {
        Ok(questions::ask_root(lock, "Tea?")?)
    })?;
    let error: CallError = questions::answered(lock, &asks).unwrap_err();
    assert_eq!(error.to_string(), "OCaml exception: Stdlib.Effect.Unhandled(_)");
    Ok(())
}
