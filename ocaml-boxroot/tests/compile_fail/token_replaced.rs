//! There is no token to put in the place of another.

use ocaml_boxroot::DomainLock;

fn wrong(lock: &mut DomainLock) -> DomainLock {
    std::mem::take(lock)
}

fn main() {}
