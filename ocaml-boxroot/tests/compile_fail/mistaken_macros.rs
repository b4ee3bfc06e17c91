use ocaml_boxroot::{Error, OCamlInt, OCamlString, export, ocaml_enum, ocaml_functions, ocaml_items, ocaml_type};
use ocaml_boxroot::type_support::Constructor;

//# mistaken_exports
// Functions for OCaml that are not declared in the right form.
export! {
    //~^ ERROR export!: `without_a_token`: the first argument is a name for the token, without a
    unsafe fn right(_lock, n: OCamlInt as i64) -> Result<OCamlInt as i64, Error> { Ok(n) }
    unsafe fn without_a_token() -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `with_a_typed_token`: the first argument is a name for the token, without a
    unsafe fn with_a_typed_token(n: OCamlInt) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `without_a_type`: each argument after the token is `name: OCamlType` or
    unsafe fn without_a_type(lock, n) -> Result<OCamlInt as i64, Error> { Ok(1) }
}

export! {
    //~^ ERROR export!: `without_a_result`: the result is missing; without one, it is `-> Result<()
    unsafe fn without_a_result(lock, n: OCamlInt as i64) { println!("{n}") }
}

export! {
    //~^ ERROR export!: `without_an_error`: the result is `Result<OCamlType, Error>` or
    unsafe fn without_an_error(lock, n: OCamlInt as i64) -> Result<OCamlInt as i64> { Ok(n) }
}

export! {
    //~^ ERROR export!: `without_result`: the result is `Result<OCamlType, Error>` or
    unsafe fn without_result(lock, n: OCamlInt as i64) -> OCamlInt { n }
}

export! {
    //~^ ERROR export! takes `unsafe fn name(lock, argument: OCamlType as RustType, …) ->
    const NUMBER: i64 = 1;
}

//# mistaken_functions
// Functions of OCaml that are not declared in the right form.
ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_name`: the name that OCaml registers is missing at the
    unsafe {
        fn right(n: OCamlInt) -> OCamlInt = "right";
        fn without_a_name(n: OCamlInt) -> OCamlInt;
    }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_name_at_the_end`: the name that OCaml registers is
    unsafe { fn without_a_name_at_the_end(n: OCamlInt) -> OCamlInt }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `name_without_quotes`: the name that OCaml registers is missing at
    unsafe { fn name_without_quotes(n: OCamlInt) -> OCamlInt = name; }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_semicolon`: a `;` is missing after the name that OCaml
    unsafe { fn without_semicolon(n: OCamlInt) -> OCamlInt = "name" }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_type`: each argument is `name: Type`, with a marker as
    unsafe { fn without_a_type(n, text: OCamlString) -> OCamlInt = "name"; }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `without_a_result`: the type after `->` is missing; a function of
    unsafe { fn without_a_result(n: OCamlInt) -> = "name"; }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `with_a_body`: it has no body, because it is OCaml's; a function of
    unsafe { fn with_a_body(n: OCamlInt) -> OCamlInt { n } }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `with_parameters`: a function has no type parameters here; declare
    unsafe { fn with_parameters<T>(n: T) -> T = "name"; }
}

ocaml_functions! {
    //~^ ERROR ocaml_functions!: `twice`: the word `unsafe` stands once, before the braces: `unsafe
    unsafe { unsafe fn twice(n: OCamlInt) -> OCamlInt = "name"; }
}

ocaml_functions! { //~ ERROR ocaml_functions!: nothing stands after `unsafe { … }`
    unsafe {}
    fn outside(n: OCamlInt) -> OCamlInt = "name";
}

//# mistaken_types
// Types that are not declared in the right form.
ocaml_type! { struct WithoutARustType for { n: OCamlInt } }
//~^ ERROR ocaml_type!: `WithoutARustType`: the name of the Rust type is missing after `for`
ocaml_type! { struct Path for crate::Rust { n: OCamlInt } }
//~^ ERROR ocaml_type!: `Path`: after `for` stands the name of a Rust type, without a path; its
ocaml_type! { struct Tuple(OCamlInt, OCamlString); }
//~^ ERROR ocaml_type!: `Tuple`: a record has fields with names: `{ field: OCamlType, … }`; a tuple
ocaml_type! { struct WithoutFields; }
//~^ ERROR ocaml_type!: `WithoutFields`: its fields are missing; a type of which nothing is known
ocaml_type! { struct Empty {} }
//~^ ERROR ocaml_type!: `Empty`: each field is `name: OCamlType`, and there is one at least
ocaml_type! { struct Bounds<A: Copy> { item: A } }
//~^ ERROR ocaml_type!: `Bounds`: parameters are names, without bounds or lifetimes: `OCamlPair<A,
ocaml_type! { struct ParametersOfRust<A> for Rust<A> { item: A } }
//~^ ERROR ocaml_type!: `ParametersOfRust`: after `for` stands the name of a Rust type, without a
ocaml_type! { struct WithoutAType { n: OCamlInt, text } }
//~^ ERROR ocaml_type!: `WithoutAType`: each field is `name: OCamlType`, and there is one at least
ocaml_type! { struct Semicolons { n: OCamlInt; text: OCamlString } }
//~^ ERROR ocaml_type!: `Semicolons`: fields are separated by commas
ocaml_type! { struct Public { pub n: OCamlInt } }
//~^ ERROR ocaml_type!: `Public`: fields have no `pub` here; they are as public as the marker
ocaml_type! { unboxed struct TwoFields { n: OCamlInt, text: OCamlString } }
//~^ ERROR ocaml_type!: `TwoFields`: an unboxed type has one field
ocaml_type! { unboxed enum Variant { A(OCamlInt) } }
//~^ ERROR ocaml_type!: `Variant`: a variant with `[@@unboxed]` is declared as `unboxed struct`,
ocaml_type! { #[derive(Debug)] struct Attribute { n: OCamlInt } }
//~^ ERROR ocaml_type!: `#[derive(Debug)]`: comments are the only attributes here; others belong to
ocaml_type! { union Union { n: OCamlInt } }
//~^ ERROR ocaml_type! takes `struct OCamlName for RustName { field: OCamlType, … }`, `unboxed
ocaml_type! { enum Numbers { A = 1, B = 2 } }
//~^ ERROR ocaml_type!: `Numbers`: constructors have no numbers here: OCaml numbers them in order
ocaml_type! { enum WithoutAComma { A(OCamlInt) B } }
//~^ ERROR ocaml_type!: `WithoutAComma`: a comma is missing after a constructor
ocaml_type! { enum Bars { A | B } }
//~^ ERROR ocaml_type!: `Bars`: constructors are separated by commas, and not by `|`
ocaml_type! { enum Of { A of OCamlInt } }
//~^ ERROR ocaml_type!: `Of`: OCaml's `A of int * string` is `A(OCamlInt, OCamlString)` here
ocaml_type! { enum Parentheses { A(), B } }
//~^ ERROR ocaml_type!: `Parentheses`: a constructor without arguments has no parentheses
ocaml_type! { enum Names { A(n: OCamlInt) } }
//~^ ERROR ocaml_type!: `Names`: arguments are types: `Constructor(OCamlType, …)`; with names,
ocaml_type! { enum LabelWithoutAType { A { n } } }
//~^ ERROR ocaml_type!: `LabelWithoutAType`: each field is `name: OCamlType`, and there is one at
ocaml_type! { enum AttributeOfAConstructor { #[default] A } }
//~^ ERROR ocaml_type!: `#[default]`: comments are the only attributes here; others belong to the
ocaml_type! { //~ ERROR ocaml_type!: `Nine`: a constructor has at most eight arguments
    enum Nine {
        A(OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt, OCamlInt),
    }
}

//# attributes_of_a_type
// Only comments stand before what `ocaml_type!` and its parts declare. Other attributes could
// remove or change it.
use ocaml_boxroot::OCamlFloat as Marker;

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg(any())]`: comments are the only attributes here; others belong to
    #[cfg(any())]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg_attr(all(), cfg(any()))]`: comments are the only attributes here;
    /// A comment.
    #[cfg_attr(all(), cfg(any()))]
    pub polymorphic enum Marker { Number(OCamlInt) }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[derive(Debug)]`: comments are the only attributes here; others belong
    #[derive(Debug)] unboxed struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `Marker`: each field is `name: OCamlType`, and there is one at least
    #[doc::gone]
    struct Marker { number: OCamlInt }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg(any())]`: comments are the only attributes here; others belong to
    struct Field { /** A comment. */ #[cfg(any())] number: OCamlInt, text: OCamlString }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg(any())]`: comments are the only attributes here; others belong to
    enum Constructor { #[cfg(any())] Number(OCamlInt), Text(OCamlString) }
}

ocaml_type! {
    //~^ ERROR ocaml_type!: `#[cfg(any())]`: comments are the only attributes here; others belong to
    enum Label { Number { #[cfg(any())] number: OCamlInt, text: OCamlString } }
}

ocaml_items! {
    [#[cfg(any())]] pub Marker [] //~ ERROR no rules expected `cfg`
    constructors { &[(0, Constructor::Block(0, 1))] } float { false } unboxed false
    parts [(0 0 [] OCamlInt)]
}

ocaml_enum! { @normalise [[#[cfg(any())]] [pub] Marker [] [] ordinary] [] Number(OCamlInt) }
//~^ ERROR no rules expected `cfg`

//# types_of_functions
// The macro's own type parameter is not taken for a type of the program with this name.
enum OCamlResult {}

ocaml_functions! {
    unsafe {
        fn argument(result: OCamlResult) -> OCamlInt = "argument";
        //~^ E0401 can't use generic parameters from outer item
        fn result() -> OCamlResult = "result";
        //~^ E0401 can't use generic parameters from outer item
    }
}

//# types_that_are_inferred
// A type of a declaration is written out, and is not inferred where it is used.
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

ocaml_functions! { //~ E0283 type annotations needed
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
