//! Starts OCaml, whose modules report an answer, and uses OCaml on another thread.

use ocaml_boxroot::{DomainLock, Runtime};

fn main() -> Result<(), ocaml_boxroot::Error> {
    let runtime = Runtime::start()?;
    assert_eq!(exports::answer(), 42);
    let thread = std::thread::spawn(|| DomainLock::with(|_| ()));
    thread.join().expect("no panic")?;
    println!("the answer is {}", exports::answer());
    let _ = runtime.shutdown();
    Ok(())
}
