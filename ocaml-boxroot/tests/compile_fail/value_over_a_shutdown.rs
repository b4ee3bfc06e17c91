//! No value is left when the runtime is shut down.

use ocaml_boxroot::{Boxroot, OCamlString, Runtime};

fn wrong(mut runtime: Runtime, root: &Boxroot<OCamlString>) {
    let value = root.get(runtime.lock());
    let _ = runtime.shutdown();
    println!("{}", value.to_text());
}

fn main() {}
