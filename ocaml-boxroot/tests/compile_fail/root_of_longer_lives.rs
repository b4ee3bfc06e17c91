//! A root, and what it holds, keep their type.

use ocaml_boxroot::{Boxroot, DomainLock, RootRef, Value};

struct Name<'a>(&'a str);

fn root<'a>(root: Boxroot<Name<'a>>) -> Boxroot<Name<'static>> {
    root
}

fn reference<'a, 'r>(root: &'r RootRef<Name<'a>>) -> &'r RootRef<Name<'static>> {
    root
}

fn value<'a, 'l>(root: &RootRef<Name<'a>>, lock: &'l DomainLock) -> Value<'l, Name<'static>> {
    root.get(lock)
}

/// A function that sets this root could store a name with a shorter life.
fn changeable<'a, 'r>(root: &'r mut Boxroot<Name<'static>>) -> &'r mut Boxroot<Name<'a>> {
    root
}

fn main() {}
