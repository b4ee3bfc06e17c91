//! A field belongs to its record, and has its type.

use ocaml_boxroot::{ocaml_type, DomainLock, OCamlInt, OCamlString, RootRef};

ocaml_type! {
    struct City { name: OCamlString, height: OCamlInt }
    struct Person { age: OCamlInt }
}

fn wrong(lock: &DomainLock, person: &RootRef<Person>) -> String {
    person.get(lock).at(City::name).to_string_lossy()
}

fn main() {}
