use crate::calls::{name_of, raise_nth};
use crate::common::exported::{assert_no_roots, churn, with_ocaml};
use crate::common::values::THROWN;
use ocaml_boxroot::{
    CallError, DomainLock, Error, Exception, OCamlInt, OCamlString, Runtime, ToOCaml,
};

fn raised(lock: &mut DomainLock, n: isize) -> Exception {
    match raise_nth(lock, n) {
        Err(CallError::Exception(exception)) => exception,
        other => panic!("{other:?}"),
    }
}

pub fn exceptions_are_told_apart() {
    with_ocaml(|lock| {
        let names = ["Not_found", "Parse_error", "Quiet", "Failure"];
        for (i, name) in names.iter().enumerate() {
            let exception = raised(lock, i as isize);
            churn(lock);
            for other in names {
                assert_eq!(exception.is(lock, other), other == *name);
            }
            assert!(!exception.is(lock, "no such name") && !exception.is(lock, "churn"));
        }
        let parse_error = raised(lock, 1);
        // SAFETY: Parse_error has arguments of these types.
        unsafe {
            let text = parse_error.argument::<OCamlString>(lock, 0).unwrap().unwrap();
            let place = parse_error.argument::<OCamlInt>(lock, 1).unwrap().unwrap();
            assert!(parse_error.argument::<()>(lock, 2).unwrap().is_none());
            assert!(raised(lock, 2).argument::<()>(lock, 0).unwrap().is_none());
            assert_eq!(text.get(lock).as_str(), Ok("expected ;"));
            assert_eq!(place.get(lock).to_int(), 17);
        }
        raise_nth(lock, 100).unwrap();
    });
    assert_no_roots();
}

pub fn exception_texts_are_whole() {
    with_ocaml(|lock| {
        let text = |lock: &mut DomainLock, n| raised(lock, n).text().to_string();
        assert_eq!(text(lock, 0), "Not_found");
        let name = text(lock, 1);
        assert!(name.ends_with("Parse_error(\"expected ;\", 17)"), "{name}");
        assert_eq!(text(lock, 3), format!("Failure(\"{}\")", "x".repeat(1000)));
        let failed = text(lock, 4);
        assert!(
            failed.starts_with("Assert_failure(\"") && failed.contains("values.ml\", "),
            "{failed}"
        );
        assert_eq!(text(lock, 5), "Invalid_argument(\"a\0b\")");
        assert!(text(lock, 6).ends_with("Wraps(_)"));
        assert_eq!(text(lock, 7), "Division_by_zero");
    })
}

/// The name of the exception that OCaml sees when Rust returns this one as an error.
fn thrown(lock: &mut DomainLock, exception: Exception) -> String {
    *THROWN.lock().unwrap() = Some(exception);
    churn(lock);
    name_of(lock).unwrap()
}

pub fn exceptions_from_rust() {
    with_ocaml(|lock| {
        let exception = Exception::not_found(lock).unwrap();
        assert_eq!(thrown(lock, exception), "Not_found");
        let exception = Exception::end_of_file(lock).unwrap();
        assert_eq!(thrown(lock, exception), "End_of_file");
        let exception = Exception::invalid_argument(lock, "a\0b").unwrap();
        assert_eq!(thrown(lock, exception), "Invalid_argument a\0b");
        let text: ocaml_boxroot::Boxroot<OCamlString> = "here".to_ocaml(lock).unwrap();
        let place: ocaml_boxroot::Boxroot<OCamlInt> = 3.to_ocaml(lock).unwrap();
        // SAFETY: Parse_error and Quiet have arguments of these types.
        let (parse_error, quiet) = unsafe {
            (
                Exception::new(lock, "Parse_error", &[text.as_any(), place.as_any()]).unwrap(),
                Exception::new(lock, "Quiet", &[]).unwrap(),
            )
        };
        assert!(parse_error.is(lock, "Parse_error"));
        assert_eq!(thrown(lock, parse_error), "Parse_error here 3");
        assert_eq!(thrown(lock, quiet), "Quiet");
        // SAFETY: there is no exception of this name, so the call is refused.
        let missing = unsafe { Exception::new(lock, "none", &[]) };
        assert_eq!(missing.err(), Some(Error::NotRegistered("none".into())));
        // SAFETY: the name is that of a value that is no exception, so the call is refused.
        let no_exception = unsafe { Exception::new(lock, "raise_nth", &[]) };
        assert_eq!(no_exception.err(), Some(Error::NotRegistered("raise_nth".into())));
    })
}

pub fn exception_texts_anywhere() {
    let exception = with_ocaml(|lock| {
        let exception = raised(lock, 3);
        assert!(exception.to_string().contains("xxx"), "under the lock");
        exception
    });
    let text = exception.to_string();
    assert!(text.starts_with("OCaml exception: Failure(\"xxx"), "without the lock");
    let copy = exception.clone();
    std::thread::spawn(move || {
        assert_eq!(copy.to_string(), text, "on another thread");
        DomainLock::attach(|_| assert_eq!(copy.to_string(), text)).unwrap();
    })
    .join()
    .unwrap();
    assert!(Runtime::start().is_err());
    drop(exception);
    assert_no_roots();
}
