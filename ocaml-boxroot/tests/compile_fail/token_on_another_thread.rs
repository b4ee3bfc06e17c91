//! A token stays on its thread: it is not Send.

use ocaml_boxroot::DomainLock;

fn wrong(lock: &mut DomainLock) {
    std::thread::scope(|scope| {
        scope.spawn(|| lock.alloc_string("x").map(|_| ()));
    });
}

fn main() {}
