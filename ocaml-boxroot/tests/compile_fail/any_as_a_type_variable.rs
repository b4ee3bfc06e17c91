//! Values of unknown types do not stand for values of one: OCaml's arrays do not mix floats with others.

use ocaml_boxroot::{bound_function, bound_type, Boxroot, DomainLock, OCamlAny, OCamlArray, OCamlList};

bound_function! { pub fn single<A>(value: A) -> OCamlArray<A> = "single" }

bound_type! { pub unboxed OCamlMeasure<A> { 0 measure: A } is_float false }

bound_type! { pub abstract OCamlCache<A> }

fn any(lock: &mut DomainLock, any: Boxroot<OCamlAny>) {
    let _ = single::<OCamlAny>(lock, any);
}

fn unboxed(lock: &mut DomainLock, any: Boxroot<OCamlMeasure<OCamlAny>>) {
    let _ = single(lock, any);
}

fn perhaps_unboxed(lock: &mut DomainLock, any: Boxroot<OCamlCache<OCamlAny>>) {
    let _ = single(lock, any);
}

/// A list is one type, whatever is in it.
fn list(lock: &mut DomainLock, list: Boxroot<OCamlList<OCamlAny>>) {
    let _ = single::<OCamlList<OCamlAny>>(lock, list);
}

fn main() {}
