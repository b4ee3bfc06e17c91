//! An exception's value lives as long as the exception.

use ocaml_boxroot::{Exception, OCamlException, RootRef};

fn wrong<'a>(exception: Exception) -> Option<&'a RootRef<OCamlException>> {
    exception.value()
}

fn main() {}
