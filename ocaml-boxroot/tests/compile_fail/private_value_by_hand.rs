//! Only OCaml makes values of private types.

use ocaml_boxroot::type_support::{make, part};
use ocaml_boxroot::{bound_type, Boxroot, DomainLock, OCamlInt};

struct Index {
    #[allow(dead_code)]
    n: isize,
}

bound_type! { pub private record OCamlIndex for Index { 0 n: OCamlInt } }

fn index(lock: &mut DomainLock, n: isize) -> Boxroot<OCamlIndex> {
    make::<OCamlIndex, 0, 1>(lock, &[part::<_, 0, 0, _, _>(&n, "n")]).unwrap()
}

fn main() {}
