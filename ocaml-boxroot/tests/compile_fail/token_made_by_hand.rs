//! Safe code cannot make a token.

use ocaml_boxroot::DomainLock;

fn wrong() {
    let _lock = DomainLock {};
}

fn main() {}
