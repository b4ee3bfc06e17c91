//! The crate `ocaml-interop` with this project's roots. There is one test, because a process has
//! one OCaml runtime.

mod callbacks;
mod exceptions;
#[path = "../library.rs"]
mod library;
mod roots;
mod shutdown;
mod threads;
#[path = "../words/ocaml_interop.rs"]
mod words;

use ocaml_interop::{BoxRoot, OCaml, OCamlInt, OCamlRuntime, ToOCaml};

/// The OCaml side: `stress.ml` and `program.ml`.
mod ocaml_side {
    use ocaml_interop::{ocaml, OCamlFloat, OCamlInt};

    ocaml! {
        pub fn minor(unit: ());
        pub fn stress(unit: ());
        pub fn counted(s: String) -> String;
        pub fn collected(unit: ()) -> OCamlInt;
        pub fn concat(a: String, b: OCamlInt, c: String, d: OCamlInt) -> String;
        pub fn adder(n: OCamlInt) -> fn(OCamlInt) -> OCamlInt;
        pub fn fails(s: String);
        pub fn fails_of(unit: ()) -> fn(String) -> ();
        pub fn apply_twice(n: OCamlInt) -> OCamlInt;
        pub fn nested(n: OCamlInt) -> OCamlInt;
        pub fn add_floats(a: OCamlFloat, b: OCamlFloat) -> OCamlFloat;
        pub fn catch_panic(s: String) -> String;
        pub fn in_threads(n: OCamlInt) -> OCamlInt;
        pub fn in_domains(n: OCamlInt) -> OCamlInt;
        pub fn boxes(n: OCamlInt) -> bool;
    }
}

fn minor(cr: &mut OCamlRuntime) {
    ocaml_side::minor(cr, &OCaml::unit());
}

fn stress(cr: &mut OCamlRuntime) {
    ocaml_side::stress(cr, &OCaml::unit());
    library::validate();
}

fn collected(cr: &mut OCamlRuntime) -> i64 {
    ocaml_side::collected(cr, &OCaml::unit()).to_rust(cr)
}

/// Calls a function on numbers.
fn call_int(
    cr: &mut OCamlRuntime,
    f: fn(&mut OCamlRuntime, ocaml_interop::OCamlRef<OCamlInt>) -> BoxRoot<OCamlInt>,
    n: i32,
) -> i64 {
    f(cr, &OCaml::of_i32(n)).to_rust(cr)
}

/// Roots of the strings `first`, `first` + 1, …
fn numbered(cr: &mut OCamlRuntime, first: usize, n: usize) -> Vec<BoxRoot<String>> {
    (first..first + n).map(|i| i.to_string().to_boxroot(cr)).collect()
}

fn check_numbered(cr: &OCamlRuntime, roots: &[BoxRoot<String>], first: usize) {
    for (i, root) in roots.iter().enumerate() {
        assert_eq!(root.get(cr).as_str(), (first + i).to_string());
    }
}

type Scenario = (&'static str, fn(&mut OCamlRuntime));

#[test]
fn ocaml_interop_on_our_roots() {
    let guard = OCamlRuntime::init().expect("a runtime");
    let with_lock: [Scenario; 12] = [
        ("many roots", roots::many),
        ("keep", roots::keep),
        ("dropped roots are collected", roots::dropped_are_collected),
        ("structured values", roots::structured),
        ("calls of OCaml", callbacks::calls),
        ("closures", callbacks::closures),
        ("calls of Rust", callbacks::called_back),
        ("exceptions as results", exceptions::results),
        ("exceptions as panics", exceptions::panics),
        ("panics as exceptions", exceptions::panics_in_rust),
        ("threads and domains of OCaml", threads::of_ocaml),
        ("roots in finalisers", threads::finalisers),
    ];
    for (name, scenario) in with_lock {
        println!("{name}");
        OCamlRuntime::with_domain_lock(|cr| {
            scenario(cr);
            stress(cr);
            assert_eq!(library::live_roots(), 0, "{name}: roots are left over");
        });
    }
    println!("the program of our guide");
    assert_eq!(words::words("b a b"), [("a".to_string(), 1), ("b".to_string(), 2)]);
    assert!(std::panic::catch_unwind(|| words::words("")).is_err());
    println!("threads of Rust");
    threads::of_rust();
    println!("roots without the lock");
    threads::without_the_lock();
    println!("shutdown");
    shutdown::shutdown(guard);
}
