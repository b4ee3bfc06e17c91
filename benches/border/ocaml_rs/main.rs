//! The measures with the crate `ocaml`, used as its book teaches.

#[path = "../common.rs"]
mod common;

use common::{floats, ints, mebibyte, tagged, word, MANY, MEBIBYTE, MMMM, REFUSED, TEXT};
use ocaml::runtime::{enter_blocking_section, leave_blocking_section};
use ocaml::{CamlError, Error, FromValue, Int, List, Runtime, ToValue, Value};
use std::fmt::Debug;
use std::process::ExitCode;

common::samples!();

#[derive(Debug, PartialEq, ocaml::FromValue, ocaml::ToValue)]
pub struct Item {
    id: Int,
    name: String,
    price: f64,
    known: bool,
}

#[derive(Debug, PartialEq, ocaml::FromValue, ocaml::ToValue)]
pub enum Shape {
    Empty,
    Circle(f64),
    Rectangle(Int, Int),
    Named(String),
}

mod border {
    use ocaml::{Int, Value};
    ocaml::import! {
        pub fn call_int(n: Int) -> Int;
        pub fn call_string(text: &str) -> String;
        pub fn closure() -> Value;
        pub fn refuse();
        pub fn item(i: Int) -> Value;
        pub fn shape(i: Int) -> Value;
        pub fn list() -> Value;
        pub fn floats() -> Value;
        pub fn items() -> Value;
        pub fn mebibyte() -> Value;
        pub fn mebibyte_of_bytes() -> Value;
        pub fn export_int(n: Int);
        pub fn export_string(n: Int);
        pub fn export_record(n: Int);
        pub fn export_error(n: Int);
        pub fn export_noalloc(n: Int);
    }
}

/// Calls an OCaml function that never raises.
macro_rules! call {
    ($name:ident($gc:expr $(, $argument:expr)*)) => {
        // SAFETY: the lock is held, as `$gc` says, and the declared types are those of OCaml.
        unsafe { border::$name($gc $(, $argument)*) }.expect("no exception")
    };
}

fn main() -> ExitCode {
    common::main(common::measures!(enter |gc, n| {
        call_int: call_int(gc, n),
        call_string: call_string(gc, n),
        closure_call: closure_call(gc, n),
        list_to: list_to(gc, n),
        list_from: from(n, call!(list(gc)), vec_of_list::<Int>, ints(), |ints| ints.len() == MANY),
        floats_to: floats_to(gc, n),
        floats_from: floats_from(gc, n),
        record_to: record_to(gc, n),
        record_from: from(n, call!(item(gc, 1)), Item::from_value, item(1), |item| item.id == 1),
        records_1000_to: records_1000_to(gc, n),
        records_1000_from: from(n, call!(items(gc)), vec_of_list::<Item>, items(),
                                |items| items.len() == MANY),
        variant_to: variant_to(gc, n),
        variant_from: variant_from(gc, n),
        string_1M_to: string_1M_to(gc, n),
        string_1M_from: from(n, call!(mebibyte(gc)), String::from_value, mebibyte(),
                             |text| text.len() == MEBIBYTE),
        bytes_1M_to: bytes_1M_to(gc, n),
        bytes_1M_from: bytes_1M_from(gc, n),
        export_int: call!(export_int(gc, n as Int)),
        export_string: call!(export_string(gc, n as Int)),
        export_record: call!(export_record(gc, n as Int)),
        export_error: call!(export_error(gc, n as Int)),
        export_noalloc: call!(export_noalloc(gc, n as Int)),
        exception: exception(gc, n),
        root: root(gc, n),
        attach: attach(gc, n),
    }))
}

fn enter(measure: impl FnOnce(&Runtime)) {
    let gc = ocaml::init();
    measure(&gc);
    std::mem::forget(gc); // no shutdown, as in the other programs
}

/// The thread holds the lock, and the crate has functions to release it for a while.
fn attach(_: &Runtime, n: usize) {
    for _ in 0..n {
        enter_blocking_section();
        leave_blocking_section();
    }
}

fn root(gc: &Runtime, n: usize) {
    let kept = call!(item(gc, 1));
    for _ in 0..n {
        let root = kept.clone();
        assert_eq!(root.raw().0, kept.raw().0);
    }
}

// ---- calls ----

fn call_int(gc: &Runtime, n: usize) {
    for i in 0..n as Int {
        assert_eq!(call!(call_int(gc, i)), i + 1);
    }
}

fn call_string(gc: &Runtime, n: usize) {
    for _ in 0..n {
        assert_eq!(call!(call_string(gc, TEXT)), TEXT);
    }
}

fn closure_call(gc: &Runtime, n: usize) {
    let closure = call!(closure(gc));
    let closure = ocaml::function!(closure, (i: Int) -> Int);
    for i in 0..n as Int {
        assert_eq!(closure(gc, &i).expect("no exception"), i + 1);
    }
}

fn exception(gc: &Runtime, n: usize) {
    for _ in 0..n {
        // SAFETY: as in `call!`.
        match unsafe { border::refuse(gc) } {
            Err(Error::Caml(CamlError::Exception(exception))) => {
                // SAFETY: the only exception that `refuse` raises is a `Failure`.
                assert_eq!(unsafe { exception.field(1).string_val() }, REFUSED);
            }
            _ => panic!("no exception"),
        }
    }
}

// ---- conversions ----

/// Converts to OCaml, and checks the first word.
fn to(gc: &Runtime, n: usize, make: impl Fn(&Runtime) -> Value, right: impl Fn(isize) -> bool) {
    for _ in 0..n {
        let root = make(gc);
        // SAFETY: the measures that call this have values that are blocks.
        assert!(right(unsafe { word(root.raw().0) }));
    }
}

/// Converts from OCaml, and checks a part.
fn from<R>(
    n: usize,
    root: Value,
    make: impl Fn(Value) -> R,
    expected: R,
    right: impl Fn(&R) -> bool,
) where
    R: PartialEq + Debug,
{
    assert_eq!(make(root.clone()), expected);
    for _ in 0..n {
        assert!(right(&make(root.clone())));
    }
}

fn make_list<T: ToValue + FromValue>(gc: &Runtime, items: &[T]) -> Value {
    let empty = List::empty();
    // SAFETY: the lock is held.
    items.iter().rev().fold(empty, |list, item| unsafe { list.add(gc, item) }).to_value(gc)
}

fn vec_of_list<T: ToValue + FromValue>(list: Value) -> Vec<T> {
    List::from_value(list).into_vec()
}

fn list_to(gc: &Runtime, n: usize) {
    let ints = ints();
    assert_eq!(vec_of_list::<Int>(make_list(gc, &ints)), ints);
    to(gc, n, |gc| make_list(gc, &ints), |head| head == tagged(0));
}

// `Vec` can also be converted, but takes longer.
fn floats_to(gc: &Runtime, n: usize) {
    let floats = floats();
    let make = |_: &Runtime| {
        // SAFETY: the lock is held.
        let mut array = unsafe { Value::alloc_double_array(floats.len()) };
        for (i, float) in floats.iter().enumerate() {
            // SAFETY: the array is as long as the vector.
            unsafe { array.store_double_field(i, *float) }
        }
        array
    };
    assert_eq!(Vec::<f64>::from_value(make(gc)), floats);
    to(gc, n, make, |first| first == 0);
}

fn floats_from(gc: &Runtime, n: usize) {
    let copy = |array: Value| {
        // SAFETY: an array of floats, of the length that it states.
        unsafe { (0..array.array_length()).map(|i| array.double_field(i)).collect() }
    };
    from(n, call!(floats(gc)), copy, floats(), |floats: &Vec<f64>| floats.len() == MANY);
}

fn record_to(gc: &Runtime, n: usize) {
    let item = item(1);
    assert_eq!(Item::from_value(item.to_value(gc)), item);
    to(gc, n, |gc| item.to_value(gc), |id| id == tagged(1));
}

fn records_1000_to(gc: &Runtime, n: usize) {
    let items = items();
    assert_eq!(vec_of_list::<Item>(make_list(gc, &items)), items);
    to(gc, n, |gc| make_list(gc, &items), |head| head != tagged(0));
}

fn variant_to(gc: &Runtime, n: usize) {
    let shapes = shapes();
    for (i, shape) in shapes.iter().cycle().take(n).enumerate() {
        assert_eq!(shape.to_value(gc).raw().0 == tagged(0), i % 4 == 0);
    }
}

fn variant_from(gc: &Runtime, n: usize) {
    let shapes = shapes();
    let roots = [0, 1, 2, 3].map(|i| call!(shape(gc, i)));
    for (shape, root) in shapes.iter().zip(&roots).cycle().take(n) {
        assert_eq!(Shape::from_value(root.clone()), *shape);
    }
}

fn string_1M_to(gc: &Runtime, n: usize) {
    let string = mebibyte();
    to(gc, n, |gc| string.to_value(gc), |bytes| bytes == MMMM);
}

fn bytes_1M_to(gc: &Runtime, n: usize) {
    let bytes = mebibyte().into_bytes();
    to(gc, n, |gc| (&bytes[..]).to_value(gc), |bytes| bytes == MMMM);
}

fn bytes_1M_from(gc: &Runtime, n: usize) {
    let copy = |bytes| <&[u8]>::from_value(bytes).to_vec();
    let right = |bytes: &Vec<u8>| bytes.len() == MEBIBYTE;
    from(n, call!(mebibyte_of_bytes(gc)), copy, mebibyte().into_bytes(), right);
}

// ---- functions that OCaml calls ----

/// The book's faster `native_func` does not work in this version.
#[ocaml::func]
pub fn border_export_int(number: Int) -> Int {
    number + 1
}

#[ocaml::func]
pub fn border_export_string(text: &str) -> String {
    text.to_owned()
}

#[ocaml::func]
pub fn border_export_record(item: Item) -> Item {
    Item { id: item.id + 1, ..item }
}

#[ocaml::func]
pub fn border_export_error(_number: Int) -> Result<Int, Error> {
    Err(CamlError::Failure(REFUSED).into())
}

/// Not measured, but `border.ml` declares it: in this version, the second panic aborts.
#[ocaml::func]
pub fn border_export_panic(_number: Int) -> Int {
    common::refuse() as Int
}

#[no_mangle]
pub extern "C" fn noalloc_export(number: isize) -> isize {
    number + 1
}
