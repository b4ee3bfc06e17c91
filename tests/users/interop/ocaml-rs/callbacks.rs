//! Calls from Rust to OCaml and back, with roots in every frame.

use crate::{call, minor, numbered, stress, string};
use ocaml::{Error, Int, Runtime, ToValue, Value};

#[ocaml::func(gc)]
pub fn rust_apply(f: Value, n: Int) -> Result<Int, Error> {
    let f = ocaml::function!(f, (n: Int) -> Int);
    let witness = "witness".to_value(gc);
    let result = f(gc, &n)?;
    minor(gc);
    assert_eq!(string(&witness), "witness");
    Ok(result + 1)
}

#[ocaml::func(gc)]
pub fn rust_nested(n: Int) -> Result<Int, Error> {
    let witness = n.to_string().to_value(gc);
    let rest = call!(nested(gc, n - 1))?;
    assert_eq!(string(&witness), n.to_string());
    Ok(n + rest)
}

pub fn calls(gc: &Runtime) {
    let strings = numbered(gc, 0, 1000);
    for (i, s) in strings.iter().enumerate() {
        let n = i as Int;
        let result = call!(concat(gc, s.clone(), n, strings[0].clone(), n));
        if i % 100 == 0 {
            minor(gc);
        }
        assert_eq!(result.expect("no exception"), format!("{i},{i},0,{i}"));
    }
}

/// Rust owns OCaml closures, which move like other values.
pub fn closures(gc: &Runtime) {
    let adders: Vec<Value> =
        (0..5000).map(|n| call!(adder(gc, n)).expect("no exception")).collect();
    stress(gc);
    for (n, adder) in adders.iter().enumerate() {
        let adder = ocaml::function!(adder, (m: Int) -> Int);
        assert_eq!(adder(gc, &1).expect("no exception"), n as Int + 1);
    }
}

pub fn called_back(gc: &Runtime) {
    for n in 0..200 {
        assert_eq!(call!(apply_twice(gc, n)).expect("no exception"), 2 * n + 2);
    }
    assert_eq!(call!(nested(gc, 500)).expect("no exception"), 500 * 501 / 2);
}
