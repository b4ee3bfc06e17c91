//! A token is lent for a call: it cannot be put aside for a destructor.

use ocaml_boxroot::DomainLock;
use std::cell::Cell;

thread_local! {
    static ASIDE: Cell<Option<&'static mut DomainLock>> = const { Cell::new(None) };
}

fn wrong() {
    let _ = DomainLock::attach(|lock| ASIDE.set(Some(lock)));
}

fn main() {}
