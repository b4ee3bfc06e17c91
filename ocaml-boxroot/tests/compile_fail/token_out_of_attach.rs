//! A token does not leave the section in which the lock is held.

use ocaml_boxroot::DomainLock;

fn wrong() {
    let lock: Result<&mut DomainLock, _> = DomainLock::attach(|lock| lock);
    drop(lock);
}

fn main() {}
