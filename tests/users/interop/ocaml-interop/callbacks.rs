//! Calls from Rust to OCaml and back, with roots in every frame.

use crate::{call_int, minor, numbered, ocaml_side, stress};
use ocaml_interop::{BoxRoot, OCaml, OCamlInt, OCamlRuntime, ToOCaml};

#[ocaml_interop::export]
fn rust_apply(
    cr: &mut OCamlRuntime,
    f: BoxRoot<fn(OCamlInt) -> OCamlInt>,
    n: OCaml<OCamlInt>,
) -> OCaml<OCamlInt> {
    let n = n.to_i64();
    let witness: BoxRoot<String> = "witness".to_boxroot(cr);
    let result: i64 = f.try_call(cr, &n).ok().expect("no exception").to_i64();
    minor(cr);
    assert_eq!(witness.get(cr).as_str(), "witness");
    (result + 1).to_ocaml(cr)
}

#[ocaml_interop::export]
fn rust_nested(cr: &mut OCamlRuntime, n: BoxRoot<OCamlInt>) -> OCaml<OCamlInt> {
    let n: i64 = n.to_rust(cr);
    let witness: BoxRoot<String> = n.to_string().to_boxroot(cr);
    let rest = call_int(cr, ocaml_side::nested, n as i32 - 1);
    assert_eq!(witness.to_rust::<String>(cr), n.to_string());
    (n + rest).to_ocaml(cr)
}

#[ocaml_interop::export(noalloc)]
fn rust_add_floats(_cr: &OCamlRuntime, a: f64, b: f64) -> f64 {
    a + b
}

pub fn calls(cr: &mut OCamlRuntime) {
    let strings = numbered(cr, 0, 1000);
    for (i, string) in strings.iter().enumerate() {
        let n = OCaml::of_i32(i as i32);
        let result = ocaml_side::concat(cr, string, &n, &strings[0], &n);
        if i % 100 == 0 {
            minor(cr);
        }
        assert_eq!(result.to_rust::<String>(cr), format!("{i},{i},0,{i}"));
    }
    let (a, b) = (1.5.to_boxroot(cr), 2.25.to_boxroot(cr));
    assert_eq!(ocaml_side::add_floats(cr, &a, &b).to_rust::<f64>(cr), 3.75);
}

/// Rust owns OCaml closures, which move like other values.
pub fn closures(cr: &mut OCamlRuntime) {
    let adders: Vec<_> = (0..5000).map(|n| ocaml_side::adder(cr, &OCaml::of_i32(n))).collect();
    stress(cr);
    for (n, adder) in adders.iter().enumerate() {
        let sum = adder.try_call(cr, &1i64).ok().expect("no exception").to_i64();
        assert_eq!(sum, n as i64 + 1);
    }
}

pub fn called_back(cr: &mut OCamlRuntime) {
    for n in 0..200 {
        assert_eq!(call_int(cr, ocaml_side::apply_twice, n), 2 * i64::from(n) + 2);
    }
    assert_eq!(call_int(cr, ocaml_side::nested, 500), 500 * 501 / 2);
}
