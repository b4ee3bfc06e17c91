//! The measures with the crate `ocaml-interop`, as its guides teach. It has no errors that OCaml sees as exceptions.

#[path = "../common.rs"]
mod common;

use common::{floats, ints, mebibyte, tagged, word, MANY, MEBIBYTE, MMMM, REFUSED, TEXT};
use ocaml_interop::{
    BoxRoot, FromOCaml, OCaml, OCamlBytes, OCamlFloat, OCamlFloatArray, OCamlInt, OCamlList,
    OCamlRuntime, ToOCaml,
};
use std::fmt::Debug;
use std::process::ExitCode;

common::samples!();

#[derive(Debug, PartialEq)]
pub struct Item {
    id: i64,
    name: String,
    price: f64,
    known: bool,
}

#[derive(Debug, PartialEq)]
pub enum Shape {
    Empty,
    Circle(f64),
    Rectangle(i64, i64),
    Named(String),
}

ocaml_interop::impl_conv_ocaml_record! {
    Item { id: OCamlInt, name: String, price: OCamlFloat, known: bool }
}
ocaml_interop::impl_conv_ocaml_variant! {
    Shape {
        Shape::Empty,
        Shape::Circle(radius: OCamlFloat),
        Shape::Rectangle(width: OCamlInt, height: OCamlInt),
        Shape::Named(name: String),
    }
}

mod border {
    use super::{Item, Shape};
    use ocaml_interop::{ocaml, OCamlBytes, OCamlFloatArray, OCamlInt, OCamlList};
    ocaml! {
        pub fn call_int(n: OCamlInt) -> OCamlInt;
        pub fn call_string(text: String) -> String;
        pub fn closure(unit: ()) -> fn(OCamlInt) -> OCamlInt;
        pub fn refusal(unit: ()) -> fn(()) -> ();
        pub fn item(i: OCamlInt) -> Item;
        pub fn shape(i: OCamlInt) -> Shape;
        pub fn list(unit: ()) -> OCamlList<OCamlInt>;
        pub fn floats(unit: ()) -> OCamlFloatArray;
        pub fn items(unit: ()) -> OCamlList<Item>;
        pub fn mebibyte(unit: ()) -> String;
        pub fn mebibyte_of_bytes(unit: ()) -> OCamlBytes;
        pub fn export_int(n: OCamlInt);
        pub fn export_string(n: OCamlInt);
        pub fn export_record(n: OCamlInt);
        pub fn export_panic(n: OCamlInt);
        pub fn export_noalloc(n: OCamlInt);
    }
}

fn main() -> ExitCode {
    let _guard = OCamlRuntime::init().expect("OCaml starts");
    common::main(common::measures!(enter:
        call_int call_string closure_call list_to list_from floats_to floats_from record_to
        record_from records_1000_to records_1000_from variant_to variant_from string_1M_to
        string_1M_from bytes_1M_to bytes_1M_from export_int export_string export_record
        export_panic export_noalloc exception root; attach))
}

fn enter(measure: impl FnOnce(&mut OCamlRuntime)) {
    OCamlRuntime::with_domain_lock(measure);
}

fn attach(n: usize) {
    for _ in 0..n {
        assert_eq!(OCamlRuntime::with_domain_lock(|_| 1), 1);
    }
}

fn root(cr: &mut OCamlRuntime, n: usize) {
    let kept = border::item(cr, &OCaml::of_i32(1));
    for _ in 0..n {
        let root = kept.get(cr).root();
        // SAFETY: only compared.
        assert!(unsafe { root.get(cr).raw() == kept.get(cr).raw() });
    }
}

// ---- calls ----

fn call_int(cr: &mut OCamlRuntime, n: usize) {
    for i in 0..n as i32 {
        assert_eq!(border::call_int(cr, &OCaml::of_i32(i)).get(cr).to_i64(), i64::from(i) + 1);
    }
}

fn call_string(cr: &mut OCamlRuntime, n: usize) {
    for _ in 0..n {
        let text = TEXT.to_boxroot(cr);
        assert_eq!(border::call_string(cr, &text).get(cr).as_str().to_owned(), TEXT);
    }
}

fn closure_call(cr: &mut OCamlRuntime, n: usize) {
    let closure = border::closure(cr, &OCaml::unit());
    for i in 0..n as i64 {
        assert_eq!(closure.try_call(cr, &i).ok().expect("no exception").to_i64(), i + 1);
    }
}

/// Exceptions of functions that `ocaml!` declares are panics, but those of closures are errors.
fn exception(cr: &mut OCamlRuntime, n: usize) {
    let refuse = border::refusal(cr, &OCaml::unit());
    for _ in 0..n {
        let error = refuse.try_call(cr, &()).err().expect("an exception");
        assert_eq!(error.message().as_deref(), Some(REFUSED));
    }
}

// ---- conversions ----

/// Converts to OCaml, and looks at the first word.
fn to<T: 'static, R>(cr: &mut OCamlRuntime, n: usize, value: R, right: impl Fn(isize) -> bool)
where
    R: ToOCaml<T> + FromOCaml<T> + PartialEq + Debug,
{
    assert_eq!(value.to_boxroot(cr).to_rust::<R>(cr), value);
    for _ in 0..n {
        let root = value.to_boxroot(cr);
        // SAFETY: the measures that call this have values that are blocks.
        assert!(right(unsafe { word(root.get(cr).raw()) }));
    }
}

/// Converts from OCaml, and looks at a part.
fn from<T: 'static, R>(
    cr: &mut OCamlRuntime,
    n: usize,
    root: BoxRoot<T>,
    expected: R,
    right: impl Fn(&R) -> bool,
) where
    R: FromOCaml<T> + PartialEq + Debug,
{
    assert_eq!(root.to_rust::<R>(cr), expected);
    for _ in 0..n {
        assert!(right(&root.to_rust(cr)));
    }
}

fn list_to(cr: &mut OCamlRuntime, n: usize) {
    to::<OCamlList<OCamlInt>, _>(cr, n, ints(), |head| head == tagged(0));
}

fn list_from(cr: &mut OCamlRuntime, n: usize) {
    let list = border::list(cr, &OCaml::unit());
    from(cr, n, list, ints(), |ints| ints.len() == MANY);
}

fn floats_to(cr: &mut OCamlRuntime, n: usize) {
    to::<OCamlFloatArray, _>(cr, n, floats(), |first| first == 0);
}

fn floats_from(cr: &mut OCamlRuntime, n: usize) {
    let array = border::floats(cr, &OCaml::unit());
    from(cr, n, array, floats(), |floats| floats.len() == MANY);
}

fn record_to(cr: &mut OCamlRuntime, n: usize) {
    to(cr, n, item(1), |id| id == tagged(1));
}

fn record_from(cr: &mut OCamlRuntime, n: usize) {
    let record = border::item(cr, &OCaml::of_i32(1));
    from(cr, n, record, item(1), |item| item.id == 1);
}

fn records_1000_to(cr: &mut OCamlRuntime, n: usize) {
    to::<OCamlList<Item>, _>(cr, n, items(), |head| head != tagged(0));
}

fn records_1000_from(cr: &mut OCamlRuntime, n: usize) {
    let list = border::items(cr, &OCaml::unit());
    from(cr, n, list, items(), |items| items.len() == MANY);
}

fn variant_to(cr: &mut OCamlRuntime, n: usize) {
    let shapes = shapes();
    for (i, shape) in shapes.iter().cycle().take(n).enumerate() {
        let root = shape.to_boxroot(cr);
        // SAFETY: only compared.
        assert_eq!(unsafe { root.get(cr).raw() } == tagged(0), i % 4 == 0);
    }
}

fn variant_from(cr: &mut OCamlRuntime, n: usize) {
    let shapes = shapes();
    let roots = [0, 1, 2, 3].map(|i| border::shape(cr, &OCaml::of_i32(i)));
    for (shape, root) in shapes.iter().zip(&roots).cycle().take(n) {
        assert_eq!(root.to_rust::<Shape>(cr), *shape);
    }
}

fn string_1M_to(cr: &mut OCamlRuntime, n: usize) {
    to::<String, _>(cr, n, mebibyte(), |bytes| bytes == MMMM);
}

fn string_1M_from(cr: &mut OCamlRuntime, n: usize) {
    let string = border::mebibyte(cr, &OCaml::unit());
    for _ in 0..n {
        // Faster than `to_rust`.
        assert_eq!(string.get(cr).as_str().to_owned().len(), MEBIBYTE);
    }
}

fn bytes_1M_to(cr: &mut OCamlRuntime, n: usize) {
    to::<OCamlBytes, _>(cr, n, mebibyte().into_bytes(), |bytes| bytes == MMMM);
}

fn bytes_1M_from(cr: &mut OCamlRuntime, n: usize) {
    let bytes = border::mebibyte_of_bytes(cr, &OCaml::unit());
    from(cr, n, bytes, mebibyte().into_bytes(), |bytes| bytes.len() == MEBIBYTE);
}

// ---- what OCaml calls ----

#[ocaml_interop::export]
fn border_export_int(cr: &mut OCamlRuntime, number: OCaml<OCamlInt>) -> OCaml<OCamlInt> {
    (number.to_i64() + 1).to_ocaml(cr)
}

#[ocaml_interop::export]
fn border_export_string(cr: &mut OCamlRuntime, text: OCaml<String>) -> OCaml<String> {
    text.as_str().to_owned().to_ocaml(cr)
}

#[ocaml_interop::export]
fn border_export_record(cr: &mut OCamlRuntime, item: OCaml<Item>) -> OCaml<Item> {
    let item: Item = item.to_rust();
    Item { id: item.id + 1, ..item }.to_ocaml(cr)
}

/// Not measured, but `border.ml` declares it.
#[ocaml_interop::export]
fn border_export_error(cr: &mut OCamlRuntime, number: OCaml<OCamlInt>) -> OCaml<OCamlInt> {
    number.to_i64().to_ocaml(cr)
}

#[ocaml_interop::export]
fn border_export_panic(cr: &mut OCamlRuntime, _number: OCaml<OCamlInt>) -> OCaml<OCamlInt> {
    common::refuse().to_ocaml(cr)
}

#[ocaml_interop::export(noalloc)]
fn noalloc_export(_cr: &OCamlRuntime, number: isize) -> isize {
    number + 1
}

/// Loops of OCaml.
macro_rules! loops {
    ($($name:ident)*) => {
        $(fn $name(cr: &mut OCamlRuntime, n: usize) {
            border::$name(cr, &OCaml::of_i32(n as i32));
        })*
    };
}
loops!(export_int export_string export_record export_panic export_noalloc);
