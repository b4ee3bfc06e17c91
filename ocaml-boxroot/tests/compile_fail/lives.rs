use ocaml_boxroot::markers::{OCamlBox, OCamlMap, OCamlSeq, OCamlSet};
use ocaml_boxroot::{Boxroot, DomainLock, Error, Function, OCamlArray, OCamlList, OCamlString, RootRef, Value};

//# root_of_longer_lives
// A root and its content keep their lifetimes.
struct Name<'a>(&'a str);

fn root<'a>(root: Boxroot<Name<'a>>) -> Boxroot<Name<'static>> {
    root //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn reference<'a, 'r>(root: &'r RootRef<Name<'a>>) -> &'r RootRef<Name<'static>> {
    root //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn value<'a, 'l>(root: &RootRef<Name<'a>>, lock: &'l DomainLock) -> Value<'l, Name<'static>> {
    root.get(lock) //~ ERROR returning this value requires that `'a` must outlive `'static`
}

/// A function that sets this root could store a name with a shorter life.
fn changeable<'a, 'r>(root: &'r mut Boxroot<Name<'static>>) -> &'r mut Boxroot<Name<'a>> {
    root //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# list_of_longer_lives
// The lifetime of a list's elements cannot be lengthened.
struct Name<'a>(&'a str);

fn lengthen<'a>(list: Boxroot<OCamlList<Name<'a>>>) -> Boxroot<OCamlList<Name<'static>>> {
    list //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# array_of_longer_lives
// The lifetime of an array's elements cannot be lengthened.
struct Name<'a>(&'a str);

fn lengthen<'a>(array: Boxroot<OCamlArray<Name<'a>>>) -> Boxroot<OCamlArray<Name<'static>>> {
    array //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# array_of_shorter_lives
// Nor can it be shortened: OCaml could store a value with the shorter lifetime in the array.
struct Name<'a>(&'a str);

fn shorten<'a>(array: Boxroot<OCamlArray<Name<'static>>>) -> Boxroot<OCamlArray<Name<'a>>> {
    array //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# collections_of_longer_lives
// The lifetime of a collection's elements cannot be lengthened.
struct Name<'a>(&'a str);

fn map<'a>(map: Boxroot<OCamlMap<(), Name<'a>>>) -> Boxroot<OCamlMap<(), Name<'static>>> {
    map //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn keys<'a>(map: Boxroot<OCamlMap<Name<'a>, ()>>) -> Boxroot<OCamlMap<Name<'static>, ()>> {
    map //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn set<'a>(set: Boxroot<OCamlSet<Name<'a>>>) -> Boxroot<OCamlSet<Name<'static>>> {
    set //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn seq<'a>(seq: Boxroot<OCamlSeq<Name<'a>>>) -> Boxroot<OCamlSeq<Name<'static>>> {
    seq //~ ERROR returning this value requires that `'a` must outlive `'static`
}

fn owned<'a>(value: Boxroot<OCamlBox<&'a str>>) -> Boxroot<OCamlBox<&'static str>> {
    value //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# function_of_shorter_lives
// A function that needs long-lived arguments, which it may keep, does not take short-lived ones.
struct Name<'a>(&'a str);

fn shorten<'a>(f: Boxroot<Function<(Name<'static>,), ()>>) -> Boxroot<Function<(Name<'a>,), ()>> {
    f //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# function_to_longer_lives
// A function that returns short-lived results cannot be used as one that returns long-lived
// results.
struct Name<'a>(&'a str);

fn lengthen<'a>(f: Boxroot<Function<(), Name<'a>>>) -> Boxroot<Function<(), Name<'static>>> {
    f //~ ERROR returning this value requires that `'a` must outlive `'static`
}

//# box_that_borrows
// The content of a box must not borrow, because OCaml may keep it for any time.
fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    lock.alloc_box(text)?; //~ E0521 `text` escapes the function body here
    Ok(())
}

//# closure_that_borrows
// A Rust function for OCaml must not borrow, because OCaml may keep it for any time.
fn wrong(lock: &mut DomainLock, text: &str) -> Result<(), Error> {
    Function::<(), OCamlString>::from_rust(lock, |_| Ok(text.to_string()))?;
    //~^ E0521 `text` escapes the function body here
    Ok(())
}
