//! There is one token at a time.

use ocaml_boxroot::Runtime;

fn wrong(runtime: &mut Runtime) {
    let first = runtime.lock();
    let second = runtime.lock();
    let _ = first.alloc_string("x");
    let _ = second.alloc_string("x");
}

fn main() {}
