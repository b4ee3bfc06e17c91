//! Records and variants.

use crate::memory::requested;
use crate::support::process::command;
use crate::support::safe::*;
use ocaml_boxroot::debug::Kind;
use ocaml_boxroot::depth::{self, Level};
use ocaml_boxroot::raw::{DomainLockExt, ValueExt};
use ocaml_boxroot::{
    ocaml_functions, ocaml_type, Boxroot, ConversionError, ConversionErrorKind, DomainLock,
    FromOCaml, OCamlAny, OCamlArray, OCamlFloat, OCamlInt, OCamlList, OCamlString, ToOCaml, Value,
};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;
use std::thread;

ocaml_type! {
    /// Types of values.ml.
    pub struct OCamlCity for City {
        /// A field with a comment.
        name: OCamlString,
        height: OCamlInt,
        at: OCamlPoint,
        tags: OCamlList<OCamlString>,
    }

    struct OCamlPoint for Point { x: OCamlFloat, y: Float }

    pub enum OCamlTree for Tree {
        Leaf,
        Node(OCamlTree, OCamlInt, OCamlTree),
        Empty,
        Named { label: OCamlString, below: OCamlTree },
    }

    pub polymorphic enum OCamlColor for Color {
        Black,
        Rgb(OCamlInt, OCamlInt, OCamlInt),
        named(OCamlString),
        A_rather_long_name_of_a_tag,
        r#loop,
    }

    unboxed struct OCamlMetres for Metres { metres: OCamlFloat }
    unboxed struct OCamlSeconds for Seconds { seconds: Float }
    unboxed struct OCamlName for Name { text: OCamlString }
    unboxed struct OCamlHandle for Handle { handle: OCamlAny }
    struct OCamlRun for Run { distance: OCamlMetres, time: OCamlSeconds, speed: OCamlFloat }
    struct OCamlRunner for Runner { runner: OCamlName, best: OCamlMetres }

    /// Has only a marker and its fields, without conversions.
    struct City2 { name: OCamlString, lock: OCamlInt, at: OCamlPoint, tags: OCamlList<OCamlString> }

    enum Nameless { One, Two(OCamlInt) }

    // With type parameters.
    struct OCamlOwn<A> for Own<A as R> { item: A, used: OCamlInt }
    enum OCamlTable<A, B> for Table<A as Key, B as Item> {
        Tip(B),
        Fork { left: OCamlTable<A, B>, key: A, right: OCamlTable<A, B> },
    }
    polymorphic enum OCamlReply<A> for Reply<A as R> { Found(OCamlOwn<A>, OCamlInt), Nothing }
    struct OCamlTables<A> for Tables { tables: OCamlList<OCamlTable<OCamlInt, OCamlString>>, of: OCamlList<()> }
}

#[derive(Clone, Debug, PartialEq)]
struct Own<R> {
    item: R,
    used: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Table<Key, Item> {
    Tip(Item),
    Fork { left: Box<Table<Key, Item>>, key: Key, right: Box<Table<Key, Item>> },
}

#[derive(Clone, Debug, PartialEq)]
enum Reply<R> {
    Found(Own<R>, u32),
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
struct Tables {
    tables: Vec<Table<i32, String>>,
    of: Vec<()>,
}

type Float = OCamlFloat;

#[derive(Clone, Debug, PartialEq)]
pub struct City {
    name: String,
    height: u16,
    at: Point,
    tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Leaf,
    Node(Box<Tree>, i32, Box<Tree>),
    Empty,
    Named { label: String, below: Box<Tree> },
}

#[allow(non_camel_case_types)]
#[derive(Clone, Debug, PartialEq)]
pub enum Color {
    Black,
    Rgb(u8, u8, u8),
    named(String),
    A_rather_long_name_of_a_tag,
    r#loop,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Metres {
    metres: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Seconds {
    seconds: f64,
}

#[cfg_attr(feature = "debug-checks", allow(dead_code))] // `unboxed_null` makes one
struct Handle {
    handle: Boxroot<OCamlAny>,
}

#[derive(Clone, Debug, PartialEq)]
struct Name {
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    distance: Metres,
    time: Seconds,
    speed: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Runner {
    runner: Name,
    best: Metres,
}

ocaml_functions! {
    unsafe {
        fn show_city(city: OCamlCity) -> OCamlString = "show_city";
        fn rome() -> OCamlCity = "rome";
        fn rome_without_fields() -> City2 = "rome";
        fn points(n: OCamlInt) -> OCamlArray<OCamlPoint> = "points";
        fn sum(tree: OCamlTree) -> OCamlInt = "sum";
        fn tree() -> OCamlTree = "tree";
        fn deep_tree(n: OCamlInt) -> OCamlTree = "deep_tree";
        fn colors() -> OCamlList<OCamlColor> = "colors";
        fn show_color(color: OCamlColor) -> OCamlString = "show_color";
        fn runs(n: OCamlInt) -> OCamlList<OCamlRun> = "runs";
        fn distance(runs: OCamlList<OCamlRun>) -> OCamlFloat = "distance";
        fn runner(best: OCamlMetres) -> OCamlRunner = "runner";
        fn metres(runner: OCamlRunner) -> OCamlArray<OCamlMetres> = "metres";
        fn other_colors() -> OCamlList<OCamlColor> = "other_colors";
        fn turn_names(table: OCamlTable<OCamlInt, OCamlString>) -> OCamlTable<OCamlInt, OCamlString> = "turn";
        fn reply_of_text(own: OCamlOwn<OCamlString>) -> OCamlReply<OCamlString> = "reply";
        fn reply_of_numbers(own: OCamlOwn<OCamlList<OCamlFloat>>) -> OCamlReply<OCamlList<OCamlFloat>> = "reply";
    }
}

test!(records, || {
    with_ocaml(|lock| {
        let paris = City {
            name: "Paris".into(),
            height: 35,
            at: Point { x: 48.86, y: 2.35 },
            tags: vec!["large".into(), "bright".into()],
        };
        let text: String = show_city(lock, &paris).unwrap();
        assert_eq!(text, "Paris 35 (48.86, 2.35) large,bright");
        let root = paris.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(root.to_rust(lock), Ok(paris));
        let rome: Boxroot<OCamlCity> = rome(lock).unwrap();
        churn(lock);
        assert_eq!(rome.get(lock).at(OCamlCity::name).as_str(), Ok("Rome"));
        let height: i8 = rome.read(lock, OCamlCity::height).unwrap();
        let at: Boxroot<OCamlPoint> = rome.read(lock, OCamlCity::at).unwrap();
        let y: f64 = at.read(lock, OCamlPoint::y).unwrap();
        assert_eq!((height, y), (21, 12.5));
        let other: Boxroot<City2> = rome_without_fields(lock).unwrap();
        let height: u8 = other.read(lock, City2::lock).unwrap();
        assert_eq!(
            (other.get(lock).at(City2::name).to_string_lossy(), height),
            ("Rome".into(), 21)
        );
        assert_eq!(size_of::<Nameless>(), 0);
    });
    assert_no_roots();
});

test!(records_of_floats, || {
    with_ocaml(|lock| {
        let point = Point { x: 0.5, y: -2. }.to_ocaml(lock).unwrap();
        assert_eq!(point.get(lock).kind(), Kind::Block { tag: 254, size: 2 });
        churn(lock);
        assert_eq!(point.to_rust(lock), Ok(Point { x: 0.5, y: -2. }));
        let boxed: Result<Boxroot<OCamlFloat>, ConversionError> = point.read(lock, OCamlPoint::x);
        let error = boxed.unwrap_err();
        assert_eq!(error.kind(), ConversionErrorKind::Mismatch, "there is no value to root");
        assert!(error.to_string().starts_with("`x`: "), "{error}");
        let points: Vec<Point> = points(lock, 1000).unwrap();
        assert!(points.iter().enumerate().all(|(i, p)| *p == Point { x: i as f64, y: -1. }));
    });
});

test!(unboxed_records, || {
    with_ocaml(|lock| {
        let run = |i: i32| {
            let metres = f64::from(i);
            Run { distance: Metres { metres }, time: Seconds { seconds: 2. }, speed: metres / 2. }
        };
        let expected: Vec<Run> = (0..100).map(run).collect();
        assert_eq!(runs::<Vec<Run>>(lock, 100).unwrap(), expected);
        assert_eq!(distance::<f64>(lock, &expected).unwrap(), 4950.);
        let flat = run(7).to_ocaml(lock).unwrap();
        assert_eq!(flat.get(lock).kind(), Kind::Block { tag: 254, size: 3 });
        assert_eq!(flat.read(lock, OCamlRun::distance), Ok(Metres { metres: 7. }));

        let bolt = Runner { runner: Name { text: "Bolt".into() }, best: Metres { metres: 9.5 } };
        let root: Boxroot<OCamlRunner> = runner(lock, bolt.best).unwrap();
        churn(lock);
        assert_eq!(root.read(lock, OCamlRunner::runner), Ok(bolt.runner.clone()));
        assert_eq!(root.get(lock).at(OCamlRunner::best).to_rust(lock), Ok(bolt.best));
        let array: Boxroot<OCamlArray<OCamlMetres>> = metres(lock, &bolt).unwrap();
        let expected = [bolt.best, Metres { metres: 4. }];
        assert_eq!(array.to_rust(lock), Ok(expected));
        let back: Boxroot<OCamlArray<OCamlMetres>> = expected.to_ocaml(lock).unwrap();
        assert_eq!(back.get(lock).kind(), Kind::Block { tag: 254, size: 2 });
        assert_eq!(root.to_rust(lock), Ok(bolt));
    });
    assert_no_roots();
});

test!(variants, || {
    with_ocaml(|lock| {
        let leaf = || Box::new(Tree::Leaf);
        let node = |l, n, r| Box::new(Tree::Node(l, n, r));
        let expected = Tree::Named {
            label: "four".into(),
            below: node(node(leaf(), 1, leaf()), 2, Box::new(Tree::Empty)),
        };
        let from_ocaml: Boxroot<OCamlTree> = tree(lock).unwrap();
        churn(lock);
        assert_eq!(from_ocaml.to_rust(lock), Ok(expected.clone()));
        assert_eq!(sum::<i32>(lock, &expected).unwrap(), 7);
        let mut large = *leaf();
        for n in 0..500 {
            large = *node(Box::new(large), n, Box::new(Tree::Empty));
        }
        let root = large.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(sum::<i32>(lock, &root).unwrap(), 124_750);
        assert_eq!(root.to_rust(lock), Ok(large));
    });
    assert_no_roots();
});

test!(polymorphic_variants, || {
    with_ocaml(|lock| {
        let expected = [
            Color::Black,
            Color::Rgb(1, 2, 255),
            Color::named("blue".into()),
            Color::A_rather_long_name_of_a_tag,
            Color::r#loop,
        ];
        assert_eq!(colors::<Vec<Color>>(lock).unwrap(), expected);
        let shown = expected.map(|color| show_color::<String>(lock, color).unwrap());
        assert_eq!(shown, ["black", "#0102ff", "blue", "long", "loop"]);
        let others: Boxroot<OCamlList<OCamlColor>> = other_colors(lock).unwrap();
        let read: Vec<Result<Color, ConversionError>> =
            others.get(lock).iter().map(|color| color.to_rust(lock)).collect();
        let error = read[0].as_ref().unwrap_err();
        assert_eq!(error.kind(), ConversionErrorKind::Mismatch);
        assert!(error.to_string().contains("expected OCamlColor, found the immediate"), "{error}");
        assert_eq!(read[1..], [Ok(Color::Black)]);
    })
});

test!(types_with_parameters, || {
    with_ocaml(|lock| {
        let tip = |text: &str| Box::new(Table::Tip(text.to_string()));
        let fork = |left, key, right| Box::new(Table::Fork { left, key, right });
        let table = fork(fork(tip("a"), 1, tip("b")), 2, tip("c"));
        let turned: Table<i32, String> = turn_names(lock, &table).unwrap();
        assert_eq!(turned, *fork(tip("c"), 2, fork(tip("b"), 1, tip("a"))));
        let tables = Tables { tables: vec![*table], of: vec![(); 2] };
        let root: Boxroot<OCamlTables<OCamlFloat>> = tables.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(root.to_rust(lock), Ok(tables));

        let own = Own { item: "text".to_string(), used: 3 };
        let found: Reply<String> = reply_of_text(lock, &own).unwrap();
        assert_eq!(found, Reply::Found(own.clone(), 3));
        let own = Own { item: own.item, used: 0 };
        assert_eq!(reply_of_text::<Reply<String>>(lock, own).unwrap(), Reply::Nothing);
        // A parameter may be a root in Rust.
        let numbers: Boxroot<OCamlList<OCamlFloat>> = [0.5, 1.5].to_ocaml(lock).unwrap();
        let own = Own { item: &*numbers, used: 1 };
        let found = reply_of_numbers::<Reply<Boxroot<OCamlList<OCamlFloat>>>>(lock, own).unwrap();
        let Reply::Found(Own { item, .. }, 1) = found else { panic!("{found:?}") };
        churn(lock);
        assert_eq!(item.to_rust(lock), Ok(vec![0.5, 1.5]));
        let own: Boxroot<OCamlOwn<OCamlString>> =
            Own { item: "field", used: 1 }.to_ocaml(lock).unwrap();
        assert_eq!(own.get(lock).at(OCamlOwn::item).as_str(), Ok("field"));
    });
    assert_no_roots();
});

test!(errors_say_where, || {
    with_ocaml(|lock| {
        let tip = |n| Box::new(Table::Tip(vec![(n, "x")]));
        let table = Table::Fork { left: tip(1), key: "k", right: tip(u64::MAX) };
        type Pairs = OCamlList<(OCamlInt, OCamlString)>;
        let refused = ToOCaml::<OCamlTable<OCamlString, Pairs>>::to_ocaml(&table, lock);
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ConversionErrorKind::OutOfRange);
        assert!(
            error.to_string().starts_with("`Fork.right.Tip.0`: number out of range"),
            "{error}"
        );
        let error = sum::<u8>(lock, Tree::Node(Box::new(Tree::Leaf), 256, Box::new(Tree::Leaf)));
        assert_eq!(
            error.unwrap_err().to_string(),
            "the result of `sum`: number out of range for the target type"
        );
    });
    assert_no_roots();
});

/// The memory that the error of an innermost part takes.
fn bytes_for_an_error(lock: &mut DomainLock, levels: usize) -> usize {
    let table = (0..levels).fold(Table::Tip(256), |right, _| Table::Fork {
        left: Box::new(Table::Tip(1)),
        key: "k",
        right: Box::new(right),
    });
    let root: Boxroot<OCamlTable<OCamlString, OCamlInt>> = table.to_ocaml(lock).unwrap();
    let before = requested();
    let error = root.to_rust::<Table<String, u8>>(lock).unwrap_err();
    let taken = requested() - before;
    assert_eq!(error.to_string().matches("Fork.right.").count(), levels);
    taken
}

test!(errors_of_deep_values_take_linear_memory, || {
    with_ocaml(|lock| {
        let (shallow, deep) = (bytes_for_an_error(lock, 200), bytes_for_an_error(lock, 400));
        assert!(deep < 3 * shallow, "{shallow}, {deep}");
    });
    assert_no_roots();
});

test!(generated_bindings, || {
    let program = command(env!("CARGO_BIN_EXE_bindings")).status();
    assert!(program.unwrap().success());
    // OCaml expects no exception from a function that is [@@noalloc].
    let panics = command(env!("CARGO_BIN_EXE_bindings")).arg("panic").output().unwrap();
    assert_eq!(panics.status.signal(), Some(libc::SIGABRT));
    let said = String::from_utf8_lossy(&panics.stderr);
    assert!(said.contains("out of a plain function"), "{said}");
});

/// More levels than a stack with the usual limits has room for.
const VERY_DEEP: usize = 300_000;

fn deep_tree_in_rust(levels: usize) -> Tree {
    (0..levels).fold(Tree::Leaf, |tree, _| Tree::Node(Box::new(tree), 0, Box::new(Tree::Leaf)))
}

/// The left side of a tree, with conversions that are written by hand.
struct Spine(Option<Rc<Spine>>);

impl ToOCaml<OCamlTree> for Spine {
    fn to_value<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, OCamlTree>, &'l DomainLock), ConversionError> {
        let _level = Level::new()?;
        let leaf = Tree::Leaf.to_ocaml(lock)?;
        let Some(below) = &self.0 else { return Tree::Leaf.to_value(lock) };
        let (below, zero) = ((**below).to_ocaml(lock)?, ToOCaml::<OCamlInt>::to_ocaml(&0, lock)?);
        let fields = [below.as_any(), zero.as_any(), leaf.as_any()];
        // SAFETY: this is how OCaml represents `Node (below, 0, Leaf)`.
        unsafe { lock.alloc_block(0, &fields) }
    }
}

impl FromOCaml<OCamlTree> for Spine {
    fn from_ocaml<'l>(
        value: Value<'l, OCamlTree>,
        lock: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let _level = Level::new()?;
        let Kind::Block { tag: 0, .. } = value.kind() else { return Ok(Spine(None)) };
        // SAFETY: the value is a `Node`, whose first argument is a tree.
        let below = unsafe { value.field::<OCamlTree>(0) };
        Ok(Spine(Some(Rc::new(below.to_rust(lock)?))))
    }
}

fn deep_spine_in_rust(levels: usize) -> Spine {
    (0..levels).fold(Spine(None), |spine, _| Spine(Some(Rc::new(spine))))
}

fn very_deep(lock: &mut DomainLock) -> Boxroot<OCamlTree> {
    deep_tree(lock, VERY_DEEP).unwrap()
}

fn too_deep<R: FromOCaml<OCamlTree> + ToOCaml<OCamlTree>>(
    lock: &mut DomainLock,
    in_ocaml: &Boxroot<OCamlTree>,
    in_rust: fn(usize) -> R,
) {
    assert_eq!(in_ocaml.to_rust::<R>(lock).err(), Some(ConversionErrorKind::TooDeep.into()));
    let very_deep = ManuallyDrop::new(in_rust(VERY_DEEP)); // dropping it would recurse
    assert_eq!(very_deep.to_ocaml(lock).err(), Some(ConversionErrorKind::TooDeep.into()));
}

/// Checks that `levels` nodes work, and no more. The leaf has no parts, so it is not a level.
fn limited_to<R: FromOCaml<OCamlTree> + ToOCaml<OCamlTree>>(
    lock: &mut DomainLock,
    levels: usize,
    in_rust: fn(usize) -> R,
) {
    for (n, expected) in [(levels, None), (levels + 1, Some(ConversionErrorKind::TooDeep.into()))] {
        let from_ocaml: Boxroot<OCamlTree> = deep_tree(lock, n).unwrap();
        assert_eq!(from_ocaml.to_rust::<R>(lock).err(), expected);
        assert_eq!(in_rust(n).to_ocaml(lock).err(), expected);
    }
}

test!(deep_values, || {
    with_ocaml(|lock| {
        let tree = very_deep(lock);
        too_deep(lock, &tree, deep_tree_in_rust);
        limited_to(lock, 512, deep_tree_in_rust);
        depth::set_limit(1000);
        limited_to(lock, 1000, deep_tree_in_rust);
        depth::set_limit(1);
        assert_eq!(Some(Some(true)).to_ocaml(lock).err(), None, "a boolean is not a level");
        assert_eq!(
            Some(Some(Some(true))).to_ocaml(lock).err(),
            Some(ConversionErrorKind::TooDeep.into())
        );
        let list: Boxroot<OCamlList<bool>> = vec![true].to_ocaml(lock).expect("one level");
        assert_eq!(list.to_rust(lock), Ok([true]));
    });
    assert_no_roots();
});

test!(deep_values_of_other_types, || {
    with_ocaml(|lock| {
        let tree = very_deep(lock);
        too_deep(lock, &tree, deep_spine_in_rust);
        depth::set_limit(600);
        let from_ocaml: Boxroot<OCamlTree> = deep_tree(lock, 599).unwrap();
        let spine: Spine = from_ocaml.to_rust(lock).unwrap();
        assert!(spine.to_ocaml(lock).is_ok());
        depth::set_limit(599);
        assert_eq!(spine.to_ocaml(lock).err(), Some(ConversionErrorKind::TooDeep.into()));
    });
    assert_no_roots();
});

/// Runs a function on a thread whose stack has that size.
fn on_a_stack<R: Send>(size: usize, f: impl FnOnce() -> R + Send) -> R {
    let thread = thread::Builder::new().stack_size(size);
    thread::scope(|scope| thread.spawn_scoped(scope, f).unwrap().join().unwrap())
}

/// A type with many constructors. If the conversions of all constructors used stack space at once,
/// a small stack would have room for one level.
macro_rules! many_constructors {
    ($($constructor:ident)*) => {
        enum Many {
            End,
            $($constructor(Box<Many>, [u8; 400], [u8; 400]),)*
        }

        ocaml_type! {
            enum OCamlMany for Many {
                End,
                $($constructor(OCamlMany, OCamlArray<OCamlInt>, OCamlArray<OCamlInt>),)*
            }
        }
    };
}

many_constructors! {
    C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19
}

fn deep_many_in_rust(levels: usize) -> Many {
    (0..levels).fold(Many::End, |many, _| Many::C15(Box::new(many), [7; 400], [8; 400]))
}

test!(deep_values_of_many_constructors, forbid(unsafe_code), || {
    let two: Boxroot<OCamlMany> = with_ocaml(|lock| deep_many_in_rust(2).to_ocaml(lock).unwrap());
    let many = deep_many_in_rust(500);
    let converts = || {
        DomainLock::with(|lock| {
            let two: Result<Many, _> = two.to_rust(lock);
            (two.err(), many.to_ocaml(lock).err())
        })
        .unwrap()
    };
    for (size, expected) in [(64 << 10, Some(ConversionErrorKind::TooDeep.into())), (2 << 20, None)]
    {
        assert_eq!(on_a_stack(size, converts), (None, expected));
    }
    drop(two);
    assert_no_roots();
});

/// A record with many fields: one for each 2 KiB of the stack below.
macro_rules! many_fields {
    ($($field:ident)*) => {
        struct Wide {
            next: Option<Box<Wide>>,
            $($field: u8,)*
        }

        ocaml_type! {
            struct OCamlWide for Wide {
                next: Option<OCamlWide>,
                $($field: OCamlInt,)*
            }
        }

        fn wide_in_rust(levels: usize) -> Wide {
            let end = Wide { next: None, $($field: 7,)* };
            (0..levels).fold(end, |wide, _| Wide { next: Some(Box::new(wide)), $($field: 8,)* })
        }
    };
}

many_fields! {
    f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31
}

ocaml_type! {
    struct OCamlTenths for Tenths {
        t0: OCamlFloat, t1: OCamlFloat, t2: OCamlFloat, t3: OCamlFloat, t4: OCamlFloat,
        t5: OCamlFloat, t6: OCamlFloat, t7: OCamlFloat, t8: OCamlFloat, t9: OCamlFloat,
    }
}

#[rustfmt::skip]
#[derive(Debug, PartialEq)]
struct Tenths {
    t0: f64, t1: f64, t2: f64, t3: f64, t4: f64, t5: f64, t6: f64, t7: f64, t8: f64,
    t9: std::time::Duration,
}

ocaml_functions! {
    // SAFETY: the type of the function in testlib.ml.
    unsafe {
        fn ten(
            a: OCamlInt, b: OCamlInt, c: OCamlInt, d: OCamlInt, e: OCamlInt, f: OCamlInt,
            g: OCamlInt, h: OCamlInt, i: OCamlInt, j: OCamlInt,
        ) -> OCamlString as String = "ten";
    }
}

// More parts and arguments than a tuple has.
test!(more_than_eight_parts, forbid(unsafe_code), || {
    let seconds = std::time::Duration::from_secs;
    with_ocaml(|lock| {
        let mut wide = wide_in_rust(0);
        (wide.f7, wide.f8, wide.f16, wide.f31) = (1, 2, 3, 4);
        let root: Boxroot<OCamlWide> = wide.to_ocaml(lock).unwrap();
        churn(lock);
        let fields = [OCamlWide::f7, OCamlWide::f8, OCamlWide::f16, OCamlWide::f31, OCamlWide::f30];
        assert_eq!(fields.map(|field| root.get(lock).at(field).to_int()), [1, 2, 3, 4, 7]);
        let copy: Wide = root.to_rust(lock).unwrap();
        assert_eq!([copy.f7, copy.f8, copy.f16, copy.f31, copy.f30], [1, 2, 3, 4, 7]);

        #[rustfmt::skip]
        let tenths = Tenths {
            t0: 0.0, t1: 0.1, t2: 0.2, t3: 0.3, t4: 0.4, t5: 0.5, t6: 0.6, t7: 0.7, t8: 0.8, t9: seconds(9),
        };
        let root: Boxroot<OCamlTenths> = tenths.to_ocaml(lock).unwrap();
        assert_eq!(root.to_rust::<Tenths>(lock).unwrap(), tenths);
        let [x, y] =
            [OCamlTenths::t8, OCamlTenths::t9].map(|field| root.read::<_, f64, true>(lock, field));
        assert_eq!((x.unwrap(), y.unwrap()), (0.8, 9.0));
        let before = Tenths { t9: seconds(0), ..tenths };
        assert!(before.to_ocaml(lock).is_ok());

        assert_eq!(ten(lock, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9).unwrap(), "0123456789");
        for (arguments, name) in
            [([u64::MAX, 1, 1], "`c`"), ([1, u64::MAX, 1], "`h`"), ([1, 1, u64::MAX], "`j`")]
        {
            let [c, h, j] = arguments;
            let refused = ten(lock, 0, 1, c, 3, 4, 5, 6, h, 8, j).unwrap_err();
            assert!(refused.to_string().contains(name), "{refused}");
        }
    });
    assert_no_roots();
});

test!(wide_values_at_the_end_of_the_stack, forbid(unsafe_code), || {
    let wide = wide_in_rust(250); // 500 levels
    let root: Boxroot<OCamlWide> = with_ocaml(|lock| wide.to_ocaml(lock).unwrap());
    let converts =
        |lock: &mut DomainLock| (wide.to_ocaml(lock).err(), root.to_rust::<Wide>(lock).err());
    let errors = on_a_stack(64 << 10, || DomainLock::with(converts).unwrap());
    assert_eq!(
        errors,
        (Some(ConversionErrorKind::TooDeep.into()), Some(ConversionErrorKind::TooDeep.into()))
    );
    drop(root);
    assert_no_roots();
});

/// A large value that does not count as a level, so nothing checks the stack while it is made.
struct Large(#[allow(dead_code)] [u8; 10_000]);

impl FromOCaml<OCamlInt> for Large {
    fn from_ocaml<'l>(_: Value<'l, OCamlInt>, _: &'l DomainLock) -> Result<Self, ConversionError> {
        Ok(Large([7; 10_000]))
    }
}

// In a debug build, a growing map has the most copies of a value on the stack.
test!(large_values_at_the_end_of_the_stack, forbid(unsafe_code), || {
    fn below<R>(depth: usize, f: &dyn Fn() -> R) -> R {
        let room = black_box([0_u8; 1 << 10]);
        let result = if depth == 0 { f() } else { below(depth - 1, f) };
        black_box(room);
        result
    }
    let pairs: Vec<(i64, i64)> = (0..40).map(|key| (key, 0)).collect();
    let root: Boxroot<OCamlList<(OCamlInt, OCamlInt)>> =
        with_ocaml(|lock| pairs.to_ocaml(lock).unwrap());
    let convert = |lock: &mut DomainLock| root.to_rust::<BTreeMap<i64, Large>>(lock).err();
    let error = || DomainLock::with(convert).unwrap();
    let first_error = || (0..).find_map(|depth| below(depth, &error));
    assert_eq!(on_a_stack(2 << 20, first_error), Some(ConversionErrorKind::TooDeep.into()));
    drop(root);
    assert_no_roots();
});

// Without a limit, the end of the stack is the limit.
test!(deep_values_at_the_end_of_the_stack, || {
    depth::set_limit(usize::MAX);
    let tree = with_ocaml(very_deep);
    let fails = || {
        DomainLock::with(|lock| {
            too_deep(lock, &tree, deep_tree_in_rust);
            too_deep(lock, &tree, deep_spine_in_rust);
        })
        .unwrap()
    };
    fails();
    for size in [64 << 10, 256 << 10, 2 << 20] {
        on_a_stack(size, fails);
    }
    drop(tree);
    assert_no_roots();
});

// A value of an abstract type may be a pointer that is NULL. `debug-checks` reports a root of 0 as
// a mistake.
#[cfg(not(feature = "debug-checks"))]
test!(unboxed_null, ocaml = 4, || {
    with_ocaml(|lock| {
        // SAFETY: on OCaml 4, a pointer to memory outside the heap is a value.
        let null: Value<'_, OCamlAny> = unsafe { Value::from_raw(0) };
        let handle = Handle { handle: Boxroot::new(lock, null) };
        let root: Boxroot<OCamlHandle> = handle.to_ocaml(lock).unwrap();
        churn(lock);
        assert_eq!(root.to_rust::<Handle>(lock).unwrap().handle.get(lock).raw(), 0);
    })
});
