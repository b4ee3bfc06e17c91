//! A runtime whose lock is lent cannot be shut down.

use ocaml_boxroot::Runtime;

fn wrong(mut runtime: Runtime) {
    let lock = runtime.lock();
    lock.release(|| runtime.shutdown().unwrap());
}

fn main() {}
