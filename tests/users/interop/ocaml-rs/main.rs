//! The crate `ocaml` with this project's roots. There is one test, because a process has one OCaml
//! runtime.
//!
//! A panic while a `Runtime` is alive becomes an OCaml exception. So a failing assertion ends the
//! process, with its message.

mod callbacks;
mod exceptions;
#[path = "../library.rs"]
mod library;
mod roots;
#[path = "../signatures.rs"]
mod signatures;
mod threads;
#[path = "../words/ocaml_rs.rs"]
mod words;

use ocaml::{FromValue, Runtime, ToValue, Value};

/// The OCaml side: `stress.ml` and `program.ml`.
mod ocaml_side {
    ocaml::import! {
        pub fn minor();
        pub fn stress();
        pub fn counted(s: ocaml::Value) -> ocaml::Value;
        pub fn collected() -> ocaml::Int;
        pub fn concat(a: ocaml::Value, b: ocaml::Int, c: ocaml::Value, d: ocaml::Int) -> String;
        pub fn adder(n: ocaml::Int) -> ocaml::Value;
        pub fn fails(s: String);
        pub fn apply_twice(n: ocaml::Int) -> ocaml::Int;
        pub fn nested(n: ocaml::Int) -> ocaml::Int;
        pub fn catch_failure(s: String) -> String;
        pub fn in_threads(n: ocaml::Int) -> ocaml::Int;
        pub fn boxes(n: ocaml::Int) -> bool;
    }
}

/// Calls a function of the OCaml side.
macro_rules! call {
    ($name:ident($gc:expr $(, $argument:expr)*)) => {
        // SAFETY: the lock is held, as `$gc` says, and the declared types are those of OCaml.
        unsafe { $crate::ocaml_side::$name($gc $(, $argument)*) }
    };
}
pub(crate) use call;

fn minor(gc: &Runtime) {
    call!(minor(gc)).expect("no exception");
}

fn stress(gc: &Runtime) {
    call!(stress(gc)).expect("no exception");
    library::validate();
}

/// Roots of the strings `first`, `first` + 1, …
fn numbered(gc: &Runtime, first: usize, n: usize) -> Vec<Value> {
    (first..first + n).map(|i| i.to_string().to_value(gc)).collect()
}

fn string(value: &Value) -> String {
    String::from_value(value.clone())
}

fn check_numbered(roots: &[Value], first: usize) {
    for (i, root) in roots.iter().enumerate() {
        assert_eq!(string(root), (first + i).to_string());
    }
}

type Scenario = (&'static str, fn(&Runtime));

#[test]
fn ocaml_on_our_roots() {
    let gc = ocaml::init();
    let scenarios: [Scenario; 11] = [
        ("many roots", roots::many),
        ("modify", roots::modify),
        ("dropped roots are collected", roots::dropped_are_collected),
        ("structured values", roots::structured),
        ("roots in finalisers", roots::finalisers),
        ("calls of OCaml", callbacks::calls),
        ("closures", callbacks::closures),
        ("calls of Rust", callbacks::called_back),
        ("threads of OCaml", threads::of_ocaml),
        ("threads of Rust", threads::of_rust),
        ("exceptions as results", exceptions::results),
    ];
    for (name, scenario) in scenarios {
        println!("{name}");
        scenario(&gc);
        stress(&gc);
        assert_eq!(library::live_roots(), 0, "{name}: roots are left over");
    }
    println!("results as exceptions");
    exceptions::errors_in_rust(&gc);
    println!("the program of our guide");
    let counts = words::words(&gc, "b a b").expect("no exception");
    assert_eq!(counts, [("a".to_string(), 1), ("b".to_string(), 2)]);
    assert!(words::words(&gc, "").is_err());
    println!("roots without the lock");
    threads::without_the_lock(&gc);
}
