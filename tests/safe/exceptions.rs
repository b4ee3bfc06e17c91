//! Exceptions, errors and panics.

use crate::functions::{name_of, raise_nth};
use crate::support::exported::Run;
use crate::support::safe::*;
use crate::support::values::THROWN;
use ocaml_boxroot::debug::{locate_panics, stats};
use ocaml_boxroot::exceptions::{
    DivisionByZero, EndOfFile, Failure, InvalidArgument, NotFound, OutOfMemory, StackOverflow,
    SysError,
};
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    ocaml_functions, AttachError, Boxroot, CallError, DomainLock, Error, Exception, Function,
    OCamlInt, OCamlString, Runtime, ToOCaml, Value,
};
use ocaml_boxroot_sys as sys;
use std::error::Error as StdError;
use std::panic::{catch_unwind, panic_any, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fmt, io, thread};

test!(panics_become_exceptions, || {
    extern "C" fn body(argument: sys::Value) -> sys::Value {
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                let kept = string(lock, "dropped by the panic");
                churn(lock);
                panic!("argument {} and {}", argument >> 1, kept.get(lock).to_string_lossy())
            })
        }
    }
    with_ocaml(|lock| {
        let error = call_back(lock, body).unwrap_err();
        assert_eq!(error, "OCaml exception: Failure(\"argument 5 and dropped by the panic\")");
        assert_eq!(stats().live_roots, 0);
        assert_eq!(call_back(lock, body).unwrap_err(), error, "and again");
    })
});

test!(places_of_panics, || {
    with_ocaml(|lock| {
        let panics: Run = |_, _| panic!("no order");
        let text =
            |lock: &mut DomainLock, run| ocaml(lock, "run", 7, run).unwrap_err().text().to_string();
        let (start, end) = (format!("Failure(\"no order, at {}:", file!()), "\")");
        assert_eq!(text(lock, panics), "Failure(\"no order\")");
        for _ in 0..2 {
            locate_panics();
            let located = text(lock, panics);
            assert!(located.starts_with(&start) && located.ends_with(end), "{located}");
        }
        // An exception that the program catches leaves no trace in a later failure.
        let caught: Run = |_, _| {
            catch_unwind(|| panic!("caught")).unwrap_err();
            Err("an error".into())
        };
        assert_eq!(text(lock, caught), "Failure(\"an error\")");
        let located = text(lock, panics);
        assert!(located.starts_with(&start), "{located}");
    })
});

test!(exhausted_stack_does_not_unwind_rust, environment = &[("OCAMLRUNPARAM", "l=4k")], || {
    static ENTERED: AtomicUsize = AtomicUsize::new(0);
    static LEFT: AtomicUsize = AtomicUsize::new(0);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            LEFT.fetch_add(1, Ordering::SeqCst);
        }
    }
    // OCaml calls this at every depth of a recursion, even when OCaml's stack has no room left.
    extern "C" fn body(_: sys::Value) -> sys::Value {
        // SAFETY: called from OCaml through test_call.
        unsafe {
            DomainLock::enter(|lock| {
                ENTERED.fetch_add(1, Ordering::SeqCst);
                let _guard = Guard;
                let f: Boxroot<Function<(OCamlInt,), OCamlString>> = function(lock, "string");
                let n = Boxroot::new(lock, Value::int(1));
                let _ = f.call(lock, &n).is_ok();
                Value::int(0).raw()
            })
        }
    }
    let runtime = start();
    DomainLock::with(|lock| {
        let deep: Boxroot<Function<(OCamlInt, OCamlInt), OCamlInt>> = function(lock, "deep");
        let address = Boxroot::new(lock, Value::int(body as *const () as isize));
        let depth = Boxroot::new(lock, Value::int(9000));
        deep.call(lock, &address, &depth).unwrap();
        drop((deep, address, depth));
        assert_eq!(ENTERED.load(Ordering::SeqCst), LEFT.load(Ordering::SeqCst));
        assert_eq!(stats().live_roots, 0);
    })
    .unwrap();
    runtime.shutdown().unwrap();
});

fn raised(lock: &mut DomainLock, n: isize) -> Exception {
    match raise_nth(lock, n) {
        Err(CallError::Exception(exception)) => exception,
        other => panic!("{other:?}"),
    }
}

test!(exceptions_are_told_apart, || {
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
});

test!(exception_texts_are_whole, || {
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
});

// In the order of `raise_predefined`.
const PREDEFINED: [&str; 12] = [
    "Out_of_memory",
    "Sys_error",
    "Failure",
    "Invalid_argument",
    "End_of_file",
    "Division_by_zero",
    "Not_found",
    "Match_failure",
    "Stack_overflow",
    "Sys_blocked_io",
    "Assert_failure",
    "Undefined_recursive_module",
];

test!(predefined_exceptions_are_told_apart, || {
    with_ocaml(|lock| {
        let raise: Boxroot<Function<(OCamlInt,), ()>> = function(lock, "raise_predefined");
        for (i, name) in PREDEFINED.iter().enumerate() {
            let n = i.to_ocaml(lock).unwrap();
            let exception = raise.call(lock, &n).map(drop).unwrap_err();
            for other in PREDEFINED {
                assert_eq!(exception.is(lock, other), other == *name, "{name} and {other}");
            }
            let arguments = match *name {
                "Sys_error" | "Failure" | "Invalid_argument" => "(\"no\")",
                "Match_failure" | "Assert_failure" | "Undefined_recursive_module" => {
                    "(\"a.ml\", 1, 2)"
                }
                _ => "",
            };
            assert_eq!(exception.text(), format!("{name}{arguments}"));
            let parts = [&name[1..], &name[..name.len() - 1], &name.to_lowercase()];
            assert!(!parts.iter().any(|part| exception.is(lock, part)), "{name}");
            assert!(!exception.is(lock, &format!("{name}\0")) && !exception.is(lock, ""));
        }
        // One exception was also registered under the name of a predefined one.
        let quiet = raised(lock, 2);
        assert!(quiet.is(lock, "Quiet") && !quiet.is(lock, "Sys_blocked_io"));
    });
    assert_no_roots();
});

// Each goes to OCaml as an exception and as an error, and comes back only as itself.
test!(predefined_exceptions_are_errors, forbid(unsafe_code), || {
    macro_rules! there_and_back {
        ($lock:ident: $($type:ident $text:literal $made:expr;)*) => {$(
            let made: $type = $made;
            assert_eq!(made.to_string(), $text);
            let errors: [Run; 5] = [
                |_, _| Err($made.into()),
                |lock, _| Err($made.exception(lock)?.into()),
                |_, _| Err(Context(Arc::new($made).into()).into()),
                |_, _| Err(io::Error::other(io::Error::other($made)).into()),
                |_, _| Err(Box::<dyn StdError>::from(Box::new($made))),
            ];
            for error in errors {
                let error = ocaml($lock, "run", 0, error).map(drop).unwrap_err();
                churn_a_little($lock);
                let mut found = Vec::new();
                there_and_back! { @found $lock error found
                    NotFound EndOfFile DivisionByZero StackOverflow OutOfMemory
                    Failure InvalidArgument SysError
                }
                assert_eq!(found, [stringify!($type)]);
                assert_eq!($type::of($lock, &error).unwrap(), Some(made.clone()));
                assert_eq!($type::of($lock, &Error::from(error)).unwrap(), Some(made.clone()));
            }
        )*};
        (@found $lock:ident $error:ident $found:ident $($type:ident)*) => {$(
            if $type::of($lock, &$error).unwrap().is_some() {
                $found.push(stringify!($type));
            }
        )*};
    }
    with_ocaml(|lock| {
        there_and_back! { lock:
            NotFound "Not_found" NotFound;
            EndOfFile "End_of_file" EndOfFile;
            DivisionByZero "Division_by_zero" DivisionByZero;
            StackOverflow "Stack_overflow" StackOverflow;
            OutOfMemory "Out_of_memory" OutOfMemory;
            Failure "no tea" Failure("no tea".to_string());
            InvalidArgument "a\0b" InvalidArgument("a\0b".to_string());
            SysError "" SysError(String::new());
        }
        // Other errors are not predefined exceptions.
        let attach = CallError::from(AttachError::NotSetup);
        assert_eq!(NotFound::of(lock, &attach).unwrap(), None);
        // The text of a chain contains each part once.
        let context = Context(Failure("no tea".into()).into());
        assert_eq!(chain(&context), ["while serving", "no tea", "OCaml's exception Failure"]);
    });
    assert_no_roots();
});

const RECORDED: &[(&str, &str)] = &[("OCAMLRUNPARAM", "b")];

test!(backtraces_of_exceptions, environment = RECORDED, || {
    let kept = with_ocaml(|lock| {
        let lines = |exception: &Exception, lock: &DomainLock| -> Vec<String> {
            let text = exception.backtrace(lock).unwrap_or_default();
            text.lines().map(String::from).collect()
        };
        // It is this exception's backtrace, even if other OCaml code runs before Rust asks for it.
        let (first, second) = (raised(lock, 0), raised(lock, 1));
        churn(lock);
        let (first_lines, second_lines) = (lines(&first, lock), lines(&second, lock));
        for found in [&first_lines, &second_lines] {
            assert!(found[0].starts_with("Raised at "), "{found:?}");
            assert!(found[0].contains("values.ml\", line "), "{found:?}");
        }
        assert_ne!(first_lines, second_lines);
        let by_c = lines(&raised(lock, 8), lock);
        assert!(by_c[0].starts_with("Raised by primitive operation at "), "{by_c:?}");
        // An exception that was made in Rust, or raised by `raise_notrace`, has none.
        assert_eq!(EndOfFile.exception(lock).unwrap().backtrace(lock), None);
        let quietly: Boxroot<Function<(), ()>> = function(lock, "raise_quietly");
        churn_a_little(lock);
        let _other = raised(lock, 1);
        let quiet = quietly.call(lock).map(drop).unwrap_err();
        assert_eq!(quiet.backtrace(lock), None);
        // OCaml records the callers, up to a limit.
        let deep: Boxroot<Function<(OCamlInt,), ()>> = function(lock, "raise_deep");
        for (n, range) in [(10, 10..=12), (5000, 1000..=1024)] {
            let n = n.to_ocaml(lock).unwrap();
            let found = lines(&deep.call(lock, &n).map(drop).unwrap_err(), lock);
            assert!(found[1].starts_with("Called from "), "{found:?}");
            assert!(range.contains(&found.len()), "{}", found.len());
        }
        (first, first_lines)
    });
    let (exception, lines) = kept;
    let copy = exception.clone();
    drop(exception);
    let elsewhere = thread::spawn(move || {
        DomainLock::with(|lock| copy.backtrace(lock).unwrap().lines().eq(lines)).unwrap()
    });
    assert!(elsewhere.join().unwrap());
    assert_no_roots();
});

test!(backtraces_are_not_recorded, || {
    with_ocaml(|lock| {
        for n in 0..=7 {
            assert_eq!(raised(lock, n).backtrace(lock), None);
        }
        // OCaml code may switch backtraces on and off at any time.
        let record: Boxroot<Function<(bool,), ()>> = function(lock, "record_backtrace");
        for recorded in [true, false] {
            let flag = recorded.to_ocaml(lock).unwrap();
            record.call(lock, &flag).unwrap();
            assert_eq!(raised(lock, 1).backtrace(lock).is_some(), recorded);
        }
    })
});

// OCaml 5 drops the first part when C raises: see `caml_raise_exn`.
test!(backtraces_pass_through_rust, ocaml = 4, environment = RECORDED, || {
    with_ocaml(|lock| {
        let backtrace_of: Boxroot<Function<(OCamlInt,), OCamlString>> =
            function(lock, "backtrace_of");
        let text = backtrace_of.call_converting::<String>(lock, 0).unwrap();
        let direct = raised(lock, 0).backtrace(lock).unwrap();
        assert_eq!(text.lines().next(), direct.lines().next());
    })
});

test!(registered_exceptions_have_names_of_any_length, || {
    with_ocaml(|lock| {
        let quiet = raised(lock, 2);
        for length in 0..=101 {
            let is_registered = [63, 64, 100].contains(&length);
            assert_eq!(quiet.is(lock, &"q".repeat(length)), is_registered, "{length}");
        }
        assert!(!quiet.is(lock, "Quiet\0") && !quiet.is(lock, "\0Quiet"));
        assert!(!quiet.is(lock, &("q".repeat(64) + "\0")));
    })
});

test!(exception_texts_of_any_length, || {
    /// The text of `Failure bytes`.
    fn failure(lock: &mut DomainLock, bytes: &[u8]) -> String {
        let fail: Boxroot<Function<(OCamlString,), ()>> = function(lock, "fail");
        let bytes = bytes.to_ocaml(lock).unwrap();
        let exception = fail.call(lock, &bytes).map(drop).unwrap_err();
        churn_a_little(lock);
        exception.text().to_string()
    }
    const ENDS: [&[u8]; 10] = [
        b"",
        "\u{e9}".as_bytes(),
        "\u{1f42b}".as_bytes(),
        b"\xff",
        b"\x80",
        b"\xe9t\xe9",
        b"\xe2\x82",       // the beginning of a character
        b"\xf0\x9f\x90",   // the same
        b"\xed\xa0\x80",   // a surrogate
        b"\xf0\x9f\x90\"", // a quote inside
    ];
    with_ocaml(|lock| {
        for length in (0..100).chain([255, 256, 257, 4096]) {
            for end in ENDS {
                let bytes = [&b"x".repeat(length), end].concat();
                let expected = format!("Failure(\"{}\")", String::from_utf8_lossy(&bytes));
                assert_eq!(failure(lock, &bytes), expected);
            }
            for n in [0, -1, isize::MAX >> 1, isize::MIN >> 1] {
                let text: Boxroot<OCamlString> = "x".repeat(length).to_ocaml(lock).unwrap();
                let place: Boxroot<OCamlInt> = n.to_ocaml(lock).unwrap();
                let arguments = [text.as_any(), place.as_any()];
                // SAFETY: Parse_error has arguments of these types.
                let exception = unsafe { Exception::new(lock, "Parse_error", &arguments) };
                let exception = exception.unwrap();
                // The runtime prints these, in 255 bytes.
                let whole = format!("Parse_error(\"{}\", {n})", "x".repeat(length));
                let text = exception.text();
                let begin = text.find("Parse_error").expect("a name");
                assert_eq!(text[begin..], whole[..whole.len().min(255 - begin)]);
            }
        }
    });
    assert_no_roots();
});

/// The name of the exception that OCaml sees when Rust returns this error.
fn thrown(lock: &mut DomainLock, error: impl StdError + Send + Sync + 'static) -> String {
    *THROWN.lock().unwrap() = Some(error.into());
    churn(lock);
    name_of(lock).unwrap()
}

test!(exceptions_from_rust, || {
    with_ocaml(|lock| {
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
        assert!(matches!(missing, Err(CallError::NotRegistered(name)) if &*name == "none"));
        for name in ["raise_nth", "an_object"] {
            // SAFETY: the name belongs to a value that is not an exception, so the call is refused.
            let no_exception = unsafe { Exception::new(lock, name, &[]) };
            assert!(
                matches!(no_exception, Err(CallError::NotRegistered(found)) if &*found == name)
            );
        }
    })
});

ocaml_functions! {
    unsafe {
        /// `exception Parse_error of string * int`
        #[derive(Clone, PartialEq)]
        pub exception ParseError { text: OCamlString as String, place: OCamlInt as u8 } = "Parse_error";
        /// `exception Quiet`
        #[derive(PartialEq)]
        exception Quiet = "Quiet";
    }
}

test!(declared_exceptions, || {
    type Any = Box<dyn StdError>;
    fn here() -> ParseError {
        ParseError { text: "here".into(), place: 3 }
    }
    with_ocaml(|lock| {
        let made = here().exception(lock).unwrap();
        assert_eq!(thrown(lock, made), "Parse_error here 3");
        assert_eq!(here().to_string(), r#"ParseError { text: "here", place: 3 }"#);
        // Functions that OCaml calls return them as they are, even as sources of other errors.
        let returned: &[Run] = &[
            |_, _| Err(here().into()),
            |_, _| Err(Context(here().into()).into()),
            |_, _| Err(Context(Context(here().into()).into()).into()),
        ];
        for (i, run) in returned.iter().enumerate() {
            let exception = ocaml(lock, "run", 0, *run).unwrap_err();
            churn_a_little(lock);
            assert_eq!(ParseError::of(lock, &exception).unwrap(), Some(here()), "{i}");
            assert_eq!(Quiet::of(lock, &exception).unwrap(), None);
        }
        let quiet = ocaml(lock, "run", 0, |_, _| Err(Quiet.into())).unwrap_err();
        assert_eq!(Quiet::of(lock, &quiet).unwrap(), Some(Quiet));
        // An error that hides the struct keeps only its text.
        let hidden = ocaml(lock, "run", 0, |_, _| Err(io::Error::other(here()).into()));
        assert!(hidden.unwrap_err().is(lock, "Failure"));
        // Exceptions are found in any error that has one among its sources.
        let exception = raised(lock, 1);
        let found = Some(ParseError { text: "expected ;".into(), place: 17 });
        let inside: [Any; 4] = [
            exception.clone().into(),
            CallError::from(exception.clone()).into(),
            Box::new(io::Error::other(exception.clone())),
            Context(Order(exception.clone().into()).into()).into(),
        ];
        for error in &inside {
            assert_eq!(ParseError::of(lock, error).unwrap(), found, "{error}");
            assert_eq!(ParseError::of(lock, &**error).unwrap(), found);
            assert!(NotFound::of(lock, error).unwrap().is_none());
        }
        let shared: Box<dyn StdError + Send + Sync> = exception.into();
        assert_eq!(ParseError::of(lock, &shared).unwrap(), found);
        assert_eq!(ParseError::of(lock, &*shared).unwrap(), found);
        let others: [Any; 3] = ["Parse_error".into(), Endless.into(), here().into()];
        for error in others {
            assert_eq!(ParseError::of(lock, &error).unwrap(), None, "{error}");
        }
        // The error names the argument that does not fit. SAFETY: Parse_error has arguments of
        // these types.
        let large = unsafe {
            let text = ToOCaml::<OCamlString>::to_ocaml("", lock).unwrap();
            let place = ToOCaml::<OCamlInt>::to_ocaml(&1000, lock).unwrap();
            Exception::new(lock, "Parse_error", &[text.as_any(), place.as_any()]).unwrap()
        };
        let error = ParseError::of(lock, &large).unwrap_err();
        assert!(error.to_string().starts_with("`place`: "), "{error}");
    });
    assert_no_roots();
});

test!(exception_texts_anywhere, || {
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
        DomainLock::with(|_| assert_eq!(copy.to_string(), text)).unwrap();
    })
    .join()
    .unwrap();
    assert!(Runtime::start().is_err());
    drop(exception);
    assert_no_roots();
});

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload's drop")
    }
}

// `unwrap` and `fn main() -> Result<(), ConversionError>` print errors with `Debug`.
test!(debug_of_errors_has_the_text, forbid(unsafe_code), || {
    let not_setup = "NotSetup: no OCaml runtime is running; start one with Runtime::start";
    assert_eq!(format!("{:?}", DomainLock::with(|_| ()).unwrap_err()), not_setup);
    assert_eq!(format!("{:?}", CallError::from(AttachError::NotSetup)), not_setup);
    with_ocaml(|lock| {
        let same = Function::<(OCamlInt,), OCamlInt>::from_rust(lock, |lock, n| {
            Ok(n.to_rust::<i64>(lock)?)
        });
        let error = same.unwrap().call_converting::<u8>(lock, 300).unwrap_err();
        assert!(format!("{error:?}").starts_with("OutOfRange: "), "{error:?}");
        assert!(format!("{error:?}").ends_with(&error.to_string()), "{error:?}");
        let exception = Failure("no tea".into()).exception(lock).unwrap();
        assert_eq!(format!("{:?}", CallError::from(exception)), "Exception(Failure(\"no tea\"))");
    });
});

test!(panic_with_a_payload_that_panics, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let exception = ocaml(lock, "run", 0, |_, _| panic_any(Bomb)).unwrap_err();
        assert!(exception.to_string().contains("a Rust function panicked"), "{exception}");
        assert_eq!(ocaml(lock, "run", 1, |_, _| Ok(())).unwrap(), 1);
    })
});

/// An error that panics in all its functions.
#[derive(Debug)]
struct Nasty {
    in_display: bool,
}

impl fmt::Display for Nasty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(!self.in_display, "in Display");
        f.write_str("nasty")
    }
}

impl std::error::Error for Nasty {}

impl Drop for Nasty {
    fn drop(&mut self) {
        assert!(self.in_display, "in Drop");
    }
}

test!(errors_that_panic, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let in_display = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: true }.into()));
        assert!(in_display.unwrap_err().to_string().contains("in Display"));
        let in_drop = ocaml(lock, "run", 0, |_, _| Err(Nasty { in_display: false }.into()));
        assert!(in_drop.unwrap_err().to_string().contains("in Drop"));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(errors_that_hold_roots, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        // The exception's only root is dropped before OCaml gets the exception.
        for _ in 0..1000 {
            let exception = ocaml(lock, "run", 0, |lock, _| {
                let fail = function::<(OCamlString,), ()>(lock, "fail");
                let message = string(lock, "kept by the exception");
                let exception = fail.call(lock, &message).map(|_| ()).unwrap_err();
                churn_a_little(lock);
                Err(exception.into())
            });
            churn_a_little(lock);
            assert!(exception.unwrap_err().to_string().contains("kept by the exception"));
        }
        assert_eq!(stats().live_roots, 0);
    })
});

test!(exceptions_outlive_the_runtime, forbid(unsafe_code), || {
    let texts = ["late".to_string(), "x".repeat(1000), "\u{e9}t\u{e9}".to_string()];
    let runtime = start();
    let (fail, exceptions) = DomainLock::with(|lock| {
        let fail = function::<(OCamlString,), ()>(lock, "fail");
        let exceptions = texts.clone().map(|text| {
            let message = string(lock, &text);
            fail.call(lock, &message).map(|_| ()).unwrap_err()
        });
        (fail, exceptions)
    })
    .unwrap();
    runtime.shutdown().unwrap();
    for (exception, text) in exceptions.iter().zip(texts) {
        let copy = exception.clone();
        assert!(copy.value().is_some() && copy.to_string().contains(&text));
        let elsewhere = thread::spawn(move || {
            assert_eq!(copy.text(), format!("Failure(\"{text}\")"));
            assert_eq!(copy.clone().text(), copy.text());
        });
        elsewhere.join().unwrap();
    }
    thread::spawn(move || drop((exceptions, fail))).join().unwrap();
});

test!(exceptions_are_shared_by_threads, forbid(unsafe_code), || {
    let exception = with_ocaml(|lock| raise_nth(lock, 1).unwrap_err());
    let CallError::Exception(exception) = exception else { panic!("{exception}") };
    let threads = [(); 4].map(|()| {
        let mine = exception.clone();
        thread::spawn(move || {
            let copies = vec![mine.clone(); 100];
            drop(mine);
            assert!(copies.iter().all(|copy| copy.text().ends_with("(\"expected ;\", 17)")));
        })
    });
    let last = exception.clone();
    drop(exception);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    DomainLock::with(|lock| {
        full_major(lock);
        assert!(last.is(lock, "Parse_error") && !last.is(lock, "Quiet"));
        assert_eq!(stats().live_roots, 1);
    })
    .unwrap();
    thread::spawn(move || drop(last)).join().unwrap();
    assert_no_roots();
});

test!(hooks_of_panics_attach, forbid(unsafe_code), || {
    static ANSWERS: Mutex<Vec<Result<(), AttachError>>> = Mutex::new(Vec::new());
    std::panic::set_hook(Box::new(|_| {
        ANSWERS.lock().unwrap().push(DomainLock::with(churn_a_little));
    }));
    with_ocaml(|lock| {
        let kept = strings(lock, 100);
        assert!(ocaml(lock, "run", 0, |_, _| panic!("in an export")).is_err());
        let f = Count::from_rust(lock, |_, _| -> Result<i32, _> { panic!("in a closure") });
        let (f, n) = (f.unwrap(), 7.to_ocaml(lock).unwrap());
        assert!(f.call(lock, &n).is_err());
        let panics = AssertUnwindSafe(|| lock.release(|| panic!("in a release")));
        assert!(catch_unwind(panics).is_err());
        check(lock, &kept);
    });
    let _ = std::panic::take_hook();
    assert_eq!(
        *ANSWERS.lock().unwrap(),
        [Err(AttachError::AlreadyHeld), Err(AttachError::AlreadyHeld), Ok(())]
    );
});

/// An error of the program, as `thiserror` derives it with `#[from] CallError`.
#[derive(Debug)]
struct Order(CallError);

/// The same with `#[error(transparent)]`: text and source are those of the inner error.
#[derive(Debug)]
struct Transparent(CallError);

/// A text around any error, like `anyhow`'s `context`.
#[derive(Debug)]
struct Context(Box<dyn StdError + Send + Sync>);

/// The texts of an error and its sources.
fn chain(error: &(dyn StdError + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect()
}

/// An error that is its own source.
#[derive(Debug)]
struct Endless;

impl From<CallError> for Order {
    fn from(error: CallError) -> Self {
        Order(error)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no order")
    }
}

impl StdError for Order {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Transparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Transparent {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("while serving")
    }
}

impl StdError for Context {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no end")
    }
}

impl StdError for Endless {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self)
    }
}

test!(exceptions_in_errors_of_the_program, || {
    type Any = Box<dyn StdError>;
    type Shared = Arc<dyn StdError + Send + Sync>;
    /// OCaml raises `Parse_error`, with arguments.
    fn call(lock: &mut DomainLock) -> Result<(), CallError> {
        raise_nth(lock, 1).map(|_| ())
    }
    fn error(lock: &mut DomainLock) -> CallError {
        call(lock).unwrap_err()
    }
    fn from(lock: &mut DomainLock) -> Result<(), Order> {
        Ok(call(lock)?)
    }
    let wrappers: &[(&str, Run)] = &[
        ("itself", |lock, _| Ok(call(lock)?)),
        ("#[from]", |lock, _| Ok(from(lock)?)),
        ("the sum", |lock, _| Err(Error::from(error(lock)).into())),
        ("an exception in the sum", |lock, _| match error(lock) {
            CallError::Exception(exception) => Err(Error::from(exception).into()),
            other => Err(other.into()),
        }),
        ("transparent", |lock, _| Err(Transparent(error(lock)).into())),
        ("transparent in #[from]", |lock, _| Err(Context(Transparent(error(lock)).into()).into())),
        ("Box of a type", |lock, _| Err(Box::new(error(lock)).into())),
        ("Box of an error", |lock, _| {
            Err(Box::<dyn StdError + Send + Sync>::from(error(lock)) as Any)
        }),
        ("Arc of a type", |lock, _| Err(Arc::new(error(lock)).into())),
        ("Arc of an error", |lock, _| Err(Any::from(Arc::new(error(lock)) as Shared))),
        ("Arc of #[from]", |lock, _| Err(Any::from(Arc::new(Order(error(lock))) as Shared))),
        ("io", |lock, _| Err(io::Error::other(error(lock)).into())),
        ("io in io", |lock, _| Err(io::Error::other(io::Error::other(error(lock))).into())),
        ("io of #[from]", |lock, _| Err(io::Error::other(Order(error(lock))).into())),
        ("context", |lock, _| Err(Context(error(lock).into()).into())),
        ("context of context", |lock, _| {
            Err(Context(Context(Arc::new(error(lock)).into()).into()).into())
        }),
        ("of Rust", |lock, _| {
            let text: Boxroot<OCamlString> = "expected ;".to_ocaml(lock)?;
            let place: Boxroot<OCamlInt> = 17.to_ocaml(lock)?;
            // SAFETY: Parse_error has arguments of these types.
            let made =
                unsafe { Exception::new(lock, "Parse_error", &[text.as_any(), place.as_any()]) };
            Err(io::Error::other(made?).into())
        }),
    ];
    with_ocaml(|lock| {
        for (name, wrapper) in wrappers {
            let exception = ocaml(lock, "run", 0, *wrapper).unwrap_err();
            churn_a_little(lock);
            assert!(exception.is(lock, "Parse_error"), "{name}: {exception}");
            assert!(exception.text().ends_with("Parse_error(\"expected ;\", 17)"), "{name}");
        }
        let endless = ocaml(lock, "run", 0, |_, _| Err(Endless.into())).unwrap_err();
        assert_eq!(endless.text(), "Failure(\"no end\")");
        let closure = Count::from_rust(lock, |lock, _| Ok(from(lock).map(|()| 0)?)).unwrap();
        let error = closure.call_converting::<i32>(lock, 0).unwrap_err();
        assert!(error.to_string().contains("Parse_error"), "{error}");
        // The text of a chain contains each part once, and the place.
        let context = Context(Order(NotFound.exception(lock).unwrap().into()).into());
        let chain = chain(&context);
        assert_eq!(chain[..3], ["while serving", "no order", "OCaml exception: Not_found"]);
        assert!(chain[3].starts_with(concat!("at ", file!(), ":")), "{chain:?}");
        assert_eq!(chain.len(), 4);
        drop((error, context, closure, endless));
        full_major(lock);
    });
    assert_no_roots();
});
