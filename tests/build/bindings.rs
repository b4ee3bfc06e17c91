//! Uses bound.ml through generated bindings: values go there and back, for each kind of type.

#![forbid(unsafe_code)]
// Generated code needs no prelude of std.
#![no_std]
extern crate std;

use bound::*;
use journal::OCamlLog;
use ocaml_boxroot::bigarray::{FortranLayout, OCamlArray1, OCamlArray2};
use ocaml_boxroot::debug::Kind;
use ocaml_boxroot::markers::{OCamlHashtbl, OCamlLazy, OCamlRef};
use ocaml_boxroot::{
    Boxroot, CallError, ConversionErrorKind, DomainLock, Function, OCamlArray, OCamlFloat,
    OCamlInt, OCamlString, RootRef, Runtime, ToOCaml,
};
use std::collections::BTreeMap;
use std::prelude::rust_2021::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

ocaml_boxroot::include_bindings!(bound: Provider, journal: Provider);

pub struct Provider;

type Any<T> = Result<T, Box<dyn std::error::Error>>;

impl Externals for Provider {
    fn audit(lock: &mut DomainLock, order: Order, size: Size) -> Any<String> {
        let text = describe(lock, order)?; // OCaml, Rust, OCaml
        Ok(format!("{text}: {size:?}"))
    }

    fn call(lock: &mut DomainLock, f: &RootRef<Function<(), bool>>) -> Any<bool> {
        Ok(f.call_converting(lock)?)
    }

    fn six(
        _: &mut DomainLock,
        a: isize,
        _: isize,
        _: isize,
        _: isize,
        e: isize,
        f: f64,
    ) -> Any<f64> {
        Ok((a * 10 + e) as f64 + f)
    }

    fn pick<A>(_lock: &mut DomainLock, mut list: Vec<Boxroot<A>>) -> Any<Boxroot<A>> {
        match list.pop() {
            Some(last) => Ok(last),
            None => Err(Closed.into()),
        }
    }

    fn norm(x: f64, y: f64) -> f64 {
        x.hypot(y)
    }

    fn sum(n: isize, a: i32, b: i64, c: isize, x: f64, last: isize) -> i64 {
        n as i64 + i64::from(a) + b + c as i64 + x as i64 + last as i64
    }

    fn flip(flag: bool, letter: u8) -> bool {
        flag ^ (letter == b'f')
    }

    fn quiet() {
        if std::env::args().nth(1).as_deref() == Some("panic") {
            std::panic!("out of a plain function");
        }
    }

    fn traces() -> bool {
        !std::backtrace::Backtrace::force_capture().to_string().is_empty()
    }

    fn next32(n: i32) -> i32 {
        n + 1
    }
}

pub struct Log(Mutex<Vec<String>>);

impl journal::Externals for Provider {
    fn create(
        lock: &mut DomainLock,
        first: String,
    ) -> Result<Boxroot<OCamlLog>, Box<dyn std::error::Error>> {
        let (log, lock) = lock.alloc_box(Log(Mutex::new(vec![first])))?;
        Ok(Boxroot::try_new(lock, log)?)
    }

    fn write(
        lock: &mut DomainLock,
        log: &RootRef<OCamlLog>,
        line: String,
    ) -> Result<(), Box<dyn std::error::Error>> {
        log.get(lock).get().0.lock().unwrap().push(line);
        Ok(())
    }
}

fn types_of_rust(lock: &mut DomainLock) -> Any<()> {
    let log = journal::open_(lock, "begin")?;
    let filled = journal::fill(lock, &log, ["one", "two"])?;
    let log = filled.get(lock).try_get().expect("the type of the block");
    assert_eq!(*log.0.lock().unwrap(), ["begin", "one", "two", "end"]);
    Ok(())
}

fn order(size: Size) -> Order {
    Order {
        customer: "Ada".into(),
        size,
        price: 9.5,
        note: Some("é".into()),
        ids: (-1, i64::MAX, 7),
    }
}

fn main() -> Any<()> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        records_and_variants(lock)?;
        exceptions(lock)?;
        floats(lock)?;
        parameters(lock)?;
        types_of_rust(lock)?;
        others(lock)?;
        assert_eq!(by_rust_plain(lock)?, ["5.", "13.", "-21", "21", "false", "true", "-7"]);
        assert_eq!(by_rust_in_fibers(lock)?, [true; 5]);
        types_of_the_library(lock)?;
        bigarrays(lock)?;
        conversions_and_writes_at_once(lock)
    })
}

fn records_and_variants(lock: &mut DomainLock) -> Any<()> {
    let sizes = [
        (Size::Small, "small"),
        (Size::Large, "large"),
        (Size::Custom { grams: 7 }, "7 g"),
        (Size::Pair(1, "a".into()), "pair 1 a"),
        (Size::Tuple((2, "b".into())), "tuple 2 b"),
    ];
    for (size, shown) in sizes {
        let order = order(size);
        assert_eq!(describe(lock, &order)?, format!("Ada {shown} 9.5 é -1 9223372036854775807 7"));
        assert_eq!(same(lock, &order)?, order);
        let root = same_root(lock, &order)?;
        assert_eq!(root.read(lock, OCamlOrder::price), Ok(9.5));
        assert_eq!(root.get(lock).at(OCamlOrder::customer).as_str(), Ok("Ada"));
    }
    assert_eq!(all(lock, Some(true), [1, 2])?, ("1,2".into(), vec![true, false]));
    assert_eq!(all(lock, None, [0u8; 0])?, ("".into(), vec![false, true]));
    assert_eq!(currency(lock)?, "EUR");
    let error = describe(lock, order(Size::Custom { grams: isize::MAX })).unwrap_err();
    assert!(
        error.to_string().starts_with("`size.Custom.grams` of argument `order` of `describe`: "),
        "{error}"
    );
    let cheaper = discount(lock, 50.)?;
    let paid: Boxroot<OCamlOrder> = {
        let order: Boxroot<OCamlOrder> = order(Size::Small).to_ocaml(lock)?;
        let (value, lock) = cheaper.call(lock, &order)?;
        Boxroot::try_new(lock, value)?
    };
    assert_eq!(paid.read(lock, OCamlOrder::price), Ok(4.75));
    assert_eq!(
        inner::join(lock, inner::String::Text(vec![order(Size::Small), order(Size::Large)]))?,
        2
    );
    let seen = by_rust(lock, order(Size::Large))?;
    assert_eq!(seen[0], "Ada large 9.5 é -1 9223372036854775807 7: Large");
    assert_eq!(seen[1..], ["15.5", "Ada", "3", "closed"]);
    Ok(())
}

fn exceptions(lock: &mut DomainLock) -> Any<()> {
    let order = order(Size::Large);
    let closed = refuse(lock, 0, &order).unwrap_err();
    let out = refuse(lock, 1, &order).unwrap_err();
    let refused = refuse(lock, 2, &order).unwrap_err();
    let missing = refuse(lock, 3, &order).unwrap_err();
    assert_eq!(Closed::of(lock, &closed)?, Some(Closed));
    assert_eq!(OutOfStock::of(lock, &out)?, Some(OutOfStock("Ada".into(), 1)));
    let expected = Refused { by: "OCaml".into(), order };
    assert_eq!(Refused::of(lock, &refused)?.as_ref(), Some(&expected));
    for other in
        [&out, &refused, &missing, &CallError::Conversion(ConversionErrorKind::Mismatch.into())]
    {
        assert_eq!(Closed::of(lock, other)?, None);
    }
    assert_eq!(OutOfStock::of(lock, &refused)?, None);
    let made = expected.exception(lock)?;
    assert_eq!(Refused::of(lock, &made)?, Some(expected));
    assert_eq!(made.text(), "Bound.Refused(\"OCaml\", _)");
    Ok(())
}

fn floats(lock: &mut DomainLock) -> Any<()> {
    let run = Run { distance: Metres { metres: 1.5 }, time: Seconds::Seconds(2.) };
    let scaled = scale_root(lock, 2., &run)?;
    assert_eq!(scaled.get(lock).kind(), FLAT_PAIR);
    let twice = Run { distance: Metres { metres: 3. }, time: Seconds::Seconds(4.) };
    assert_eq!(scaled.to_rust(lock), Ok(twice.clone()));
    assert_eq!(scaled.read(lock, OCamlRun::time), Ok(Seconds::Seconds(4.)));
    assert_eq!(scale(lock, 1., &scaled)?, twice);
    let points = [Point { x: 1., y: 2. }, Point { x: 3., y: 5. }];
    assert_eq!(middle(lock, &points)?, Point { x: 2., y: 3.5 });
    assert_eq!(lengths(lock, [Metres { metres: 1.5 }, Metres { metres: 2. }])?, 3.5);

    let pair = bound_functor::pairs::make_root(lock, 0.5, 1.5)?;
    assert_eq!(pair.get(lock).kind(), Kind::Block { tag: 0, size: 2 });
    let copy: bound_functor::pairs::Pair = pair.to_rust(lock)?;
    assert_eq!((copy.a, copy.b), (0.5, 1.5));
    assert_eq!(bound_functor::sum(lock, copy)?, 2.);
    let flat = bound_functor::flat_root(lock, 0.5, 1.5)?;
    assert_eq!(flat.get(lock).kind(), FLAT_PAIR);
    assert_eq!(flat.to_rust(lock), Ok(bound_functor::Flat { from: 0.5, until: 1.5 }));
    Ok(())
}

const FLAT_PAIR: Kind = Kind::Block { tag: 254, size: 2 };

fn parameters(lock: &mut DomainLock) -> Any<()> {
    type Names = OCamlTable<OCamlString, OCamlInt>;
    let empty: Boxroot<Names> = empty_root(lock)?;
    let one: Boxroot<Names> = add_root(lock, "one", 1, &empty)?;
    let two: Boxroot<Names> = add_root(lock, "two", 2, &one)?;
    let copy: Table<String, i64> = two.to_rust(lock)?;
    let entry =
        |key: &str, value, rest| Table::Entry { key: key.to_string(), value, rest: Box::new(rest) };
    assert_eq!(copy, entry("two", 2, entry("one", 1, Table::Empty)));
    let found: Option<Boxroot<OCamlInt>> = find(lock, "one", &copy)?;
    assert_eq!(found.unwrap().to_rust(lock), Ok(1));
    assert!(find::<OCamlString, OCamlInt>(lock, "three", copy)?.is_none());
    assert_eq!(names(lock, &two)?.len(), 2);

    let shout = Function::<(OCamlString,), OCamlString>::from_rust(lock, |lock, text| {
        Ok(text.to_rust::<String>(lock)? + "!")
    })?;
    let shouted: Boxroot<OCamlString> = twice(lock, &shout, "hey")?;
    assert_eq!(shouted.get(lock).as_str(), Ok("hey!!"));
    Ok(())
}

fn others(lock: &mut DomainLock) -> Any<()> {
    let named = || Colour::Named("blue".into());
    assert_eq!(
        mix(lock, [Colour::TypePrime, Colour::Red])?,
        Colour::Mixed((1, Box::new(Colour::TypePrime)))
    );
    assert_eq!(mix(lock, [named(), Colour::Red, Colour::Red])?.clone(), {
        Colour::Mixed((1, Box::new(Colour::Mixed((1, Box::new(named()))))))
    });
    let amount = amount_root(lock, 12)?;
    assert_eq!(amount.to_rust(lock), Ok(Amount { cents: 12 }));
    assert_eq!(cents(lock, &amount)?, 12);
    let counter = counter(lock, "c")?;
    assert_eq!((count(lock, &counter)?, count(lock, &counter)?), (1, 2));
    assert_eq!(counter.to_rust(lock), Ok(Counter { name: "c".into(), count: 2 }));
    let seven = expr(lock, 7)?;
    assert_eq!(eval(lock, &seven)?.to_rust(lock), Ok(7));
    let is_eight = test(lock, &seven, 8)?;
    assert_eq!(eval(lock, &is_eight)?.to_rust(lock), Ok(false));
    let mut stack = new_stack(lock)?;
    for n in 0..3 {
        stack = push(lock, &stack, n)?;
    }
    assert_eq!(depth(lock, &stack)?, 3);
    assert_eq!(adder(lock, -1, 2)?, 1);
    let (float, int) = (anything(lock, 0)?, anything(lock, 7)?);
    assert_eq!((sort_of(lock, &float)?, sort_of(lock, &int)?), ("float".into(), "int".into()));
    Ok(())
}

fn types_of_the_library(lock: &mut DomainLock) -> Any<()> {
    assert_eq!(upper(lock, 'ö')?, 'Ö');
    let cell = cell(lock, "a")?;
    cell.assign(lock, "b")?;
    exclaim(lock, &cell)?;
    assert_eq!(cell.get(lock).at(OCamlRef::contents).as_str()?, "b!");

    let later: Boxroot<OCamlLazy<OCamlString>> = later(lock)?;
    assert!(later.get(lock).forced().is_none() && !is_done(lock, &later)?);
    force(lock, &later)?;
    let text = later.get(lock).forced().map(|text| text.to_string_lossy());
    assert!(is_done(lock, &later)? && text.as_deref() == Some("lll"));

    let map = BTreeMap::from([("one".to_string(), 1.), ("three".to_string(), 3.)]);
    let words = words::of_seq(lock, &map)?;
    assert_eq!(longest(lock, &words)?, "three");
    let back: BTreeMap<String, f64> = words.to_rust(lock)?;
    assert_eq!(back, map);
    let words = words::add(lock, "eleven", 11., &words)?;
    assert_eq!(longest(lock, words)?, "eleven");

    let table: Boxroot<OCamlHashtbl<OCamlString, OCamlFloat>> = table(lock, &map)?;
    let one: Boxroot<OCamlFloat> = hashtbl::find(lock, &table, "one")?;
    assert_eq!(one.to_rust::<f64>(lock)?, 1.);
    let pairs = hashtbl::to_seq(lock, &table)?;
    let back: Result<BTreeMap<String, f64>, CallError> = pairs.iter(lock).collect();
    assert_eq!(back?, map);
    Ok(())
}

fn bigarrays(lock: &mut DomainLock) -> Any<()> {
    let matrix: Boxroot<OCamlArray2<f64>> = matrix(lock, 2, 3)?;
    assert_eq!(matrix.get(lock).dimensions(), [2, 3]);
    let cells = matrix.get(lock).cells();
    assert_eq!(
        cells.iter().map(|cell| cell.get()).collect::<Vec<_>>(),
        [0., 1., 2., 10., 11., 12.]
    );
    cells[4].set(0.5);
    assert_eq!(trace(lock, &matrix)?, 0.5);
    let second: Boxroot<OCamlArray1<f64>> = row(lock, &matrix, 1)?;
    drop(matrix);
    assert_eq!(second.to_rust::<Vec<f64>>(lock)?, [10., 0.5, 12.]);
    assert_eq!(total(lock, &second)?, 22.5);
    assert_eq!(total(lock, [0.5, 1.])?, 1.5);
    let tensor = tensor(lock, [1, 2, 3, 4])?;
    assert_eq!(sizes(lock, &tensor)?, [1, 2, 3, 4]);
    assert!(tensor.get(lock).cells().iter().all(|cell| cell.get() == -1));
    let image = image(lock)?;
    assert_eq!(image.title, "four");
    let pixels: Boxroot<OCamlArray2<u8, FortranLayout>> = image.pixels;
    let cells = pixels.get(lock).cells();
    assert_eq!(cells.iter().map(|cell| cell.get()).collect::<Vec<u8>>(), [1, 3, 2, 4]);
    Ok(())
}

/// While another domain writes, each field that Rust reads has a value that was written.
fn conversions_and_writes_at_once(lock: &mut DomainLock) -> Any<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if env!("OCAML_VERSION").starts_with('4') {
        return Ok(()); // OCaml 4 has one domain
    }
    let (counter, zero) = (counter(lock, "c")?, Point { x: 0., y: 0. });
    let points: Boxroot<OCamlArray<OCamlPoint>> = vec![zero; 10].to_ocaml(lock)?;
    let until = Function::<(), bool>::from_rust(lock, |_| Ok(!DONE.load(Ordering::Relaxed)))?;
    change(lock, &counter, &points, &until)?;
    for _ in 0..10_000 {
        let copy: Counter = counter.to_rust(lock)?;
        assert!(copy.name == "c" && copy.count >= 0);
        let points: Vec<Point> = points.to_rust(lock)?;
        assert!(points.iter().all(|point| point.x == point.y));
        let middle = middle(lock, &points)?;
        assert!(middle.x == middle.y);
    }
    DONE.store(true, Ordering::Relaxed);
    wait(lock)?;
    Ok(())
}
