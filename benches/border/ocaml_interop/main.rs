//! The measures with the crate `ocaml-interop`, used as its guides teach. It has no errors that
//! become OCaml exceptions.

#[path = "../common.rs"]
mod common;

use common::{floats, ints, mebibyte, tagged, word, MANY, MEBIBYTE, MMMM, REFUSED, TEXT};
use ocaml_interop::{
    BoxRoot, FromOCaml, OCaml, OCamlBytes, OCamlFloat, OCamlFloatArray, OCamlInt, OCamlList,
    OCamlRef, OCamlRuntime, ToOCaml,
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
    // Never dropped: from OCaml 5.5 on, its shutdown crashes.
    std::mem::forget(OCamlRuntime::init().expect("OCaml starts"));
    common::main(common::measures!(enter |cr, n| {
        call_int: call_int(cr, n),
        call_string: call_string(cr, n),
        closure_call: closure_call(cr, n),
        list_to: to::<OCamlList<OCamlInt>, _>(cr, n, ints::<i64>(), |head| head == tagged(0)),
        list_from: from(cr, n, border::list, ints::<i64>(), |ints| ints.len() == MANY),
        floats_to: to::<OCamlFloatArray, _>(cr, n, floats(), |first| first == 0),
        floats_from: from(cr, n, border::floats, floats(), |floats| floats.len() == MANY),
        record_to: to(cr, n, item(1), |id| id == tagged(1)),
        record_from: from(cr, n, |cr, _| border::item(cr, &OCaml::of_i32(1)), item(1),
                          |item| item.id == 1),
        records_1000_to: to::<OCamlList<Item>, _>(cr, n, items(), |head| head != tagged(0)),
        records_1000_from: from(cr, n, border::items, items(), |items| items.len() == MANY),
        variant_to: variant_to(cr, n),
        variant_from: variant_from(cr, n),
        string_1M_to: to::<String, _>(cr, n, mebibyte(), |bytes| bytes == MMMM),
        string_1M_from: string_1M_from(cr, n),
        bytes_1M_to: to::<OCamlBytes, _>(cr, n, mebibyte().into_bytes(), |bytes| bytes == MMMM),
        bytes_1M_from: from(cr, n, border::mebibyte_of_bytes, mebibyte().into_bytes(),
                            |bytes| bytes.len() == MEBIBYTE),
        export_int: drop(border::export_int(cr, &OCaml::of_i32(n as i32))),
        export_string: drop(border::export_string(cr, &OCaml::of_i32(n as i32))),
        export_record: drop(border::export_record(cr, &OCaml::of_i32(n as i32))),
        export_panic: drop(border::export_panic(cr, &OCaml::of_i32(n as i32))),
        export_noalloc: drop(border::export_noalloc(cr, &OCaml::of_i32(n as i32))),
        exception: exception(cr, n),
        root: root(cr, n),
    } attach))
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

/// Converts to OCaml, and checks the first word.
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

/// Converts from OCaml, and checks a part.
fn from<T: 'static, R>(
    cr: &mut OCamlRuntime,
    n: usize,
    make: impl Fn(&mut OCamlRuntime, OCamlRef<()>) -> BoxRoot<T>,
    expected: R,
    right: impl Fn(&R) -> bool,
) where
    R: FromOCaml<T> + PartialEq + Debug,
{
    let root = make(cr, &OCaml::unit());
    assert_eq!(root.to_rust::<R>(cr), expected);
    for _ in 0..n {
        assert!(right(&root.to_rust(cr)));
    }
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

/// This is faster than `to_rust`.
fn string_1M_from(cr: &mut OCamlRuntime, n: usize) {
    let string = border::mebibyte(cr, &OCaml::unit());
    for _ in 0..n {
        assert_eq!(string.get(cr).as_str().to_owned().len(), MEBIBYTE);
    }
}

// ---- functions that OCaml calls ----

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
