//! A runtime stays on the thread that started it.

use ocaml_boxroot::Runtime;

fn wrong(runtime: Runtime) {
    std::thread::spawn(move || drop(runtime));
}

fn main() {}
