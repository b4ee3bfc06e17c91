//! Calls from Rust to OCaml and from OCaml to Rust.

use crate::common::exported::{assert_no_roots, churn, with_ocaml};
use crate::common::values::{bounce, values_nothing};
use ocaml_boxroot::{
    ocaml_functions, Boxroot, CallError, Error, OCamlArray, OCamlChar, OCamlFloat, OCamlInt,
    OCamlInt32, OCamlInt64, OCamlList, OCamlNativeint, OCamlString, RootRef, ToOCaml,
};

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

pub fn functions_of_ocaml() {
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
            let Err(CallError::Error(error)) = refused else { panic!("{refused:?}") };
            assert_eq!(error, Error::NotRegistered("no such function".into()));
            assert!(error.to_string().contains("\"no such function\""));
        }
        let refused = eight::<String>(lock, 1, 1, 1, 1, 1, 1, 1, u64::MAX);
        assert!(matches!(refused, Err(CallError::Error(Error::OutOfRange))));
        let refused = float_array::<[f64; 2]>(lock, 3);
        assert!(matches!(refused, Err(CallError::Error(Error::Mismatch))));
    });
    assert_no_roots();
}

pub fn exported_functions_convert() {
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
}

pub fn exported_functions_refuse() {
    with_ocaml(|lock| {
        for out_of_range in [256, -1, 0] {
            let Err(CallError::Exception(exception)) = narrow::<i32>(lock, out_of_range) else {
                panic!("{out_of_range} was accepted");
            };
            assert!(exception.is(lock, "Failure"));
            assert!(exception.text().contains("cannot hold"));
        }
    });
    assert_no_roots();
}

pub fn exported_texts_are_whole() {
    with_ocaml(|lock| {
        let expected =
            [format!("{}\0tail", "é".repeat(700)), format!("{}\0tail", "p".repeat(1000))];
        for (n, expected) in expected.iter().enumerate() {
            let Err(CallError::Exception(exception)) = fail(lock, n) else { panic!() };
            assert_eq!(exception.text(), format!("Failure(\"{expected}\")"));
        }
        fail(lock, 2).unwrap();
    })
}

pub fn calls_without_end() {
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
}
