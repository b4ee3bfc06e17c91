//! A library that starts OCaml if necessary.

use ocaml_boxroot::{export, ConversionError, OCamlString, Runtime};

export! {
    unsafe fn starter_start(_lock, _unit: () as ()) -> Result<OCamlString as String, ConversionError> {
        let first = Runtime::start().map(drop);
        Ok(format!("{first:?}, {}", Runtime::get_or_start().is_ok()))
    }
}
