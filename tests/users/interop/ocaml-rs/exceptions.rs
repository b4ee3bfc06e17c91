//! OCaml exceptions in Rust, and Rust errors in OCaml.

use crate::{call, check_numbered, numbered, stress};
use ocaml::{CamlError, Error, Runtime, Value};

/// The exception in a failed call. The crate roots it with `create` and `modify`.
fn exception(result: Result<(), Error>) -> Value {
    match result {
        Err(Error::Caml(CamlError::Exception(exception))) => exception,
        _ => panic!("an exception was expected"),
    }
}

fn text(exception: &Value) -> String {
    // SAFETY: an exception, and the lock is held.
    unsafe { exception.exception_to_string() }.expect("UTF-8")
}

pub fn results(gc: &Runtime) {
    let kept = numbered(gc, 0, 1000);
    let exceptions: Vec<Value> =
        (0..1000).map(|i| exception(call!(fails(gc, i.to_string())))).collect();
    let not_found = exception(call!(fails(gc, String::new())));
    stress(gc);
    for (i, exception) in exceptions.iter().enumerate() {
        assert_eq!(text(exception), format!("Failure(\"{i}\")"));
    }
    assert_eq!(text(&not_found), "Not_found");
    check_numbered(&kept, 0);
}

#[ocaml::func(gc)]
pub fn rust_fails(message: String) -> Result<String, Error> {
    let _dropped_by_the_error = numbered(gc, 0, 100);
    call!(fails(gc, message))?;
    Ok("no error".to_string())
}

/// `?` passes an OCaml exception through Rust, back to OCaml.
pub fn errors_in_rust(gc: &Runtime) {
    let kept = numbered(gc, 0, 1000);
    for i in 0..100 {
        let answer = call!(catch_failure(gc, i.to_string())).expect("no exception");
        assert_eq!(answer, format!("Failure {i}"));
    }
    stress(gc);
    check_numbered(&kept, 0);
}
