use ocaml_boxroot::{Error, OCamlInt, OCamlString, export, ocaml_enum, ocaml_functions, ocaml_items, ocaml_type};
use ocaml_boxroot::macro_support::Constructor;

//# mistaken_exports
// Functions for OCaml with wrong declarations.
export! {
    //~^ ERROR export!: `without_a_token`: the arguments must be a name for the token
    unsafe fn right(_lock, n: OCamlInt as i64) -> Result<OCamlInt as i64, Error> { Ok(n) }
    unsafe fn without_a_token() -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `with_a_typed_token`: the arguments must be a name for the token
    unsafe fn with_a_typed_token(n: OCamlInt) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `without_a_type`: the arguments must be a name for the token
    unsafe fn without_a_type(lock, n) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `without_a_result`: the result must be `-> Result<OCamlType as RustType
    unsafe fn without_a_result(lock, n: OCamlInt as i64) { println!("{n}") }
}

export! {
    //~^ ERROR export!: `without_an_error`: the result must be `-> Result<OCamlType as RustType
    unsafe fn without_an_error(lock, n: OCamlInt as i64) -> Result<OCamlInt as i64> { Ok(n) }
}

export! {
    //~^ ERROR export! takes `unsafe fn name(lock, argument: OCamlType as RustType, …) ->
    const NUMBER: i64 = 1;
}

//# mistaken_functions
// OCaml functions with wrong declarations.
ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_name`: write it as `fn name(argument: OCamlType, …)
    unsafe {
        fn right(n: OCamlInt) -> OCamlInt = "right";
        fn without_a_name(n: OCamlInt) -> OCamlInt;
    }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_semicolon`: write it as `fn name(argument: OCamlType, …)
    unsafe { fn without_semicolon(n: OCamlInt) -> OCamlInt = "name" }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_type`: write it as `fn name(argument: OCamlType, …)
    unsafe { fn without_a_type(n, text: OCamlString) -> OCamlInt = "name"; }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `with_a_body`: OCaml defines the body; use `export!` for Rust
    unsafe { fn with_a_body(n: OCamlInt) -> OCamlInt { n } }
}

ocaml_functions! { //~ ERROR ocaml_functions! takes `unsafe { fn name(argument: OCamlType, …) ->
    unsafe {}
    fn outside(n: OCamlInt) -> OCamlInt = "name";
}

//# mistaken_types
// Types with wrong declarations.
ocaml_type! { struct WithoutARustType for { n: OCamlInt } }
//~^ ERROR ocaml_type!: `WithoutARustType`: write a record as `struct OCamlName for RustName { field:
ocaml_type! { struct Path for crate::Rust { n: OCamlInt } }
//~^ ERROR ocaml_type!: `Path`: write a record as `struct OCamlName for RustName { field:
ocaml_type! { struct Tuple(OCamlInt, OCamlString); }
//~^ ERROR ocaml_type!: `Tuple`: write a record as `struct OCamlName for RustName { field:
ocaml_type! { struct WithoutAType { n: OCamlInt, text } }
//~^ ERROR ocaml_type!: `WithoutAType`: write a record as `struct OCamlName for RustName { field:
ocaml_type! { struct Public { pub n: OCamlInt } }
//~^ ERROR ocaml_type!: `Public`: write a record as `struct OCamlName for RustName { field:
ocaml_type! { unboxed struct TwoFields { n: OCamlInt, text: OCamlString } }
//~^ ERROR ocaml_type!: `TwoFields`: write a type with `[@@unboxed]` as `unboxed struct OCamlName
ocaml_type! { unboxed enum Variant { A(OCamlInt) } }
//~^ ERROR ocaml_type!: `Variant`: write a type with `[@@unboxed]` as `unboxed struct OCamlName
ocaml_type! { #[derive(Debug)] struct Attribute { n: OCamlInt } }
//~^ ERROR ocaml_type!: `#[derive(Debug)]`: only doc comments are allowed here; put other
ocaml_type! { union Union { n: OCamlInt } }
//~^ ERROR ocaml_type! takes `struct OCamlName for RustName { field: OCamlType, … }`, `unboxed
ocaml_type! { enum Numbers { A = 1, B = 2 } }
//~^ ERROR ocaml_type!: `Numbers`: write a variant as `enum OCamlName for RustName
ocaml_type! { enum Bars { A | B } }
//~^ ERROR ocaml_type!: `Bars`: write a variant as `enum OCamlName for RustName
ocaml_type! { enum Of { A of OCamlInt } }
//~^ ERROR ocaml_type!: `Of`: write a variant as `enum OCamlName for RustName
ocaml_type! { //~ ERROR ocaml_type!: `Nine`: write a variant as `enum OCamlName for RustName
    enum Nine {
        A(OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt),
    }
}

//# attributes_of_a_type
// Only comments may precede an item, field or constructor of `ocaml_type!`. Other attributes could
// remove or change it.
use ocaml_boxroot::OCamlFloat as Marker;

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg(any())]`: only doc comments are allowed here; put other
    #[cfg(any())]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg_attr(all(), cfg(any()))]`: only doc comments are allowed here;
    /// A comment.
    #[cfg_attr(all(), cfg(any()))]
    pub polymorphic enum Marker { Number(OCamlInt) }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[derive(Debug)]`: only doc comments are allowed here; put other
    #[derive(Debug)] unboxed struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `Marker`: write a record as `struct OCamlName for RustName { field:
    #[doc::gone]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `Field`: write a record as `struct OCamlName for RustName { field:
    struct Field { /** A comment. */ #[cfg(any())] number: OCamlInt, text: OCamlString }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `Constructor`: write a variant as `enum OCamlName for RustName
    enum Constructor { #[cfg(any())] Number(OCamlInt), Text(OCamlString) }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `Label`: write a variant as `enum OCamlName for RustName
    enum Label { Number { #[cfg(any())] number: OCamlInt, text: OCamlString } }
}

ocaml_items! {
    [#[cfg(any())]] pub Marker [] //~ ERROR no rules expected `cfg`
    constructors { &[(0, Constructor::Block(0, 1))] } float { false } unboxed false
    parts [(0 0 [] OCamlInt)]
}

ocaml_enum! { @normalise [[#[cfg(any())]] [pub] Marker [] [] ordinary] [] Number(OCamlInt) }
//~^ ERROR no rules expected `cfg`

//# types_that_are_inferred
// The types of a declaration must be written out; they are not inferred.
enum Variant {
    Argument(i64),
}

struct Record {
    field: i64,
}

ocaml_type! {
    enum OCamlVariant for Variant { Argument(_) }
    //~^ E0121 the placeholder `_` is not allowed within types
    struct OCamlRecord for Record { field: Option<_> }
    //~^ E0121 the placeholder `_` is not allowed within types
}

ocaml_functions! {
    unsafe {
        fn argument(text: _) -> OCamlInt = "argument";
        //~^ E0121 the placeholder `_` is not allowed within types
        fn result() -> _ = "result"; //~ E0121 the placeholder `_` is not allowed within types
    }
}

export! {
    unsafe fn exported(lock, text: _ as String) -> Result<_ as i64, Error> {
        //~^ E0121 the placeholder `_` is not allowed within types
        //~| E0283 type annotations needed
        Ok(text.len() as i64)
    }
}

//# types_of_functions
// User types with the name of the macro's own type parameter, and inferred types, are refused.
#[allow(dead_code)]
enum OCamlBoxrootResult {}
type Alias = OCamlBoxrootResult;
macro_rules! named { () => { OCamlBoxrootResult } } //~ E0401 can't use generic parameters

ocaml_functions! {
    unsafe {
        fn argument(n: OCamlBoxrootResult) -> OCamlInt = "argument";
        //~^ E0401 can't use generic parameters from outer item
        fn inside<A>(n: (A, Option<OCamlBoxrootResult>)) -> OCamlInt = "inside";
        //~^ E0401 can't use generic parameters from outer item
        fn result() -> OCamlBoxrootResult = "result";
        //~^ E0401 can't use generic parameters from outer item
        fn value -> OCamlBoxrootResult = "value";
        //~^ E0401 can't use generic parameters from outer item
        fn by_a_macro(n: named!()) -> OCamlInt = "by_a_macro";
        fn given(n: Alias, m: OCamlBoxrootResult) -> OCamlInt as i64 = "given";
        fn alias(n: Alias) -> Alias = "alias";
    }
}

ocaml_functions! { //~ E0277 cannot convert `OCamlBoxrootResult` to the OCaml type `OCamlInt`
    unsafe { fn converted(n: OCamlInt as OCamlBoxrootResult) -> OCamlInt = "converted"; }
    //~^ E0401 can't use generic parameters from outer item
}

ocaml_functions! {
    unsafe { fn inferred(n: _) -> OCamlInt = "inferred"; }
    //~^ E0121 the placeholder `_` is not allowed within types on item signatures
}
