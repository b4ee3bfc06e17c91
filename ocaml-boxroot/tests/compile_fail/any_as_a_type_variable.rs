//! Values of unknown types do not stand for values of one: OCaml's arrays do not mix floats with others.

use ocaml_boxroot::{bound_function, bound_type, ocaml_type, Boxroot, DomainLock, OCamlAny, OCamlArray, OCamlFloat, OCamlList};

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

ocaml_type! {
    unboxed struct Wrapped { any: OCamlAny }
    unboxed struct Twice { wrapped: Wrapped }
    unboxed struct Number { number: OCamlFloat }
    struct Record { any: OCamlAny, twice: Twice }
}

fn unboxed_by_hand(lock: &mut DomainLock, wrapped: Boxroot<Wrapped>, twice: Boxroot<Twice>) {
    let _ = single(lock, wrapped);
    let _ = single(lock, twice);
}

fn one_type(lock: &mut DomainLock, number: Boxroot<Number>, record: Boxroot<Record>) {
    let _ = single(lock, number);
    let _ = single(lock, record);
}

/// A marker of the program's own, without the promise.
enum Own {}
impl ocaml_boxroot::OneType for Own {}

fn is_one_type<T: ocaml_boxroot::OneType>() {}

/// A macro may expand to another type than that of the part.
fn by_another_part() {
    is_one_type::<ocaml_boxroot::type_support::Whole<'_, Wrapped, (OCamlFloat,), true>>();
}

/// A list is one type, whatever is in it.
fn list(lock: &mut DomainLock, list: Boxroot<OCamlList<OCamlAny>>) {
    let _ = single::<OCamlList<OCamlAny>>(lock, list);
}

fn main() {}
