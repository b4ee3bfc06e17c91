//! The Rust types that the build script chooses for OCaml's `int`.

use super::support::*;
use std::fs;

const X: &str = "
    type size = Small | Custom of { grams : int } | Pair of int * int
    type 'a tree = Leaf | Node of 'a tree * 'a
    type id = Id of int [@@unboxed]
    type order = { count : int; sizes : (int * size option) list; tree : int tree; native : nativeint; at : int -> int }
    type counter = { mutable n : int; o : int }
    type handle
    exception Missing of string * int
    exception Refused of { days : int }
    let limit = 3
    let reserve ?(most : int option) ?lock:(l = 1) (n : int) (o : order) : int list = [ n ]
    let same (x : 'a) : 'a = x
    let counter () = { n = 1; o = 2 }
    module Inner = struct let twice (n : int) : int option = Some n end
    external rate : ?days:int -> string -> int = \"x_rate\"
    external bare : (int[@untagged]) -> (int[@untagged]) = \"x_bare_bytecode\" \"x_bare\" [@@noalloc]";

#[test]
fn ints_by_choice() {
    let modules = Modules::new("ints_by_choice", &[("x.ml", X)]);
    let provider = "pub struct P;
        impl x::Externals for P {
            fn rate(_: &mut ocaml_boxroot::DomainLock, _: Option<DAYS>, _: String)
                -> Result<RATE, Box<dyn std::error::Error>> { Ok(1) }
            fn bare(n: isize) -> isize { n }
        }
        ocaml_boxroot::include_bindings!(x: P);";
    let bind = |words: &str, days: &str, rate: &str| {
        let provider = provider.replace("DAYS", days).replace("RATE", rate);
        modules.bind_in(&format!("module x {words}"), &provider)
    };
    bind("", "isize", "isize").has(&["count: isize", "-> OCamlList<OCamlInt> as Vec<isize>"]);
    bind("int_as * i64", "i64", "i64").has(&[
        "Custom { grams: i64 }, Pair(i64, i64),",
        "Id(i64)",
        "pub count: i64, pub sizes: Vec<(i64, Option<Size>)>, pub tree: Tree<i64>, pub native: isize,
         pub at: Boxroot<Function<(OCamlInt,), OCamlInt>>,",
        "pub n: i64, pub o: i64,",
        "pub struct Missing(pub String, pub i64);",
        "pub struct Refused { pub days: i64 }",
        "pub fn limit -> OCamlInt as i64",
        "(most: Option<OCamlInt> as Option<i64>, lock_: Option<OCamlInt> as Option<i64>, arg2: OCamlInt, order: OCamlOrder)
         -> OCamlList<OCamlInt> as Vec<i64>",
        "pub fn same<A>(arg0: A) -> A as Boxroot<A> =",
        "-> Option<OCamlInt> as Option<i64>",
        "-> OCamlInt as i64;",
        "fn bare = \"x_bare\" \"x_bare_bytecode\" (arg0: @bare OCamlInt as isize) -> @bare OCamlInt as isize;",
    ]);
    // The longest path wins, in any order. Among equal paths, the last one wins.
    let words = "int_as x.order.sizes u128 int_as X.order u8 int_as X.size.Custom.grams i8 int_as x.size u32
        int_as x.size.pair.1 i128 int_as x.limit u8 int_as x.limit u64 int_as x.reserve u16
        int_as x.reserve.lock_ i32 int_as x.inner.twice.result usize int_as x.missing.1 u32
        int_as x.rate.result i16";
    bind(words, "isize", "i16").has(&[
        "Custom { grams: i8 }, Pair(u32, i128),",
        "Id(isize)",
        "pub count: u8, pub sizes: Vec<(u128, Option<Size>)>, pub tree: Tree<u8>,",
        "pub struct Missing(pub String, pub u32);",
        "pub struct Refused { pub days: isize }",
        "-> OCamlInt as u64",
        "most: Option<OCamlInt> as Option<u16>, lock_: Option<OCamlInt> as Option<i32>,",
        "-> OCamlList<OCamlInt> as Vec<u16>",
        "-> Option<OCamlInt> as Option<usize>",
        "-> OCamlInt as i16;",
    ]);
    for (words, said) in [
        (
            "int_as x.order.cuont u8",
            &["no `int` that Rust converts at `x.order.cuont`", "x.order.count"][..],
        ),
        ("int_as x.reserve.arg2 u8", &["`x.reserve.arg2`", "x.reserve.most"]),
        ("int_as x.same u8", &["`x.same`", "There are: "]),
        ("int_as x.handle u8", &["`x.handle`"]),
        ("int_as x.bare u8", &["`x.bare`"]),
        ("int_as x.order.native u8", &["`x.order.native`"]),
        ("int_as x.order.at u8", &["`x.order.at`"]),
        ("opaque x.order int_as x.order.count u8", &["`x.order.count`"]),
        (
            "int_as x.order.count f64",
            &["`x.order.count` is the type f64, and must be one of i8, i16"],
        ),
        ("int_as * crate::Int", &["`*` is the type crate::Int"]),
    ] {
        assert_says(&modules.try_bind(&format!("module x {words}")).unwrap_err(), said);
    }
}

/// A number that does not fit is an error, which names the place.
#[test]
fn a_program_with_integers_by_choice() {
    let files = [
        ("build.rs", include_str!("projects/integers/build.rs")),
        ("src/main.rs", include_str!("projects/integers/main.rs")),
    ];
    let package = package("a_program_with_integers_by_choice", &build_and_run(), &files);
    fs::create_dir(package.join("ocaml")).unwrap();
    let stock = "type size = Small | Custom of { grams : int }
        type item = { count : int; size : size }
        exception Missing of string * int
        let count ?(most = 256) (items : item list) = ignore items; most
        let limits () = [ (max_int, true); (min_int, false) ]
        let change item by = { item with count = by }
        let find name count : unit = raise (Missing (name, count))";
    fs::write(package.join("ocaml/stock.ml"), stock).unwrap();
    let printed = cargo(&package, &["run"]).unwrap();
    let too_large = ": number out of range for the target type\n";
    let expected = [
        "255 [(4611686018427387903, true), (-4611686018427387904, false)]\n",
        &format!("the result of `count`{too_large}"),
        &format!("`count` of the result of `change`{too_large}"),
        "7 tea\n",
        &format!("`1`{too_large}"),
        &format!("`size.Custom.grams` of argument `list` of `count`{too_large}"),
    ];
    assert_says(&printed, &[&expected.concat()]);
}
