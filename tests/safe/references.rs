//! References and lazy values.

use crate::support::safe::*;
use ocaml_boxroot::markers::{OCamlLazy, OCamlRef};
use ocaml_boxroot::{
    ocaml_functions, Boxroot, ConversionErrorKind, DomainLock, Function, OCamlAny, OCamlFloat,
    OCamlInt, OCamlList, OCamlString, Value,
};

type Text = OCamlRef<OCamlString>;
type LazyText = OCamlLazy<OCamlString>;
type Numbers = (OCamlLazy<OCamlFloat>, OCamlLazy<OCamlInt>, OCamlLazy<OCamlLazy<OCamlInt>>);

ocaml_functions! {
    unsafe {
        fn shared_ref() -> Text = "shared_ref";
        fn append(text: Text, end: OCamlString) = "append";
        fn set_float(x: OCamlRef<OCamlFloat>, add: OCamlFloat) = "set_float";
        fn assign_in_domains(text: Text, n: OCamlInt) = "assign_in_domains";
        fn join_domains() = "join_domains";
        fn lazy_texts() -> OCamlList<LazyText> = "lazy_texts";
        fn force_text(text: LazyText) = "force_text";
        fn lazy_numbers(n: OCamlInt) -> Numbers = "lazy_numbers";
        fn looks_at_itself(look: Function<(OCamlLazy<OCamlInt>,), ()>) -> OCamlInt =
            "looks_at_itself";
        fn last_constructor() -> OCamlLazy<OCamlAny> = "last_constructor";
    }
}

fn text(lock: &DomainLock, text: &Boxroot<Text>) -> String {
    text.read(lock, OCamlRef::contents).unwrap()
}

test!(references, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        // An old reference that gets a young value, a reference in static data, and a reference to
        // a float.
        let old: Boxroot<Text> = OCamlRef::new(lock, "new").unwrap();
        full_major(lock);
        for reference in [old, shared_ref(lock).unwrap()] {
            for i in 0..100 {
                reference.assign(lock, i.to_string()).unwrap();
                churn_a_little(lock);
                append(lock, &reference, "!").unwrap();
                churn_a_little(lock);
                assert_eq!(text(lock, &reference), format!("{i}!"));
            }
            churn(lock);
            assert_eq!(reference.get(lock).at(OCamlRef::contents).as_str(), Ok("99!"));
        }
        let x: Boxroot<OCamlRef<OCamlFloat>> = OCamlRef::new(lock, 1.5).unwrap();
        set_float(lock, &x, 2.).unwrap();
        assert_eq!(x.read(lock, OCamlRef::contents), Ok(3.5));

        // A value that cannot be converted changes nothing.
        let n: Boxroot<OCamlRef<OCamlInt>> = OCamlRef::new(lock, 1).unwrap();
        assert_eq!(n.assign(lock, u64::MAX), Err(ConversionErrorKind::OutOfRange.into()));
        assert_eq!(n.read(lock, OCamlRef::contents), Ok(1));
        // The contents may be a root. They are shared in that case.
        let inner: Boxroot<Text> = OCamlRef::new(lock, "inner").unwrap();
        let outer: Boxroot<OCamlRef<Text>> = OCamlRef::new(lock, &inner).unwrap();
        inner.assign(lock, "changed").unwrap();
        let shared: Boxroot<Text> = outer.read(lock, OCamlRef::contents).unwrap();
        assert_eq!(text(lock, &shared), "changed");
    });
    assert_no_roots();
});

test!(references_in_domains, ocaml = 5, || {
    with_ocaml(|lock| {
        let shared: Boxroot<Text> = OCamlRef::new(lock, "x").unwrap();
        assign_in_domains(lock, &shared, 20_000).unwrap();
        for i in 0..20_000 {
            if i % 16 == 0 {
                shared.assign(lock, "xx").unwrap();
            }
            let text = text(lock, &shared);
            assert!((1..=9).contains(&text.len()) && text.bytes().all(|b| b == b'x'), "{text}");
        }
        join_domains(lock).unwrap();
    });
});

test!(lazy_values, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        let texts: Vec<Boxroot<LazyText>> = lazy_texts(lock).unwrap();
        let read = |lock: &DomainLock, i: usize| {
            texts[i].get(lock).forced().map(|text| text.to_string_lossy())
        };
        assert_eq!((read(lock, 0), read(lock, 1)), (None, Some("given".to_string())));
        for _ in 0..2 {
            force_text(lock, &texts[0]).unwrap();
            full_major(lock); // removes the block around the result
            assert_eq!(read(lock, 0), Some("lll".to_string()));
        }
        // An exception does not count as a result.
        let failed = force_text(lock, &texts[2]).unwrap_err();
        assert!(failed.to_string().contains("never"), "{failed}");
        assert_eq!(read(lock, 2), None);

        for round in 0..2 {
            let (x, n, lazily): (Boxroot<_>, Boxroot<_>, Boxroot<_>) =
                lazy_numbers(lock, 5).unwrap();
            if round == 1 {
                full_major(lock);
            }
            assert_eq!(x.get(lock).forced().map(Value::to_float), Some(5.));
            assert_eq!(n.get(lock).forced().map(Value::to_int), Some(6));
            let inner = lazily.get(lock).forced().unwrap();
            assert_eq!(inner.forced().map(Value::to_int), Some(5));
        }
        // Values with the last constructor's tag are not lazy values.
        let forced: Boxroot<OCamlLazy<OCamlAny>> = last_constructor(lock).unwrap();
        assert!(forced.get(lock).forced().is_some());
    });
});

test!(a_lazy_value_that_is_being_forced, || {
    with_ocaml(|lock| {
        let look = Function::<(OCamlLazy<OCamlInt>,), ()>::from_rust(lock, |lock, itself| {
            assert!(itself.get(lock).forced().is_none());
            Ok(())
        })
        .unwrap();
        assert_eq!(looks_at_itself::<i32>(lock, &look).unwrap(), 5);
    });
});
