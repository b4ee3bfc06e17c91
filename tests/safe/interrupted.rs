//! Conversions of all shapes. Their parts collect, release the lock, fail or panic while the other
//! parts wait.

use crate::support::safe::*;
use ocaml_boxroot::debug::stats;
use ocaml_boxroot::{
    ocaml_type, Boxroot, CallError, ConversionError, ConversionErrorKind, DomainLock, FromOCaml,
    Function, OCamlArray, OCamlFloat, OCamlList, OCamlString, ToOCaml, Value,
};
use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};

thread_local! {
    /// The number of converted parts, and the numbers of the parts that fail and panic.
    static PARTS: Cell<[usize; 3]> = const { Cell::new(NONE) };
}

const NONE: [usize; 3] = [0, usize::MAX, usize::MAX];

/// A part that interrupts the conversion before its own conversion, and perhaps after it.
#[derive(Clone, Debug, PartialEq)]
struct Wild<R>(R);

fn mischief(lock: &mut DomainLock) -> Result<(), ConversionError> {
    let [n, fails, panics] = PARTS.get();
    PARTS.set([n + 1, fails, panics]);
    if n == fails {
        return Err(ConversionErrorKind::OutOfRange.into());
    }
    if n == panics {
        std::panic::panic_any(n);
    }
    match n % 5 {
        0 => full_major(lock),
        1 => {
            let unit = ().to_ocaml(lock)?;
            function::<((),), ()>(lock, "compact").call(lock, &unit).unwrap();
        }
        2 => lock.release(|| DomainLock::with(churn_a_little)).unwrap(),
        3 => churn(lock),
        _ => {}
    }
    Ok(())
}

impl<T: ?Sized, R: ToOCaml<T>> ToOCaml<T> for Wild<R> {
    fn to_value<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, T>, &'l DomainLock), ConversionError> {
        mischief(lock)?;
        if PARTS.get()[0] % 2 == 0 {
            return self.0.to_value(lock);
        }
        let root: Boxroot<T> = self.0.to_ocaml(lock)?;
        mischief(lock)?;
        Ok((root.get(lock), lock))
    }
}

impl<T: ?Sized, R: FromOCaml<T>> FromOCaml<T> for Wild<R> {
    fn from_ocaml<'l>(value: Value<'l, T>, lock: &'l DomainLock) -> Result<Self, ConversionError> {
        Ok(Wild(value.to_rust(lock)?))
    }

    fn from_float(x: f64) -> Result<Self, ConversionError> {
        Ok(Wild(R::from_float(x)?))
    }
}

type Text = Wild<String>;
type Number = Wild<f64>;

ocaml_type! {
    struct OCamlRecord for Record { a: OCamlString, b: OCamlFloat, c: OCamlString }
    struct OCamlFlat for Flat { x: OCamlFloat, y: OCamlWeight, z: OCamlFloat }
    unboxed struct OCamlWeight for Weight { kilos: OCamlFloat }
    unboxed struct OCamlLabel for Label { text: OCamlString }
    enum OCamlPlain for Plain { Constant, Tuple(OCamlString, OCamlWeight, OCamlLabel), Labels { x: OCamlFlat, y: OCamlRecord } }
    polymorphic enum OCamlOpen for Open { Nothing, One(OCamlString), Three(OCamlLabel, OCamlPlain, OCamlFloat) }
}

#[derive(Clone, Debug, PartialEq)]
struct Record {
    a: Text,
    b: Number,
    c: Box<Text>,
}

#[derive(Clone, Debug, PartialEq)]
struct Flat {
    x: Number,
    y: Weight,
    z: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Weight {
    kilos: Number,
}

#[derive(Clone, Debug, PartialEq)]
struct Label {
    text: Text,
}

#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Constant,
    Tuple(Text, Weight, Label),
    Labels { x: Flat, y: Record },
}

#[derive(Clone, Debug, PartialEq)]
enum Open {
    Nothing,
    One(Text),
    Three(Label, Plain, Number),
}

fn text(i: usize) -> Text {
    Wild("é".repeat(i % 2) + &"x".repeat(i))
}

fn number(i: usize) -> Number {
    Wild(i as f64 + 0.5)
}

fn weight(i: usize) -> Weight {
    Weight { kilos: number(i) }
}

fn label(i: usize) -> Label {
    Label { text: text(i) }
}

fn plain() -> Vec<Plain> {
    let x = Flat { x: number(1), y: weight(2), z: 3. };
    let y = Record { a: text(4), b: number(5), c: Box::new(text(6)) };
    vec![Plain::Constant, Plain::Tuple(text(7), weight(8), label(9)), Plain::Labels { x, y }]
}

fn open() -> Vec<Open> {
    let three = plain().into_iter().map(|plain| Open::Three(label(15), plain, number(16)));
    [Open::Nothing, Open::One(text(17))].into_iter().chain(three).collect()
}

fn there_and_back<T, R>(lock: &mut DomainLock, x: &R) -> Result<(), ConversionError>
where
    R: ToOCaml<T> + FromOCaml<T> + std::fmt::Debug + PartialEq,
{
    let root: Boxroot<T> = x.to_ocaml(lock)?;
    mischief(lock)?;
    assert_eq!(root.to_rust::<R>(lock)?, *x);
    Ok(())
}

fn convert_all(lock: &mut DomainLock) -> Result<(), CallError> {
    there_and_back::<OCamlList<OCamlPlain>, _>(lock, &plain())?;
    there_and_back::<OCamlArray<OCamlOpen>, _>(lock, &open())?;
    there_and_back::<OCamlLabel, _>(lock, &label(20))?;
    there_and_back::<OCamlArray<OCamlWeight>, _>(lock, &[1, 2, 3].map(weight))?;
    there_and_back::<OCamlArray<OCamlFloat>, _>(lock, &[4, 5, 6].map(number))?;
    type Pair = (Result<OCamlString, OCamlFloat>, Option<OCamlString>);
    there_and_back::<Pair, _>(lock, &(Err::<Text, _>(number(7)), Some(text(8))))?;
    let join =
        Function::<(OCamlString, OCamlFloat, OCamlString), OCamlList<OCamlString>>::from_rust(
            lock,
            |lock, a, b, c| {
                let b = b.to_rust::<f64>(lock)?.to_string();
                Ok([a.to_rust(lock)?, b, c.to_rust(lock)?].map(Wild))
            },
        )?;
    let joined: Vec<String> = join.call_converting(lock, text(9), number(1), text(2))?;
    assert_eq!(joined, [text(9).0, "1.5".to_string(), text(2).0]);
    Ok(())
}

test!(parts_that_collect, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        for first in 0..5 {
            PARTS.set([first, usize::MAX, usize::MAX]);
            convert_all(lock).unwrap();
        }
        assert_eq!(stats().live_roots, 0);
    })
});

test!(parts_that_fail_or_panic, forbid(unsafe_code), || {
    with_ocaml(|lock| {
        PARTS.set(NONE);
        convert_all(lock).unwrap();
        full_major(lock);
        let [parts, ..] = PARTS.get();
        for n in (0..parts).step_by(3) {
            PARTS.set([0, n, usize::MAX]);
            assert!(convert_all(lock).is_err());
            PARTS.set([0, usize::MAX, n]);
            let result = catch_unwind(AssertUnwindSafe(|| convert_all(lock)));
            assert!(!matches!(result, Ok(Ok(()))));
        }
        full_major(lock);
        assert_eq!(stats().live_roots, 0);
    })
});
