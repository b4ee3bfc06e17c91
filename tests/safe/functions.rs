//! Calls from Rust to OCaml and from OCaml to Rust.

use crate::support::exported::LEVELS;
use crate::support::safe::*;
use crate::support::values::{bounce, values_nothing};
use ocaml_boxroot::debug::{stats, trim};
use ocaml_boxroot::markers::{OCamlChar, OCamlInt32, OCamlInt64, OCamlNativeint, OCamlUchar};
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    ocaml_functions, Boxroot, CallError, ConversionErrorKind, DomainLock, Function, OCamlArray,
    OCamlFloat, OCamlInt, OCamlList, OCamlString, RootRef, ToOCaml, Value,
};
use std::sync::atomic::Ordering;

test!(calls_return_values_and_exceptions, || {
    with_ocaml(|lock| {
        let to_string: Boxroot<Function<(OCamlInt,), OCamlString>> = function(lock, "string");
        let fail: Boxroot<Function<(OCamlString,), ()>> = function(lock, "fail");
        let number = Boxroot::new(lock, Value::int(-12));
        let (text, _) = to_string.call(lock, &number).unwrap();
        assert_eq!(text.to_string_lossy(), "-12");
        let message = string(lock, "as expected");
        let exception = fail.call(lock, &message).unwrap_err();
        assert_eq!(exception.to_string(), "OCaml exception: Failure(\"as expected\")");
        // SAFETY: there is no such name, so the type does not matter.
        assert!(unsafe { lock.named::<OCamlInt>("no such name") }.is_none());
    })
});

test!(calls_that_convert, || {
    fn error<T: std::fmt::Debug>(result: Result<T, CallError>) -> (ConversionErrorKind, String) {
        match result {
            Err(CallError::Conversion(error)) => (error.kind(), error.to_string()),
            result => panic!("{result:?}"),
        }
    }
    with_ocaml(|lock| {
        type I = OCamlInt;
        let to_string: Boxroot<Function<(I,), OCamlString>> = function(lock, "string");
        assert_eq!(to_string.call_converting::<String>(lock, -12).unwrap(), "-12");
        let root: Boxroot<OCamlString> = to_string.call_converting(lock, 7u8).unwrap();
        churn(lock);
        assert_eq!(root.get(lock).as_str(), Ok("7"));
        type Eight = Function<(I, I, I, I, I, I, I, I), OCamlString>;
        let eight: Boxroot<Eight> = function(lock, "eight");
        let one: Boxroot<I> = 1.to_ocaml(lock).unwrap();
        let text: String =
            eight.call_converting(lock, &one, 2, 3, 4, 5, 6, 7, Box::new(8)).unwrap();
        assert_eq!(text, "12345678");
        let fail: Boxroot<Function<(OCamlString,), ()>> = function(lock, "fail");
        let refused = fail.call_converting::<()>(lock, "as expected");
        assert!(matches!(refused, Err(CallError::Exception(e)) if e.is(lock, "Failure")));
        let (reason, text) =
            error(eight.call_converting::<String>(lock, 1, 2, u64::MAX, 4, 5, 6, 7, 8));
        assert_eq!(reason, ConversionErrorKind::OutOfRange);
        assert!(text.starts_with("the third argument of an OCaml function: "), "{text}");
        let numbers: Boxroot<Function<(), Numbers>> = function(lock, "numbers");
        let _: Boxroot<Numbers> = numbers.call_converting(lock).unwrap();
        let same: Boxroot<Function<(I,), I>> = function(lock, "body");
        let (reason, text) = error(same.call_converting::<u8>(lock, 1000));
        assert_eq!(reason, ConversionErrorKind::OutOfRange);
        assert!(text.starts_with("the result of an OCaml function: "), "{text}");
    });
    assert_no_roots();
});

test!(exported_functions, || {
    with_ocaml(|lock| {
        assert_eq!(through_ocaml(lock, "repeated_length", 5), Ok(15));
        assert_eq!(stats().live_roots, 0);
    })
});

test!(exported_functions_fail_as_exceptions, || {
    with_ocaml(|lock| {
        assert_eq!(
            through_ocaml(lock, "repeated_length", -2),
            Err("OCaml exception: Failure(\"-2 times\")".to_string())
        );
        assert_eq!(
            through_ocaml(lock, "descend", -1),
            Err("OCaml exception: Failure(\"at the bottom\")".to_string())
        );
        assert_eq!(LEVELS.load(Ordering::SeqCst), 0);
        assert_eq!(stats().live_roots, 0);
    })
});

test!(a_hundred_levels_of_callbacks, || {
    with_ocaml(|lock| {
        let kept = string(lock, "kept");
        // OCaml's `descend n` calls Rust's `safe_deeper`, which calls `descend (n - 1)`, …
        assert_eq!(through_ocaml(lock, "descend", 100), Ok(100));
        // An exception at the bottom is an error in Rust and an exception in OCaml at each level.
        assert_eq!(
            through_ocaml(lock, "descend_and_raise", 100),
            Err("OCaml exception: Failure(\"raised at the bottom\")".to_string())
        );
        // A panic is also an error in Rust and an exception in OCaml.
        assert_eq!(
            through_ocaml(lock, "descend_and_panic", 100),
            Err("OCaml exception: Failure(\"at the bottom\")".to_string())
        );
        assert_eq!(LEVELS.load(Ordering::SeqCst), 0, "every level was left");
        assert_eq!(stats().live_roots, 1, "no level left a root");
        churn(lock);
        assert_eq!(kept.get(lock).to_string_lossy(), "kept");
    })
});

test!(calls_with_many_arguments, || {
    with_ocaml(|lock| {
        type I = OCamlInt;
        type Eight = Function<(I, I, I, I, I, I, I, I), OCamlString>;
        let f: Boxroot<Eight> = function(lock, "eight");
        let [a, b, c, d, e, f1, g, h] =
            [1, 2, 3, 4, 5, 6, 7, 8].map(|n| Boxroot::<OCamlInt>::new(lock, Value::int(n)));
        let (text, _) = f.call(lock, &a, &b, &c, &d, &e, &f1, &g, &h).unwrap();
        assert_eq!(text.to_string_lossy(), "12345678");
    })
});

/// `type shape` of values.ml.
pub enum Shape {}

type I = OCamlInt;

type Numbers = (OCamlInt, OCamlInt32, OCamlInt64, OCamlNativeint, OCamlChar, OCamlFloat);

type Eight =
    (I, OCamlString, OCamlFloat, bool, OCamlChar, (), Option<OCamlInt>, OCamlList<OCamlInt>);
type Rotated =
    (OCamlString, OCamlFloat, bool, OCamlChar, (), Option<OCamlInt>, OCamlList<OCamlInt>, I);

ocaml_functions! {
    unsafe {
        pub fn show_numbers(
            n: OCamlInt,
            boxed: (OCamlInt32, OCamlInt64, OCamlNativeint),
            others: (OCamlChar, OCamlFloat, bool),
        ) -> OCamlString = "show_numbers";
        pub fn numbers() -> Numbers = "numbers";
        pub fn extremes() -> OCamlList<OCamlInt> = "extremes";
        pub fn flip(result: Result<OCamlInt, OCamlString>) -> Result<OCamlInt, OCamlString> = "flip";
        pub fn rotate(eight: Eight) -> Rotated = "rotate";
        pub fn same(list: OCamlList<OCamlString>) -> bool = "same";
        pub fn float_array(n: OCamlInt) -> OCamlArray<OCamlFloat> = "float_array";
        pub fn show_uchar(c: OCamlUchar) -> OCamlString = "show_uchar";
        pub fn uchars() -> OCamlList<OCamlUchar> = "uchars";
        pub fn unsafe_uchars() -> OCamlList<OCamlUchar> = "unsafe_uchars";
        pub fn string_array(n: OCamlInt) -> OCamlArray<OCamlString> = "string_array";
        pub fn shapes() -> OCamlList<Shape> = "shapes";
        pub fn area(shape: Shape) -> OCamlFloat = "area";
        pub fn raise_nth(n: OCamlInt) = "raise_nth";
        pub fn name_of() -> OCamlString = "name_of";
        fn joined() -> OCamlString = "joined";
        fn six() -> OCamlInt = "six";
        fn nine() -> OCamlString = "nine";
        fn nothing() -> OCamlInt = "nothing";
        fn narrow(n: OCamlInt) -> OCamlInt = "narrow";
        fn body(n: OCamlInt) -> OCamlInt = "body";
        fn fail(n: OCamlInt) = "fail_in_rust";
        fn swap() -> bool = "swap";
        fn missing() = "no such function";
        fn eight(a: I, b: I, c: I, d: I, e: I, f: I, g: I, h: I) -> OCamlString = "eight";
    }
}

test!(functions_of_ocaml, || {
    with_ocaml(|lock| {
        let root: Boxroot<OCamlInt> = 1.to_ocaml(lock).unwrap();
        let by_reference: &RootRef<OCamlInt> = &root;
        let text: String =
            eight(lock, &root, by_reference, 3u8, 4i64, Box::new(5), 6, 7, 8).unwrap();
        assert_eq!(text, "11345678");
        let by_root: Boxroot<OCamlString> = eight(lock, 1, 1, 1, 1, 1, 1, 1, 1).unwrap();
        churn(lock);
        assert_eq!(by_root.get(lock).as_str(), Ok("11111111"));
        for _ in 0..2 {
            let refused = missing(lock);
            let Err(error @ CallError::NotRegistered(_)) = refused else { panic!("{refused:?}") };
            assert!(error.to_string().contains("\"no such function\""));
        }
        let refused = eight::<String>(lock, 1, 1, 1, 1, 1, 1, 1, u64::MAX);
        let Err(CallError::Conversion(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.kind(), ConversionErrorKind::OutOfRange);
        let refused = float_array::<[f64; 2]>(lock, 3);
        let Err(CallError::Conversion(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.kind(), ConversionErrorKind::Mismatch);
    });
    assert_no_roots();
});

test!(exported_functions_convert, || {
    with_ocaml(|lock| {
        assert_eq!(joined::<String>(lock).unwrap(), "text 3 0.5 true c");
        assert_eq!(six::<i32>(lock).unwrap(), 135_246);
        assert_eq!(nine::<String>(lock).unwrap(), "1two3456789");
        assert_eq!(nothing::<i32>(lock).unwrap(), 42);
        assert_eq!(narrow::<i32>(lock, 7).unwrap(), 7);
        assert_eq!(body::<i32>(lock, 1).unwrap(), 2);
        assert!(swap::<bool>(lock).unwrap());
        // Rust can call exported functions like other functions.
        assert_eq!(values_nothing(lock), Ok(42));
    });
    assert_no_roots();
});

test!(exported_functions_refuse, || {
    with_ocaml(|lock| {
        for out_of_range in [256, -1, 0] {
            let Err(CallError::Exception(exception)) = narrow::<i32>(lock, out_of_range) else {
                panic!("{out_of_range} was accepted");
            };
            assert!(exception.is(lock, "Failure"));
            assert!(exception.text().contains("out of range"));
            let place = match out_of_range {
                0 => "the result of `values_narrow`: ",
                _ => "argument `n` of `values_narrow`: ",
            };
            assert!(exception.text().contains(place), "{exception}");
        }
    });
    assert_no_roots();
});

test!(exported_texts_are_whole, || {
    with_ocaml(|lock| {
        let expected =
            [format!("{}\0tail", "é".repeat(700)), format!("{}\0tail", "p".repeat(1000))];
        for (n, expected) in expected.iter().enumerate() {
            let Err(CallError::Exception(exception)) = fail(lock, n) else { panic!() };
            assert_eq!(exception.text(), format!("Failure(\"{expected}\")"));
        }
        fail(lock, 2).unwrap();
    })
});

test!(calls_without_end, || {
    with_ocaml(|lock| {
        for _ in 0..2 {
            match bounce::<isize>(lock, 0) {
                Err(CallError::Exception(e)) => assert!(e.is(lock, "Stack_overflow"), "{e}"),
                result => panic!("{result:?}"),
            }
        }
        assert_eq!(narrow::<u8>(lock, 7).unwrap(), 7);
    });
    assert_no_roots();
});

// For the main thread's stack, glibc reads /proc, which needs a file descriptor.
test!(calls_without_end_and_without_file_descriptors, || {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 1024 };
    // SAFETY: `none` is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &none) }, 0);
    with_ocaml(|lock| {
        let result = bounce::<isize>(lock, 0);
        assert!(matches!(result, Err(CallError::Exception(_))), "{result:?}");
    })
});

test!(finaliser_does_everything, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let kept = strings(lock, 1000);
        for n in 0..20 {
            ocaml(lock, "run_in_a_finaliser", n, |lock, n| {
                let mine = strings(lock, 500);
                lock.release(|| DomainLock::with(churn))?;
                trim(lock);
                check(lock, &mine);
                match n.get(lock).to_int() % 3 {
                    0 => Ok(()),
                    1 => Err("an error".into()),
                    _ => panic!("a panic"),
                }
            })
            .ok();
            check(lock, &kept);
        }
        assert_eq!(stats().live_roots, 1000);
    })
});

test!(the_program_of_the_guide, || {
    ocaml_boxroot::Runtime::start().unwrap();
    assert_eq!(crate::words::words("b a b").unwrap(), [("a".to_string(), 1), ("b".to_string(), 2)]);
    assert!(crate::words::words("").unwrap_err().to_string().contains("no words"));
});
