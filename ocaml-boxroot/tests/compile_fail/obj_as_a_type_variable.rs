//! The marker that bindings make for `Obj.t` stands for no type variable: its values may be floats
//! and others.

use ocaml_boxroot::{Boxroot, DomainLock, OCamlArray, OCamlList, OneType, ToOCaml};
use std::convert::Infallible;
use std::marker::PhantomData;

// As bindings make them, of `Obj.t` and of `type 'a t = T of Obj.t [@@unboxed]`.
#[derive(Debug)]
pub struct OCamlObj(Infallible, PhantomData<()>);

#[derive(Debug)]
pub struct OCamlT<A>(Infallible, PhantomData<((A, fn(A) -> A),)>);

/// A function of bindings, of `'a -> 'a array`.
fn single<A: OneType>(_: &mut DomainLock, _: impl ToOCaml<A>) -> Boxroot<OCamlArray<A>> {
    unimplemented!()
}

fn any(lock: &mut DomainLock, any: Boxroot<OCamlObj>) {
    let _ = single(lock, any); //~ E0277 `OCamlObj` cannot stand for a type variable of OCaml
}

fn unboxed(lock: &mut DomainLock, any: Boxroot<OCamlT<bool>>) {
    let _ = single(lock, any); //~ E0277 `OCamlT<bool>` cannot stand for a type variable of OCaml
}

/// A list is one type, whatever is in it.
fn list(lock: &mut DomainLock, list: Boxroot<OCamlList<OCamlObj>>) {
    let _ = single(lock, list);
}

fn main() {}
