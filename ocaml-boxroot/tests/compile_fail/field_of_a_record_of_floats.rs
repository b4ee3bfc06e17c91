//! A record of floats has numbers in its fields, and no values.

use ocaml_boxroot::{ocaml_type, DomainLock, OCamlFloat, RootRef};

ocaml_type! {
    struct Point { x: OCamlFloat, y: OCamlFloat }
}

fn wrong(lock: &DomainLock, point: &RootRef<Point>) -> f64 {
    point.get(lock).at(Point::x).to_float()
}

fn main() {}
