#![forbid(unsafe_code)]

use ocaml_boxroot::{OCamlInt, OCamlList, OCamlString, bound_abi, bound_bytecode, bound_exception, bound_externals, bound_function, bound_value};

//# bindings_by_hand
// The macros that generated bindings call, in a program that forbids `unsafe`.
bound_value! { pub fn list () -> OCamlList<OCamlString> as Vec<Vec<u8>> = "Pervasives.do_at_exit" } //~ E0080 bound_value! is only for

bound_function! { pub fn exit (code: OCamlString) -> OCamlString = "Pervasives.do_at_exit" } //~ E0080 bound_function! is only for

bound_function! { pub fn of_any<A> (a: A) -> OCamlList<A> = "Pervasives.do_at_exit" } //~ E0080 bound_function! is only for

// The inner rules, too, and macros that pass a call on.
bound_value! { @function [] value [] [OCamlInt] [isize] "Pervasives.do_at_exit" } //~ E0080 bound_value! is only for

macro_rules! pass_on {
    ($($tokens:tt)*) => { bound_function! { @function $($tokens)* } };
}
pass_on! { [] [fn] function [] (a: OCamlInt) [OCamlInt] [isize] "Pervasives.do_at_exit" } //~ E0080 bound_function! is only for

pub struct Failure(pub isize);
bound_exception! { Failure (0 a0: OCamlInt) = "Failure" } //~ E0080 bound_exception! is only for

pub struct Provider;
fn ocaml_boxroot_interface() -> Result<(), std::fmt::Error> {
    Ok(())
}
bound_externals! { //~ E0080 bound_externals! is only for
    pub trait Externals for Provider {
        fn free = "free" (block: OCamlString) -> OCamlInt as isize;
    }
}
impl Externals for Provider {
    fn free(
        _: &mut ocaml_boxroot::DomainLock,
        _: &ocaml_boxroot::RootRef<OCamlString>,
    ) -> Result<isize, Box<dyn std::error::Error>> {
        Ok(0)
    }
}

mod abi {
    super::bound_abi! { "malloc" } //~ E0080 bound_abi! is only for
}

fn ocaml_boxroot_entry() -> ocaml_boxroot::sys::Value {
    panic!()
}
bound_bytecode! { ["malloc"] } //~ E0080 bound_externals! is only for
