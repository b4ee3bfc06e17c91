//! Tests of user mistakes. Each is a small change of one project, in its Rust or OCaml code, and
//! must cause an error of rustc, ocamlopt or the linker. Each row has the expected words of the
//! error. `tests/safe/mistakes.rs` has the same mistakes with declarations by hand.

use super::support::*;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

const ORDERS: &str = r#"
type size = Small | Large | Custom of { grams : int } | Pair of int * string
type order = { customer : string; size : size; price : float; note : string option }
type point = { x : float; y : float }
type metres = { metres : float } [@@unboxed]
type colour = [ `Red | `Rgb of int * int * int | `Named of string ]
type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
type counter = { mutable count : int }
type cheque = private { cents : int }
type supplier = { name : string; town : string; since : int }
type stock
type _ expr = Number : int -> int expr | Text : string -> string expr
exception Out_of_stock of string * int
exception Refused of { by : string; days : int }
val stock : unit -> stock
val reserve : stock -> order -> int
val shift : stock -> row:int -> height:float -> string
val swap : stock -> left:int -> right:int -> string
val describe : ?note:string -> order -> string
val sizes : order list -> size list
val centre : point -> point
val far : metres -> metres
val paint : colour -> colour
val insert : int -> int tree -> int tree
val counter : unit -> counter
val pay : cheque -> string
val cheque : int -> cheque
val supplier : string -> supplier option
val number : int -> int expr
val text : string -> string expr
val eval : 'a expr -> 'a
val on_change : (order -> int) -> string
val room : stock -> [> `Full | `Left of int ]
val each_size : (grams_of:size -> int) -> string
val limit : int
external audit : order -> day:int -> unit = "orders_audit"
external rate : string -> float = "orders_rate"
"#;

const BOUND: &str = "module orders with orders.supplier crate::Supplier";

/// Declares the type of everything that it gets from OCaml.
const PROGRAM: &str = r#"#![forbid(unsafe_code)]
use ocaml_boxroot::*;
use orders::*;
type Answer<T> = Result<T, Box<dyn std::error::Error>>;
ocaml_boxroot::include_bindings!(orders: crate::Provider);

#[derive(Clone, Debug, PartialEq)]
pub struct Supplier { pub name: String, pub town: String, pub since: isize }

pub struct Provider;

impl Externals for Provider {
    fn audit(_: &mut DomainLock, order: Order, day: isize) -> Answer<()> {
        println!("{order:?} {day}");
        Ok(())
    }
    fn rate(_: &mut DomainLock, currency: String) -> Answer<f64> {
        Ok(if currency == "EUR" { 1.0 } else { 1.5 })
    }
}

pub fn program(lock: &mut DomainLock) -> Answer<()> {
    let stock: Boxroot<OCamlStock> = stock(lock)?;
    let order = Order { customer: "Ada".into(), size: Size::Custom { grams: 700 }, price: 9.5, note: None };
    match reserve(lock, &stock, &order) {
        Ok(left) => { let _: isize = left; }
        Err(error) => match OutOfStock::of(lock, &error)? {
            Some(OutOfStock(what, missing)) => { let _: (String, isize) = (what, missing); }
            None => return Err(error.into()),
        },
    }
    let _: String = shift(lock, &stock, 1, 2.5)?;
    let _: String = swap(lock, &stock, 1, 2)?;
    let _: String = describe(lock, Some("quickly".to_string()), &order)?;
    let all: Vec<Size> = sizes(lock, &[order.clone()])?;
    for size in &all {
        match size {
            Size::Small => {}
            Size::Large => {}
            Size::Custom { grams } => { let _: &isize = grams; }
            Size::Pair(count, unit) => { let _: (&isize, &String) = (count, unit); }
        }
    }
    let _: Vec<Size> = sizes(lock, vec![order.clone()])?;
    let rooted: Boxroot<OCamlList<OCamlSize>> = sizes_root(lock, &[order.clone()])?;
    let _: Vec<Size> = rooted.to_rust(lock)?;
    let _: Point = centre(lock, &Point { x: 1.0, y: 2.0 })?;
    let _: Metres = far(lock, Metres { metres: 3.0 })?;
    match paint(lock, &Colour::Rgb((1, 2, 3)))? {
        Colour::Red => {}
        Colour::Rgb((red, _, _)) => { let _: isize = red; }
        Colour::Named(name) => { let _: String = name; }
    }
    let _: Tree<isize> = insert(lock, 1, &Tree::Node(Box::new(Tree::Leaf), 2, Box::new(Tree::Leaf)))?;
    let counter: Boxroot<OCamlCounter> = counter(lock)?;
    let _: isize = counter.read(lock, OCamlCounter::count)?;
    let cheque: Boxroot<OCamlCheque> = cheque_root(lock, 100)?;
    let _: Cheque = cheque.to_rust(lock)?;
    let _: String = pay(lock, &cheque)?;
    let supplier: Option<Supplier> = supplier(lock, "tea")?;
    println!("{supplier:?}");
    let number: Boxroot<OCamlExpr<OCamlInt>> = number(lock, 1)?;
    let number: Boxroot<OCamlInt> = eval(lock, &number)?;
    let _: isize = number.to_rust(lock)?;
    let text: Boxroot<OCamlExpr<OCamlString>> = text(lock, "one")?;
    let _: Boxroot<OCamlString> = eval(lock, &text)?;
    let price = Function::<(OCamlOrder,), OCamlInt>::from_rust(lock, |lock, order| {
        let order: Order = order.to_rust(lock)?;
        Ok(order.price as isize)
    })?;
    let _: String = on_change(lock, &price)?;
    match room(lock, &stock)? {
        RoomResult::Full => {}
        RoomResult::Left(rooms) => { let _: isize = rooms; }
    }
    let grams = Function::<(OCamlSize,), OCamlInt>::from_rust_converting(lock, |_, _: Size| Ok(1))?;
    let _: String = each_size(lock, &grams)?;
    let rooted: Boxroot<OCamlOrder> = order.to_ocaml(lock)?;
    let _: String = rooted.read(lock, OCamlOrder::customer)?;
    let point: Boxroot<OCamlPoint> = Point { x: 1.0, y: 2.0 }.to_ocaml(lock)?;
    let _: f64 = point.read(lock, OCamlPoint::x)?;
    let _: isize = limit(lock)?;
    let refused = Refused { by: "Bob".to_string(), days: 3 }.exception(lock)?;
    Err(Box::new(refused))
}
"#;

/// A mistake: its name, the right text of the project, the wrong one, and the error.
type Mistake = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Mistakes in Rust; the error is rustc's. Each mistake is one line.
#[rustfmt::skip]
const IN_RUST: &[Mistake] = &[
    // Records and variants.
    ("a field of another type", "customer: \"Ada\".into()", "customer: 3", &["customer: 3", "expected `String`"]),
    ("an int for a float", "price: 9.5", "price: 9", &["price: 9", "expected `f64`"]),
    ("the option of a field forgotten", "note: None", "note: String::new()", &["note: String::new()", "expected `Option<String>`"]),
    ("a field forgotten", "price: 9.5, ", "", &["missing field `price`"]),
    ("a field too many", "note: None", "note: None, paid: true", &["no field named `paid`"]),
    ("a field misspelled", "customer: \"Ada\"", "custmer: \"Ada\"", &["no field named `custmer`", "customer"]),
    ("the values of two fields swapped", "customer: \"Ada\".into(), size: Size::Custom { grams: 700 }", "customer: Size::Small, size: \"Ada\"", &["expected `String`, found `Size`"]),
    ("an int in a record of floats", "&Point { x: 1.0,", "&Point { x: 1,", &["x: 1", "expected `f64`"]),
    ("an int in an unboxed record of a float", "metres: 3.0", "metres: 3", &["metres: 3", "expected `f64`"]),
    ("a number for an unboxed record of it", "Metres { metres: 3.0 }", "3.0", &["to the OCaml type `OCamlMetres`"]),
    ("a constructor that is not there", "size: Size::Custom { grams: 700 }", "size: Size::Medium", &["`Medium`", "`Size`"]),
    ("a constructor without its argument", "size: Size::Custom { grams: 700 }", "size: Size::Custom {}", &["missing field `grams`"]),
    ("a constructor with a tuple for a record", "size: Size::Custom { grams: 700 }", "size: Size::Custom(700)", &["Size::Custom"]),
    ("one argument of a constructor for two", "size: Size::Custom { grams: 700 }", "size: Size::Pair(1)", &["Pair", "String"]),
    ("the arguments of a constructor swapped", "size: Size::Custom { grams: 700 }", "size: Size::Pair(String::new(), 1)", &["Size::Pair", "isize"]),
    ("a match without a constructor", "            Size::Large => {}\n", "", &["`&Size::Large` not covered"]),
    ("a match of another number of arguments", "Size::Pair(count, unit) => { let _: (&isize, &String) = (count, unit); }", "Size::Pair(count) => { let _: &isize = count; }", &["this pattern has 1 field", "Pair"]),
    ("a polymorphic constructor that is not there", "&Colour::Rgb((1, 2, 3))", "&Colour::Green", &["`Green`", "`Colour`"]),
    ("three arguments for a tuple", "&Colour::Rgb((1, 2, 3))", "&Colour::Rgb(1, 2, 3)", &["Colour::Rgb"]),
    ("a match without a polymorphic constructor", "        Colour::Red => {}\n", "", &["`Colour::Red` not covered"]),
    ("another parameter", "Box::new(Tree::Leaf), 2,", "Box::new(Tree::Leaf), \"two\",", &["insert", "to the OCaml type `OCamlInt`"]),
    ("the result of another parameter", "let _: Tree<isize>", "let _: Tree<String>", &["expected `Tree<String>`, found `Tree<isize>`"]),
    ("a private record that Rust makes", "pay(lock, &cheque)", "pay(lock, &Cheque { cents: 1 })", &["to the OCaml type `OCamlCheque`", "Cheque"]),
    ("the copy of a mutable record", "let counter: Boxroot<OCamlCounter>", "let counter: Counter", &["expected `Counter`, found `Boxroot<OCamlCounter>`"]),
    ("a Rust type for an abstract type", "let stock: Boxroot<OCamlStock>", "let stock: Stock", &["cannot find type `Stock`"]),
    ("a Rust type for a GADT", "let number: Boxroot<OCamlExpr<OCamlInt>>", "let number: Expr<isize>", &["cannot find type `Expr`"]),
    ("another index of a GADT", "let number: Boxroot<OCamlInt>", "let number: Boxroot<OCamlString>", &["expected `Boxroot<OCamlString>`, found `Boxroot<OCamlInt>`"]),
    // A user's Rust type, from `with`.
    ("a field of the user's type forgotten", "pub town: String, pub since: isize", "pub since: isize", &["no field", "`town`"]),
    ("a field of the user's type too many", "pub since: isize", "pub since: isize, pub street: String", &["missing", "`street`"]),
    ("a field of the user's type misspelled", "pub town: String", "pub twon: String", &["`town`"]),
    ("a field of the user's type of another type", "pub since: isize", "pub since: String", &["OCamlInt", "String"]),
    // Functions.
    ("an argument of another type", "reserve(lock, &stock, &order)", "reserve(lock, &stock, \"order\")", &["cannot convert `str` to the OCaml type `OCamlOrder`"]),
    ("a root of another type", "reserve(lock, &stock, &order)", "reserve(lock, &stock, &stock)", &["cannot convert `Boxroot<OCamlStock>` to the OCaml type `OCamlOrder`"]),
    ("two arguments swapped", "reserve(lock, &stock, &order)", "reserve(lock, &order, &stock)", &["to the OCaml type `OCamlStock`"]),
    ("an argument forgotten", "reserve(lock, &stock, &order)", "reserve(lock, &stock)", &["argument #3", "/* order */"]),
    ("an argument too many", "reserve(lock, &stock, &order)", "reserve(lock, &stock, &order, 1)", &["unexpected argument #4", "reserve"]),
    ("the token forgotten", "reserve(lock, &stock, &order)", "reserve(&stock, &order)", &["argument #1 of type `&mut DomainLock`"]),
    ("a unit that Rust leaves out", "= stock(lock)?", "= stock(lock, ())?", &["unexpected argument #2", "stock"]),
    ("a call inside a call", "reserve(lock, &stock, &order)", "reserve(lock, &orders::stock(lock)?, &order)", &["cannot borrow `*lock` as mutable more than once"]),
    ("labelled arguments of different types swapped", "shift(lock, &stock, 1, 2.5)", "shift(lock, &stock, 2.5, 1)", &["to the OCaml type `OCamlInt`"]),
    ("an optional argument without Some", "Some(\"quickly\".to_string())", "\"quickly\".to_string()", &["describe", "expected `Option<String>`"]),
    ("an optional argument forgotten", "Some(\"quickly\".to_string()), ", "", &["describe", "Option<String>"]),
    ("a list for one", "reserve(lock, &stock, &order)", "reserve(lock, &stock, &[order.clone()])", &["to the OCaml type `OCamlOrder`"]),
    ("one for a list", "let all: Vec<Size> = sizes(lock, &[order.clone()])", "let all: Vec<Size> = sizes(lock, &order)", &["OCamlList<OCamlOrder>", "Order"]),
    ("a list of others", "sizes(lock, vec![order.clone()])", "sizes(lock, vec![Size::Small])", &["cannot convert `Size` to the OCaml type `OCamlOrder`"]),
    ("a function misspelled", "reserve(lock, &stock, &order)", "resreve(lock, &stock, &order)", &["cannot find function `resreve`", "`reserve`"]),
    ("an item of a module that is not bound", "pub struct Provider;", "use money::Money;\npub struct Provider;", &["unresolved import `money`"]),
    ("a value that is called as a function", "limit(lock)", "limit(lock, 1)", &["unexpected argument #2", "limit"]),
    ("a callback of another argument", "Function::<(OCamlOrder,), OCamlInt>", "Function::<(OCamlPoint,), OCamlInt>", &["OCamlPoint"]),
    ("a callback of another number of arguments", "Function::<(OCamlOrder,), OCamlInt>::from_rust(lock, |lock, order|", "Function::<(OCamlOrder, OCamlInt), OCamlInt>::from_rust(lock, |lock, order, _|", &["Function<(OCamlOrder,), OCamlInt>"]),
    ("a callback of another result", "Ok(order.price as isize)", "Ok(order.price)", &["cannot convert `f64` to the OCaml type `OCamlInt`"]),
    // Results, and fields.
    ("the result of another type", "let _: isize = left;", "let _: String = left;", &["expected `String`, found `isize`"]),
    ("the option of a result forgotten", "let supplier: Option<Supplier>", "let supplier: Supplier", &["expected `Supplier`, found `Option<Supplier>`"]),
    ("the error of a call forgotten", "let _: isize = limit(lock)?;", "let _: isize = limit(lock);", &["expected `isize`, found `Result<isize, CallError>`"]),
    ("a root of another type for a result", "let rooted: Boxroot<OCamlList<OCamlSize>>", "let rooted: Boxroot<OCamlList<OCamlOrder>>", &["OCamlOrder", "OCamlSize"]),
    ("a root for an int", "let stock: Boxroot<OCamlStock>", "let stock: isize", &["expected `isize`, found `Boxroot<OCamlStock>`"]),
    ("a root that is copied to another type", "let _: Vec<Size> = rooted", "let _: Vec<Order> = rooted", &["cannot convert the OCaml type `OCamlSize` to `Order`"]),
    ("the field of another record", "rooted.read(lock, OCamlOrder::customer)", "rooted.read(lock, OCamlPoint::x)", &["OCamlPoint"]),
    ("a field that is read as another type", "let _: String = rooted.read", "let _: isize = rooted.read", &["cannot convert the OCaml type `OCamlString` to `isize`"]),
    ("a field that is not there", "OCamlOrder::customer", "OCamlOrder::weight", &["`weight`", "OCamlOrder"]),
    ("the value of a field of a flat record", "point.read(lock, OCamlPoint::x)?", "point.get(lock).at(OCamlPoint::x).to_rust(lock)?", &["OCamlPoint", "expected `false`, found `true`"]),
    // Exceptions.
    ("another argument of an exception", "let _: (String, isize) = (what, missing)", "let _: (isize, String) = (what, missing)", &["(what, missing)", "expected `isize`, found `String`"]),
    ("an argument of an exception forgotten", "Some(OutOfStock(what, missing)) => { let _: (String, isize) = (what, missing); }", "Some(OutOfStock(what)) => { let _: String = what; }", &["this pattern has 1 field", "OutOfStock"]),
    ("a field of an exception misspelled", "days: 3", "day: 3", &["no field named `day`"]),
    ("a field of an exception of another type", "by: \"Bob\".to_string()", "by: 3", &["by: 3", "expected `String`"]),
    ("an exception that is looked for in no error", "OutOfStock::of(lock, &error)", "OutOfStock::of(lock, &stock)", &["MayBeException", "Boxroot<OCamlStock>"]),
    // What OCaml wants from Rust.
    ("an external forgotten", "    fn rate(_: &mut DomainLock, currency: String) -> Answer<f64> {\n        Ok(if currency == \"EUR\" { 1.0 } else { 1.5 })\n    }\n", "", &["missing: `rate`"]),
    ("an external that OCaml does not declare", "fn rate(_", "fn rates() {}\n    fn rate(_", &["method `rates` is not a member of trait `Externals`"]),
    ("an external with another argument", "day: isize", "day: String", &["audit", "expected `isize`"]),
    ("an external without an argument", "order: Order, day: isize) -> Answer<()> {\n        println!(\"{order:?} {day}\");", "_: Order) -> Answer<()> {", &["`audit` has 2 parameters", "3"]),
    ("an external with its arguments swapped", "order: Order, day: isize", "day: isize, order: Order", &["audit", "expected `Order`"]),
    ("an external with another result", "-> Answer<f64> {\n        Ok(if currency == \"EUR\" { 1.0 } else { 1.5 })", "-> Answer<isize> {\n        Ok(currency.len() as isize)", &["rate", "f64"]),
    ("no type that provides the externals", "include_bindings!(orders: crate::Provider)", "include_bindings!()", &["ocaml_externals", "orders"]),
    ("a type that does not provide the externals", "include_bindings!(orders: crate::Provider)", "include_bindings!(orders: crate::Supplier)", &["`Externals` is not implemented for `Supplier`"]),
];

/// Mistakes in OCaml, with unchanged Rust code. With new bindings, the error is rustc's. With the
/// old bindings, OCaml's compiler and the linker each report an error.
#[rustfmt::skip]
const IN_OCAML: &[Mistake] = &[
    // Records and variants.
    ("a field added", "price : float;", "price : float; paid : bool;", &["missing field `paid`"]),
    ("a field removed", "; note : string option", "", &["no field named `note`"]),
    ("a field renamed", "customer : string", "client : string", &["no field named `customer`", "client"]),
    ("a field of another type", "price : float", "price : int", &["price: 9.5", "expected `isize`"]),
    ("a field without its option", "note : string option }", "note : string }", &["note: None", "expected `String`"]),
    ("a float of a flat record is an int", "{ x : float;", "{ x : int;", &["x: 1.0", "expected `isize`"]),
    ("an unboxed float is an int", "{ metres : float }", "{ metres : int }", &["metres: 3.0", "expected `isize`"]),
    ("a record becomes mutable", "{ x : float;", "{ mutable x : float;", &["expected `Point`, found `Boxroot<OCamlPoint>`"]),
    ("a record becomes immutable", "{ mutable count", "{ count", &["expected `Boxroot<OCamlCounter>`, found `Counter`"]),
    ("a record becomes private", "type point =", "type point = private", &["to the OCaml type `OCamlPoint`"]),
    ("a record becomes abstract", "type order = { customer : string; size : size; price : float; note : string option }", "type order", &["cannot find", "`Order`"]),
    ("another parameter", "int tree -> int tree", "string tree -> string tree", &["OCamlString"]),
    ("an abstract type is a record", "type stock\n", "type stock = { rows : int }\n", &["expected `Boxroot<OCamlStock>`, found `Stock`"]),
    ("the type of the user's Rust type gets a field", "since : int }", "since : int; street : string }", &["`street`"]),
    ("the type of the user's Rust type loses a field", "town : string; ", "", &["missing", "`town`"]),
    ("a field of the user's Rust type of another type", "since : int }", "since : string }", &["OCamlString", "isize"]),
    ("a constructor added", "| Pair of", "| Huge | Pair of", &["`&Size::Huge` not covered"]),
    ("a constructor removed", "Small | Large |", "Small |", &["`Large`", "`Size`"]),
    ("a constructor renamed", "Small | Large |", "Small | Big |", &["`Large`", "`Size`"]),
    ("a constructor gets an argument", "Large |", "Large of int |", &["Size::Large"]),
    ("an argument of a constructor added", "int * string\n", "int * string * int\n", &["this pattern has 2 fields", "Pair"]),
    ("an argument of a constructor of another type", "int * string\n", "float * string\n", &["(count, unit)", "expected `&isize`, found `&f64`"]),
    ("the arguments of a constructor become a tuple", "int * string\n", "(int * string)\n", &["this pattern has 2 fields", "Pair"]),
    ("a label of a constructor renamed", "{ grams : int }", "{ weight : int }", &["no field named `grams`"]),
    ("a polymorphic constructor added", "[ `Red", "[ `Green | `Red", &["`Colour::Green` not covered"]),
    ("a constructor of a result with an open type added", "[> `Full", "[> `Half | `Full", &["`RoomResult::Half` not covered"]),
    ("a polymorphic constructor removed", "[ `Red | ", "[ ", &["`Red`", "`Colour`"]),
    ("the argument of a polymorphic constructor of another type", "`Named of string", "`Named of int", &["expected `String`, found `isize`"]),
    ("the arguments of a tree in another order", "'a tree * 'a * 'a tree", "'a * 'a tree * 'a tree", &["Tree::Node"]),
    ("an index of a GADT changes", "int expr\nval text : string -> string expr", "int expr\nval text : string -> int expr", &["OCamlExpr<OCamlString>", "OCamlExpr<OCamlInt>"]),
    // Functions.
    ("an argument added", "val reserve : stock -> order -> int", "val reserve : stock -> order -> bool -> int", &["reserve", "argument #4", "arg2: bool"]),
    ("an argument removed", "val reserve : stock -> order -> int", "val reserve : stock -> int", &["unexpected argument #3", "reserve"]),
    ("two arguments of different types swap", "val reserve : stock -> order -> int", "val reserve : order -> stock -> int", &["to the OCaml type `OCamlStock`"]),
    ("an argument of another type", "val reserve : stock -> order -> int", "val reserve : stock -> size -> int", &["to the OCaml type `OCamlSize`"]),
    ("an int argument becomes a float", "row:int", "row:float", &["to the OCaml type `OCamlFloat`"]),
    ("a string argument becomes bytes", "val supplier : string", "val supplier : bytes", &["to the OCaml type `OCamlBytes`"]),
    ("a function is less general", "val eval : 'a expr -> 'a", "val eval : int expr -> int", &["to the OCaml type `OCamlExpr<OCamlInt>`"]),
    ("a list becomes a tuple", "val sizes : order list", "val sizes : order * order", &["to the OCaml type `(OCamlOrder, OCamlOrder)`"]),
    ("two labelled arguments of different types swap", "row:int -> height:float", "height:float -> row:int", &["to the OCaml type `OCamlInt`"]),
    ("an argument becomes optional", "row:int", "?row:int", &["shift", "expected `Option<isize>`"]),
    ("an argument is optional no more", "?note:string", "note:string", &["cannot convert `Option"]),
    ("the result of another type", "val reserve : stock -> order -> int", "val reserve : stock -> order -> float", &["expected `isize`, found `f64`"]),
    ("the result becomes an option", "val reserve : stock -> order -> int", "val reserve : stock -> order -> int option", &["expected `isize`, found `Option<isize>`"]),
    ("the result is an option no more", "supplier option", "supplier", &["expected `Option<Supplier>`, found `Supplier`"]),
    ("the argument of a callback of another type", "(order -> int)", "(size -> int)", &["Function<(OCamlSize,), OCamlInt>"]),
    ("the argument with a label of a callback of another type", "(grams_of:size", "(grams_of:order", &["Function<(OCamlOrder,), OCamlInt>"]),
    ("a callback of one more argument", "(order -> int)", "(order -> int -> int)", &["Function<(OCamlOrder, OCamlInt), OCamlInt>"]),
    ("a value of another type", "val limit : int", "val limit : string", &["expected `isize`, found `String`"]),
    ("a value becomes a function", "val limit : int", "val limit : int -> int", &["limit", "argument #2", "arg0: OCamlInt"]),
    ("a function removed", "val pay : cheque -> string\n", "", &["cannot find function `pay`"]),
    ("a function in a submodule", "val pay : cheque -> string\n", "module Bank : sig val pay : cheque -> string end\n", &["cannot find function `pay`", "bank"]),
    // Exceptions.
    ("an argument of an exception of another type", "of string * int\n", "of string * float\n", &["(what, missing)", "expected `isize`, found `f64`"]),
    ("an argument of an exception added", "exception Out_of_stock of string * int", "exception Out_of_stock of string * int * int", &["this pattern has 2 fields", "OutOfStock"]),
    ("the arguments of an exception become a tuple", "exception Out_of_stock of string * int", "exception Out_of_stock of (string * int)", &["this pattern has 2 fields", "OutOfStock"]),
    ("a field of an exception renamed", "days : int", "weeks : int", &["no field named `days`"]),
    ("an exception removed", "exception Refused of { by : string; days : int }\n", "", &["`Refused`"]),
    // What OCaml wants from Rust.
    ("an argument of an external of another type", "day:int", "day:string", &["audit", "expected `String`"]),
    ("an argument of an external added", "day:int", "day:int -> bool", &["`audit` has 3 parameters", "4"]),
    ("two arguments of an external swap", "order -> day:int", "day:int -> order", &["audit", "expected `isize`"]),
    ("the result of an external of another type", "external rate : string -> float", "external rate : string -> int", &["rate", "isize"]),
    ("an external renamed", "external rate", "external price_of", &["method `rate` is not a member", "missing: `price_of`"]),
    ("an external removed", "external rate : string -> float = \"orders_rate\"\n", "", &["method `rate` is not a member"]),
    ("a symbol that is not the module's", "\"orders_rate\"", "\"order_rate\"", &["method `rate` is not a member"]),
];

/// Changes in OCaml after which the unchanged Rust code is correct with new bindings. With the old
/// bindings, there are errors as above.
const RIGHT_WITH_NEW_BINDINGS: &[(&str, &str, &str)] = &[
    ("a label of a callback renamed", "grams_of:size", "size:size"),
    (
        "two fields in another order",
        "customer : string; size : size;",
        "size : size; customer : string;",
    ),
    ("constructors in another order", "Small | Large", "Large | Small"),
    ("a record is unboxed no more", " [@@unboxed]", ""),
    ("another label", "row:int", "line:int"),
    ("a list becomes an array", "val sizes : order list", "val sizes : order array"),
    ("a value becomes a function of unit", "val limit : int", "val limit : unit -> int"),
];

/// Changes after which OCaml's compiler still accepts the old bindings. The linker then does not
/// find the symbol of the new bindings.
const STILL_TRUE: &[&str] = &["an abstract type is a record", "a symbol that is not the module's"];

/// Mistakes that neither compiler notices, because the types are right. (Two more kinds are not
/// tested: swapping values of one type in Rust, and changing a function's behaviour.) Labels are
/// only names of arguments in Rust. With the old bindings, there are errors as above.
const NOT_NOTICED: &[(&str, &str, &str)] = &[(
    "two labelled arguments of one type change places",
    "left:int -> right:int",
    "right:int -> left:int",
)];

/// Calls `f` with each row, on several threads at once, and fails with the messages of all rows.
#[track_caller]
fn for_each<T: Sync>(rows: &[T], f: impl Fn(usize, &T) -> Result<(), String> + Sync) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(row) = rows.get(number) else { break };
                if let Err(text) = f(number, row) {
                    wrong.lock().unwrap().push(text);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} rows:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The text with the change, which must occur once.
fn changed(text: &str, name: &str, before: &str, after: &str) -> Result<String, String> {
    match text.matches(before).count() {
        1 => Ok(text.replacen(before, after, 1)),
        count => Err(format!("{name}: `{before}` is there {count} times")),
    }
}

/// `Ok` if there is an error with these words.
fn is_error(name: &str, said: Said, words: &[&str]) -> Result<(), String> {
    match said {
        Ok(said) => Err(format!("{name}: not noticed\n{said}")),
        Err(said) => {
            // Not every version of rustc writes the paths.
            let said = ["orders::", "ocaml_boxroot::", "std::option::"]
                .iter()
                .fold(said, |said, path| said.replace(path, ""));
            match words.iter().find(|word| !said.contains(**word)) {
                Some(word) => Err(format!("{name}: not said: {word}\n{said}")),
                None => Ok(()),
            }
        }
    }
}

fn orders(folder: &str) -> Modules {
    Modules::new(folder, &[("orders.mli", ORDERS)])
}

#[test]
fn mistakes_in_rust() {
    let modules = orders("mistakes_in_rust");
    modules.bind_in(BOUND, PROGRAM);
    for_each(IN_RUST, |number, (name, before, after, words)| {
        let program = changed(PROGRAM, name, before, after)?;
        is_error(name, modules.rustc(&format!("mistake_{number}.rs"), &program, METADATA), words)
    });
}

#[test]
fn mistakes_in_ocaml() {
    let before = orders("mistakes_in_ocaml").bind_in(BOUND, PROGRAM);
    let right = [RIGHT_WITH_NEW_BINDINGS, NOT_NOTICED].concat();
    let right = right.into_iter().map(|(name, old, new)| (name, old, new, &[][..]));
    let rows: Vec<Mistake> = IN_OCAML.iter().copied().chain(right).collect();
    for_each(&rows, |number, (name, old, new, words)| {
        let modules = Modules::new(&format!("mistake_in_ocaml_{number}"), &[]);
        modules.compile("orders.mli", &changed(ORDERS, name, old, new)?)?;
        match (modules.compile("glue.ml", &before.glue), STILL_TRUE.contains(name)) {
            (said, true) => said.map(|_| ())?,
            (said, false) => is_error(name, said, &["Error", "Orders"])?,
        }
        modules.try_bind(BOUND)?;
        let rust = fs::read_to_string(modules.0.join("ocaml_bindings.rs")).unwrap();
        if rust.contains(&before.digest) {
            return Err(format!("{name}: the digest is as before"));
        }
        let said = modules.rustc("program.rs", PROGRAM, METADATA);
        match words {
            [] => said.map(|_| ()),
            _ => is_error(name, said, words),
        }
    });
}

/// Object files of different ages do not link.
#[test]
fn what_is_stale_does_not_link() {
    let before = "type order = { customer : string; price : float }
                  let price (order : order) = order.price
                  external audit : order -> unit = \"x_audit\"";
    let program = "
        use ocaml_boxroot::DomainLock;
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(_: &mut DomainLock, _: x::Order) -> Result<(), Box<dyn std::error::Error>> { Ok(()) }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider);";
    let modules = Modules::new("what_is_stale_does_not_link", &[("x.ml", before)]);
    let link = |glue: &str| link(&modules, &["x.cmx", glue]);
    let old = modules.bind_in("module x", program);
    modules.rustc("program.rs", program, &["--crate-type", "staticlib"]).unwrap();
    link("glue.cmx").unwrap();
    for file in ["glue.cmx", "glue.o"] {
        fs::copy(modules.0.join(file), modules.0.join(format!("old_{file}"))).unwrap();
    }
    modules.compile("x.ml", &before.replace("price : float", "price : int")).unwrap();
    let new = modules.bind_in("module x", program);
    assert_ne!(new.digest, old.digest);
    // Rust's object is old: an error of the linker.
    assert_says(&link("glue.cmx").unwrap_err(), &[&format!("boxroot_abi_x_{}", new.digest)]);
    // OCaml's object is old: an error of ocamlopt.
    assert_says(&link("old_glue.cmx").unwrap_err(), &["inconsistent assumptions", "X"]);
}

/// Links these files and `libprogram.a`, which Rust made.
fn link(modules: &Modules, files: &[&str]) -> Said {
    let mut ocamlopt = ocamlopt();
    ocamlopt.args(files).args(["libprogram.a", "-cclib", "-lpthread -ldl -lm", "-o", "program"]);
    said(ocamlopt.current_dir(&modules.0).output().unwrap())
}

/// If `register` is never called, OCaml does not link the module that compares the interfaces.
#[test]
fn register_is_forgotten() {
    let text = "external audit : string -> unit = \"x_audit\"";
    let modules = Modules::new("register_is_forgotten", &[("x.ml", text)]);
    let program = "
        use ocaml_boxroot::DomainLock;
        pub struct Provider;
        impl x::Externals for Provider {
            fn audit(_: &mut DomainLock, text: String) -> Result<(), Box<dyn std::error::Error>> {
                println!(\"Rust has {text}\");
                Ok(())
            }
        }
        ocaml_boxroot::include_bindings!(x: crate::Provider);";
    modules.bind_in("module x", program);
    modules.rustc("program.rs", program, &["--crate-type", "staticlib"]).unwrap();
    let main = "let () = try X.audit \"it\" with Failure text -> print_endline text";
    // Now in a library, whose modules are linked if something refers to them.
    let mut library = ocamlopt();
    library.args(["-a", "glue.cmx", "-o", "glue.cmxa"]).current_dir(&modules.0);
    said(library.output().unwrap()).unwrap();
    let run = |main: &str| {
        modules.compile("main.ml", main).unwrap();
        link(&modules, &["x.cmx", "glue.cmxa", "main.cmx"]).unwrap();
        said(Command::new(modules.0.join("program")).output().unwrap()).unwrap()
    };
    let said = run(main);
    assert_says(&said, &["initialised the module Glue", "add `let () = Glue.register ()`"]);
    assert_eq!(run(&format!("let () = Glue.register ()\n{main}")), "Rust has it\n");
}

/// The macros for bindings are safe because the build helper wrote their arguments.
#[test]
fn bindings_in_another_file() {
    let text = "exception E of int external f : int -> int = \"x_f\" let g x = x + 1 let v = 1";
    let modules = Modules::new("bindings_in_another_file", &[("x.ml", text)]);
    modules.try_bind("module x").unwrap();
    let program = |include| {
        format!(
            "#![forbid(unsafe_code)] pub struct Provider; {include}
             impl x::Externals for Provider {{
                fn f(_: &mut ocaml_boxroot::DomainLock, _: isize) -> Result<isize, Box<dyn std::error::Error>> {{ Ok(0) }}
             }}"
        )
    };
    // rustc may write paths in another way.
    let included = program("ocaml_boxroot::include_bindings!(x: crate::Provider);");
    let above = modules.0.parent().unwrap().parent().unwrap().display();
    let remap = format!("--remap-path-prefix={above}=elsewhere");
    modules.rustc("included.rs", &included, &[METADATA, &[&*remap]].concat()).unwrap();
    // A copy is no longer the build helper's file.
    fs::copy(modules.0.join("ocaml_bindings.rs"), modules.0.join("copy.rs")).unwrap();
    let copied =
        program("include!(\"copy.rs\"); mod ocaml_externals { pub type x = crate::Provider; }");
    let said = modules.rustc("copied.rs", &copied, METADATA).unwrap_err();
    for name in
        ["bound_abi!", "bound_exception!", "bound_externals!", "ocaml_functions! { generated … }"]
    {
        assert_says(&said, &[&format!("{name} is only for the bindings")]);
    }
}
