//! OCaml may have to wait for its table of names, and then the collector may run.

use ocaml_boxroot::{Boxroot, DomainLock, Exception, OCamlString};

fn wrong(lock: &mut DomainLock, text: &Boxroot<OCamlString>, exception: &Exception) -> bool {
    let text = text.get(lock);
    exception.is(lock, "Parse_error") && text.as_str().is_ok()
}

fn main() {}
