//! OCaml exceptions in Rust, and Rust panics in OCaml. Live roots survive both. Both drop the roots
//! in the frames that they leave.

use crate::{check_numbered, numbered, ocaml_side, stress};
use ocaml_interop::{OCaml, OCamlRuntime, ToOCaml};
use std::panic::{catch_unwind, AssertUnwindSafe};

#[ocaml_interop::export]
fn rust_panic(cr: &mut OCamlRuntime, message: OCaml<String>) -> OCaml<()> {
    let message: String = message.to_rust();
    let _dropped_by_the_panic = numbered(cr, 0, 100);
    assert!(message.is_empty(), "{message}");
    OCaml::unit()
}

pub fn results(cr: &mut OCamlRuntime) {
    let fails = ocaml_side::fails_of(cr, &OCaml::unit());
    let kept = numbered(cr, 0, 1000);
    let mut exceptions = Vec::new();
    for i in 0..1000 {
        let message = i.to_string();
        let exception = fails.try_call(cr, &message).err().expect("an exception");
        assert_eq!(exception.message(), Some(message));
        exceptions.push(exception.root());
    }
    let not_found = fails.try_call(cr, &String::new()).err().expect("Not_found");
    assert_eq!(not_found.message(), None);
    stress(cr);
    for (i, exception) in exceptions.iter().enumerate() {
        assert_eq!(exception.get(cr).message(), Some(i.to_string()));
    }
    check_numbered(cr, &kept, 0);
}

/// A function declared with `ocaml!` panics if OCaml raises; unwinding drops roots.
pub fn panics(cr: &mut OCamlRuntime) {
    let kept = numbered(cr, 0, 1000);
    for _ in 0..20 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _dropped_by_the_panic = numbered(cr, 0, 100);
            let message = "as expected".to_boxroot(cr);
            ocaml_side::fails(cr, &message);
        }));
        let panic = outcome.expect_err("a panic");
        let text = panic.downcast_ref::<String>().expect("a message");
        assert!(text.contains("as expected"), "{text}");
    }
    stress(cr);
    check_numbered(cr, &kept, 0);
}

pub fn panics_in_rust(cr: &mut OCamlRuntime) {
    let kept = numbered(cr, 0, 1000);
    for i in 0..20 {
        let message = i.to_string().to_boxroot(cr);
        let answer: String = ocaml_side::catch_panic(cr, &message).to_rust(cr);
        assert_eq!(answer, format!("RustPanic {i}"));
    }
    stress(cr);
    check_numbered(cr, &kept, 0);
}
