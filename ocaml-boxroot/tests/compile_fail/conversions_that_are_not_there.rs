//! The messages say what a type is made from.

use ocaml_boxroot::{
    ocaml_functions, ocaml_type, CallError, DomainLock, OCamlInt, OCamlString,
};

ocaml_type! {
    struct OCamlCity for City { name: OCamlString, height: OCamlInt }
}

struct City {
    name: String,
    height: f64,
}

ocaml_functions! {
    unsafe {
        fn length(text: OCamlString) -> OCamlInt = "length";
        fn height(city: OCamlCity) -> OCamlInt = "height";
    }
}

fn argument(lock: &mut DomainLock) -> Result<i64, CallError> {
    length(lock, 5)
}

fn result(lock: &mut DomainLock) -> Result<String, CallError> {
    length(lock, "text")
}

fn record(lock: &mut DomainLock, city: (String, i64)) -> Result<i64, CallError> {
    height(lock, city)
}

fn main() {}
