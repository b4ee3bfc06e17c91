#![forbid(unsafe_code)]

use ocaml_boxroot::{Boxroot, bound_abi, bound_exception, bound_externals, bound_plain, export_bytecode, export_entry, ocaml_function, ocaml_functions, OCamlInt, OCamlList, OCamlString};

//# bindings_by_hand
// Calls of the macros for generated bindings by hand, in a program that forbids `unsafe`.
ocaml_functions! { generated pub fn list -> OCamlList<OCamlString> as Vec<Vec<u8>> = "Pervasives.do_at_exit" } //~ E0080 is only for

ocaml_functions! { generated pub fn exit(code: OCamlString) -> OCamlString as String = "Pervasives.do_at_exit" } //~ E0080 is only for

ocaml_functions! { generated pub fn of_any<A>(a: A) -> OCamlList<A> as Boxroot<OCamlList<A>> = "Pervasives.do_at_exit" } //~ E0080 is only for

// The same for the inner rules, and for macros that pass a call on.
ocaml_function! { @generated [] [] [pub] value [] [] [] OCamlInt, isize = "Pervasives.do_at_exit" } //~ E0080 is only for
ocaml_function! { @unsafe [] [] [pub] by_hand [] [] [] OCamlInt, isize = "Pervasives.do_at_exit" } //~ E0453 allow(unsafe_code)

macro_rules! pass_on {
    ($($tokens:tt)*) => { ocaml_function! { @generated $($tokens)* } };
}
pass_on! { [] [] [pub] function [] [] [(a: OCamlInt)] OCamlInt, isize = "Pervasives.do_at_exit" } //~ E0080 is only for

#[derive(Debug)]
pub struct Failure(pub isize);
bound_exception! { Failure (0 a0: OCamlInt) = "Failure" } //~ E0080 bound_exception! is only for

pub struct Provider;
fn ocaml_boxroot_interface() -> Result<(), std::fmt::Error> {
    Ok(())
}
bound_externals! { //~ E0080 bound_externals! is only for
    pub trait Externals for Provider {
        fn free = "free" (block: OCamlString as String) -> OCamlInt as isize;
    }
}
impl Externals for Provider {
    fn free(_: &mut ocaml_boxroot::DomainLock, _: String) -> Result<isize, Box<dyn std::error::Error>> {
        Ok(0)
    }
}

mod abi {
    super::bound_abi! { "malloc" } //~ E0080 bound_abi! is only for
}

fn body(_: &mut ocaml_boxroot::DomainLock) -> Result<isize, Box<dyn std::error::Error>> {
    Ok(0)
}
mod entry {
    use super::{body, OCamlInt};
    super::export_entry! { generated "calloc", [] body [body] [] [] [OCamlInt as isize] } //~ E0080 bound_externals! is only for
}
mod entry_by_hand {
    use super::{body, OCamlInt};
    super::export_entry! { unsafe "realloc", [] body [body] [] [] [OCamlInt as isize] } //~ E0453 allow(unsafe_code)
}

fn ocaml_boxroot_entry(_: isize, _: isize, _: isize, _: isize, _: isize, _: isize) -> ocaml_boxroot::raw::Value {
    panic!()
}
export_bytecode! { generated ["malloc"] a b c d e f } //~ E0080 bound_externals! is only for

mod plain {
    use ocaml_boxroot::OCamlInt;
    pub struct P;
    trait T {
        fn hole(a: isize) -> isize;
        fn holes(a: isize, b: isize, c: isize, d: isize, e: isize, f: isize) -> isize;
    }
    impl T for P {
        fn hole(a: isize) -> isize {
            a
        }
        fn holes(a: isize, _: isize, _: isize, _: isize, _: isize, _: isize) -> isize {
            a
        }
    }
    fn ocaml_boxroot_interface() -> Result<(), std::convert::Infallible> {
        Ok(())
    }
    mod few {
        use super::*;
        super::super::bound_plain! { @few "getenv" [P as T] hole [a [a OCamlInt]] [OCamlInt] } //~ E0080 bound_externals! is only for
    }
    mod many {
        use super::*;
        super::super::bound_plain! { @entry "setenv" [P as T] holes [[a OCamlInt] [b OCamlInt] [c OCamlInt] [d OCamlInt] [e OCamlInt] [f OCamlInt]] [OCamlInt] } //~ E0080 bound_externals! is only for
    }
}
