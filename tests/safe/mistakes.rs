//! Mistakes in handwritten declarations, each in its own process. Builds with checks end with an
//! error that names the mistake, not with wrong data or a signal. This file declares the items of
//! tests/support/mistakes.ml wrongly.
//!
//! The compiler finds the mistakes in [`FOUND_BY_THE_COMPILER`]. No check finds the mistakes in
//! [`NOT_FOUND`].

use crate::support::mistakes::*;
use crate::support::safe::*;
use ocaml_boxroot::bigarray::{FortranLayout, OCamlArray1, OCamlArray2};
use ocaml_boxroot::markers::{OCamlChar, OCamlInt32, OCamlInt64, OCamlMap, OCamlNativeint};
use ocaml_boxroot::{
    ocaml_functions, ocaml_type, Boxroot, CallError, DomainLock, Exception, Function, OCamlArray,
    OCamlFloat, OCamlInt, OCamlList, OCamlString,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a program with a mistake. It must end with an error or a panic that contains this text.
fn is_caught<T: Debug>(
    message: &str,
    program: impl FnOnce(&mut DomainLock) -> Result<T, CallError>,
) {
    let text = match catch_unwind(AssertUnwindSafe(|| with_ocaml(program))) {
        Ok(Ok(wrong)) => panic!("not caught: {wrong:?}"),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => *panic.downcast::<String>().unwrap(),
    };
    assert!(text.contains(message), "{text}");
}

/// `name: (argument: Type = value, …) -> Type as Rust type = "registered name", "part of the
/// message";`
macro_rules! declared {
    ($($name:ident: ($($a:ident: $type:ty = $value:expr),*) -> $result:ty as $rust:ty = $registered:literal, $message:literal;)*) => {$(
        test!($name, || {
            ocaml_functions! {
                unsafe { fn wrong($($a: $type),*) -> $result as $rust = $registered; }
            }
            is_caught($message, |lock| wrong(lock $(, $value)*))
        });
    )*};
}

/// `name: |lock| program, "part of the message";`
macro_rules! programs {
    ($($name:ident: $program:expr, $message:literal;)*) => {$(
        test!($name, || { is_caught($message, $program) });
    )*};
}

type I = OCamlInt;
type S = OCamlString;

// Results.
declared! {
    int_for_string: () -> S as String = "mistakes.int", "the result of `wrong`: ";
    string_for_int: () -> I as i64 = "mistakes.string", "expected OCamlInt, found a string";
    float_for_int: () -> I as i64 = "mistakes.float", "expected OCamlInt, found a float";
    int_for_float: () -> OCamlFloat as f64 = "mistakes.int", "expected OCamlFloat, found the immediate 42";
    int32_for_int: () -> I as i64 = "mistakes.int32", "expected OCamlInt, found an int32";
    int_for_int32: () -> OCamlInt32 as i32 = "mistakes.int", "expected OCamlInt32, found ";
    int64_for_int32: () -> OCamlInt32 as i32 = "mistakes.int64", "expected OCamlInt32, found an int64";
    nativeint_for_int64: () -> OCamlInt64 as i64 = "mistakes.nativeint", "expected OCamlInt64, found a nativeint";
    int64_for_nativeint: () -> OCamlNativeint as isize = "mistakes.int64", "expected OCamlNativeint, found an int64";
    unit_for_string: () -> S as String = "mistakes.unit", "expected OCamlString, found the immediate 0";
    int_for_bool: () -> bool as bool = "mistakes.int", "expected bool, found the immediate 42";
    int_for_char: () -> OCamlChar as char = "mistakes.thousand", "expected OCamlChar, found the immediate 1000";
    int_for_unit: () -> () as () = "mistakes.int", "expected (), found the immediate 42";
    an_option_forgotten: () -> S as String = "mistakes.some", "expected OCamlString, found a block of tag 0 and size 1";
    an_option_too_many: () -> Option<S> as Option<String> = "mistakes.string", "expected Option<OCamlString>, found a string";
    result_for_option: () -> Option<S> as Option<String> = "mistakes.error", "a block of tag 1";
    list_for_array: () -> OCamlArray<I> as Vec<i64> = "mistakes.list", "expected OCamlInt, found a block of tag 0 and size 2";
    array_for_list: () -> OCamlList<I> as Vec<i64> = "mistakes.array", "expected OCamlList<OCamlInt>, found ";
    ints_for_floats: () -> OCamlArray<OCamlFloat> as Vec<f64> = "mistakes.array", "expected OCamlFloat, found ";
    floats_for_ints: () -> OCamlArray<I> as Vec<i64> = "mistakes.floats", "does not match the expected type";
    strings_for_ints: () -> OCamlList<I> as Vec<i64> = "mistakes.strings", "expected OCamlInt, found a string";
    pair_for_triple: () -> (I, S, OCamlFloat) as (i64, String, f64) = "mistakes.pair", "size 2";
    triple_for_pair: () -> (I, S) as (i64, String) = "mistakes.triple", "expected (OCamlInt, OCamlString), found a block of tag 0 and size 3";
    a_pair_in_another_order: () -> (S, I) as (String, i64) = "mistakes.pair", "expected OCamlString, found ";
    map_for_list: () -> OCamlList<(S, I)> as BTreeMap<String, i64> = "mistakes.map", "size 5";
    list_for_map: () -> OCamlMap<S, I> as BTreeMap<String, i64> = "mistakes.list", "expected OCamlMap<OCamlString, OCamlInt>, found ";
    set_for_map: () -> OCamlMap<I, I> as BTreeMap<i64, i64> = "mistakes.set", "size 4";
    seq_for_list: () -> OCamlList<I> as Vec<i64> = "mistakes.seq", "a function";
    a_bigarray_of_other_elements: () -> OCamlArray1<f64> as Vec<f64> = "mistakes.bigarray", "expected Bigarray<Array1, OCamlFloat, Float64Elt, CLayout>, found a bigarray (int, c_layout, dimensions: 1)";
    a_bigarray_in_another_layout: () -> OCamlArray1<I, FortranLayout> as Vec<isize> = "mistakes.bigarray", "expected Bigarray<Array1, OCamlInt, IntElt, FortranLayout>, found a bigarray (int, c_layout, dimensions: 1)";
    lazy_for_its_value: () -> I as i64 = "mistakes.lazy", "expected OCamlInt, found ";
    reference_for_its_value: () -> I as i64 = "mistakes.ref", "expected OCamlInt, found a block of tag 0 and size 1";
}

// Calls.
declared! {
    an_argument_forgotten: (n: I = 1) -> I as i64 = "mistakes.add", "too few arguments";
    an_argument_too_many: (n: I = 1, text: S = "text") -> I as i64 = "mistakes.succ", "the function `wrong`: ";
    two_arguments_for_a_tuple: (a: I = 1, b: I = 2) -> I as i64 = "mistakes.sum", "a function of a tuple of 2 is called with the immediate 1";
    a_tuple_for_two_arguments: (pair: (I, I) = (1, 2)) -> I as i64 = "mistakes.add", "too few arguments";
    a_unit_forgotten: (n: I = 1) -> I as i64 = "mistakes.after_unit", "too few arguments";
    an_optional_argument_forgotten: (n: I = 1) -> I as i64 = "mistakes.optional", "too few arguments";
    a_value_that_is_no_function: (n: I = 1) -> I as i64 = "mistakes.number", "expected a function, found the immediate 42";
    another_name: (n: I = 1) -> I as i64 = "mistakes.no_such", "mistakes.no_such";
}

ocaml_type! {
    struct FieldForgotten for RustFieldForgotten { customer: S, size: OCamlSize, price: OCamlFloat }
    struct FieldTooMany for RustFieldTooMany {
        customer: S, size: OCamlSize, price: OCamlFloat, note: Option<S>, paid: bool,
    }
    struct Swapped for RustSwapped { size: OCamlSize, customer: S, price: OCamlFloat, note: Option<S> }
    struct Floats for RustFloats { label: OCamlFloat, weight: OCamlFloat }
    struct Mixed for RustMixed { x: I, y: OCamlFloat }
    struct FieldOfAnotherType for RustFieldOfAnotherType {
        customer: S, size: I, price: OCamlFloat, note: Option<S>,
    }
    struct OptionForgotten for RustOptionForgotten {
        customer: S, size: OCamlSize, price: OCamlFloat, note: S,
    }
    struct Boxed for RustBoxed { metres: OCamlFloat }
    unboxed struct Unboxed for RustUnboxed { text: S }
    enum ConstantMissing for RustConstantMissing { Small, Custom { grams: I }, Box(I, S) }
    enum ConstructorMissing for RustConstructorMissing { Small, Large, Custom { grams: I } }
    enum AnotherOrder for RustAnotherOrder { Small, Large, Box(I, S), Custom { grams: I } }
    enum Tuple for RustTuple { Small, Large, Custom { grams: I }, Box((I, S)) }
    enum Arguments for RustArguments { Small, Large, Custom { grams: I }, Box(I, S), Old(I, S) }
    enum Ordinary for RustOrdinary { Open, Closed(I) }
    polymorphic enum Misspelled for RustMisspelled { Opened, Closed(I) }
    struct Own<A> for RustOwn<A as R> { item: A, used: I }
}

/// Rust types for the conversions above.
macro_rules! rust_types {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[allow(dead_code)]
        #[derive(Debug)]
        struct $name { $($field: $type),* }
    )*};
}

rust_types! {
    RustFieldForgotten { customer: String, size: Size, price: f64 }
    RustFieldTooMany { customer: String, size: Size, price: f64, note: Option<String>, paid: bool }
    RustSwapped { size: Size, customer: String, price: f64, note: Option<String> }
    RustFloats { label: f64, weight: f64 }
    RustMixed { x: i64, y: f64 }
    RustFieldOfAnotherType { customer: String, size: i64, price: f64, note: Option<String> }
    RustOptionForgotten { customer: String, size: Size, price: f64, note: String }
    RustBoxed { metres: f64 }
    RustUnboxed { text: String }
}

#[derive(Debug)]
struct RustOwn<R> {
    item: R,
    used: i64,
}

macro_rules! rust_enums {
    ($($name:ident { $($constructors:tt)* })*) => {$(
        #[allow(dead_code)]
        #[derive(Debug)]
        enum $name { $($constructors)* }
    )*};
}

rust_enums! {
    RustConstantMissing { Small, Custom { grams: i64 }, Box(i64, String) }
    RustConstructorMissing { Small, Large, Custom { grams: i64 } }
    RustAnotherOrder { Small, Large, Box(i64, String), Custom { grams: i64 } }
    RustTuple { Small, Large, Custom { grams: i64 }, Box((i64, String)) }
    RustArguments { Small, Large, Custom { grams: i64 }, Box(i64, String), Old(i64, String) }
    RustOrdinary { Open, Closed(i64) }
    RustMisspelled { Opened, Closed(i64) }
}

// Records and variants.
declared! {
    a_field_forgotten: () -> FieldForgotten as RustFieldForgotten = "mistakes.order", "expected FieldForgotten, found a block of tag 0 and size 4";
    a_field_too_many: () -> FieldTooMany as RustFieldTooMany = "mistakes.order", "expected FieldTooMany, found a block of tag 0 and size 4";
    two_fields_swapped: () -> Swapped as RustSwapped = "mistakes.order", "`size` of the result of `wrong`: ";
    floats_for_a_mixed_record: () -> Floats as RustFloats = "mistakes.parcel", "expected Floats, found ";
    a_mixed_record_for_floats: () -> Mixed as RustMixed = "mistakes.point", "expected Mixed, found an array or record of floats";
    a_field_of_another_type: () -> FieldOfAnotherType as RustFieldOfAnotherType = "mistakes.order", "`size` of ";
    the_option_of_a_field_forgotten: () -> OptionForgotten as RustOptionForgotten = "mistakes.order", "`note` of ";
    unboxed_forgotten: () -> Boxed as RustBoxed = "mistakes.metres", "expected Boxed, found a float";
    unboxed_too_many: () -> Unboxed as RustUnboxed = "mistakes.name", "`text` of ";
    another_record: () -> OCamlOrder as Order = "mistakes.parcel", "expected OCamlOrder, found a block of tag 0 and size 2";
    a_constant_missing: () -> ConstantMissing as RustConstantMissing = "mistakes.large", "expected ConstantMissing, found the immediate 1";
    a_constructor_missing: () -> ConstructorMissing as RustConstructorMissing = "mistakes.box", "a block of tag 1";
    constructors_in_another_order: () -> AnotherOrder as RustAnotherOrder = "mistakes.custom", "expected AnotherOrder, found ";
    a_tuple_for_two_parts: () -> Tuple as RustTuple = "mistakes.box", "expected Tuple, found ";
    two_parts_for_a_tuple: () -> Arguments as RustArguments = "mistakes.old", "expected Arguments, found ";
    ordinary_for_polymorphic: () -> Ordinary as RustOrdinary = "mistakes.closed", "expected Ordinary, found ";
    a_name_misspelled: () -> Misspelled as RustMisspelled = "mistakes.open", "does not match the expected type";
    another_parameter: () -> Own<S> as RustOwn<String> = "mistakes.own", "`item` of ";
}

ocaml_functions! {
    unsafe {
        fn sold_out() = "mistakes.sold_out";
        fn apply_to_text(f: Function<(I,), I>) -> I = "mistakes.apply_to_text";
    }
}

/// A function of OCaml, called without conversions.
fn called<R>(
    lock: &mut DomainLock,
    name: &str,
    f: impl FnOnce(ocaml_boxroot::Value<'_, R>) -> String,
) -> Result<String, CallError> {
    let function: Boxroot<Function<(), R>> = function(lock, name);
    let (value, _) = function.call(lock)?;
    Ok(f(value))
}

// Values that are read without conversions; functions; exceptions.
programs! {
    reading_an_int: |lock| called::<S>(lock, "mistakes.int", |s| s.to_string_lossy()), "expected OCamlString, found ";
    a_bigarray_of_other_dimensions: |lock| {
        called::<OCamlArray2<I>>(lock, "mistakes.bigarray", |array| format!("{:?}", array.dimensions()))
    }, "expected Bigarray<Array2, OCamlInt, ";
    reading_a_field: |lock| {
        called::<OCamlOrder>(lock, "mistakes.pair", |order| order.at(OCamlOrder::customer).to_string_lossy())
    }, "`customer`: ";
    calling_a_result: |lock| {
        let adder: Boxroot<Function<(), Function<(I,), I>>> = function(lock, "mistakes.adder");
        let add: Boxroot<Function<(I,), I>> = adder.call_converting(lock)?;
        add.call_converting::<i64>(lock, 1)
    }, "the result of an OCaml function: ";
    a_function_of_rust: |lock| {
        let f = Function::<(I,), I>::from_rust(lock, |lock, n| Ok(n.get(lock).to_int()))?;
        apply_to_text::<i64>(lock, &f)
    }, "expected OCamlInt, found a string";
    an_argument_of_an_exception: |lock| match sold_out(lock) {
        // SAFETY: none: the argument is a string.
        Err(CallError::Exception(e)) => match unsafe { e.argument::<I>(lock, 0) }? {
            Some(number) => Ok(number.to_rust::<i64>(lock)?),
            None => Ok(0),
        },
        _ => Ok(0),
    }, "expected OCamlInt, found a string";
    // SAFETY: none: there is no such exception.
    another_exception: |lock| unsafe { Exception::new(lock, "Out_of_stock", &[]) }, "\"Out_of_stock\"";
}

// Rust functions that OCaml declares with other types.
declared! {
    an_exported_int: () -> I as i64 = "mistakes.an_int", "argument `n` of `mistakes_an_int`: ";
    an_exported_string: () -> I as i64 = "mistakes.a_string", "argument `text` of `mistakes_a_string`: ";
    exported_arguments_swapped: () -> I as i64 = "mistakes.swapped", "argument `n` of `mistakes_swapped`: ";
    the_first_exported_argument_forgotten: () -> I as i64 = "mistakes.first_forgotten", "argument `n` of ";
    another_exported_record: () -> I as i64 = "mistakes.an_order", "argument `order` of ";
    a_field_of_an_exported_record: () -> I as i64 = "mistakes.part_of_order", "`customer` of argument `order` of ";
    an_exported_callback: () -> I as i64 = "mistakes.a_callback", "expected a function, found the immediate 42";
    a_box_of_another_type: () -> I as i64 = "mistakes.another_box", "expected OCamlBox<String>, found a box of a Rust value";
    an_int_for_a_box: () -> I as i64 = "mistakes.no_box", "expected OCamlBox<String>, found the immediate 42";
}

/// Mistakes that the compiler finds, each with the program in `ocaml-boxroot/tests/compile_fail`
/// that has it.
const FOUND_BY_THE_COMPILER: &[(&str, &str)] = &[
    ("a Rust value of another type than the argument's", "conversions_that_are_not_there"),
    ("a result that is copied to another Rust type", "conversions_that_are_not_there"),
    ("a field of the Rust type that does not fit", "conversions_that_are_not_there"),
    ("a constructor of the Rust type that is not declared", "variant_that_is_not_whole"),
    ("the field of another record", "field_of_another_record"),
    ("no registered name", "mistaken_functions"),
    ("an argument without a type", "mistaken_functions"),
    ("an exported function without a token", "mistaken_exports"),
];

test!(programs_that_the_compiler_rejects_are_there, || {
    let files = std::fs::read_dir("ocaml-boxroot/tests/compile_fail").unwrap();
    let programs: String =
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for (mistake, program) in FOUND_BY_THE_COMPILER {
        assert!(programs.contains(&format!("//# {program}\n")), "{mistake}: {program}");
    }
});

/// Mistakes that no check finds, and why.
#[allow(dead_code)] // a list for readers
const NOT_FOUND: &[(&str, &str)] = &[
    ("an argument of a call has another type than in OCaml", OCAML_READS),
    ("the result of an exported function has another type than in OCaml", OCAML_READS),
    ("a record that Rust makes lacks a field, and never comes back", OCAML_READS),
    ("two arguments of one type are swapped", LOOKS_RIGHT),
    ("two fields of one type are swapped", LOOKS_RIGHT),
    ("two constants, or two constructors with as many parts, are swapped", LOOKS_RIGHT),
    ("the name is that of another function with the same types", LOOKS_RIGHT),
    (
        "a constant constructor, or a small int, is declared as another type of immediates",
        LOOKS_RIGHT,
    ),
    ("string is declared as bytes", LOOKS_RIGHT),
    (
        "an exported function lacks the last argument",
        "C's calling convention has no count of arguments",
    ),
    (
        "an exported function has an argument more",
        "the register has anything, perhaps no value of OCaml",
    ),
];

const OCAML_READS: &str = "OCaml reads it, and has no types at run time";
const LOOKS_RIGHT: &str = "the values look alike in memory";
