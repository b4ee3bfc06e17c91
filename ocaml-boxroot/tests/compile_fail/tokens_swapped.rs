//! Two tokens never meet: the outer one is lent while there is an inner one.

use ocaml_boxroot::DomainLock;

fn wrong(outer: &mut DomainLock) {
    outer.release(|| DomainLock::attach(|inner| std::mem::swap(outer, inner)));
}

fn main() {}
