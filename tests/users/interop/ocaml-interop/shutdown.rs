//! The end of the runtime, which some roots outlive.

use crate::numbered;
use ocaml_interop::{BoxRoot, OCaml, OCamlRuntime, OCamlRuntimeStartupGuard};
use std::panic::catch_unwind;

pub fn shutdown(guard: OCamlRuntimeStartupGuard) {
    assert!(OCamlRuntime::init().is_err(), "one runtime in a process");
    let roots = OCamlRuntime::with_domain_lock(|cr| numbered(cr, 0, 5000));
    drop(guard);
    drop(roots);
    // A drop-in replacement need not refuse this: the published crate does not.
    assert!(catch_unwind(|| drop(BoxRoot::new(OCaml::unit()))).is_err());
}
