#![forbid(unsafe_code)]

use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlInt, OCamlString, RootRef, Value};

//# export_under_forbid
// `export!` is unsafe code, because it makes a promise.
ocaml_boxroot::export! { //~ E0453 allow(unsafe_code) incompatible with previous forbid
    unsafe fn refused(_lock, n: OCamlInt as i32) -> Result<OCamlInt as i32, Error> {
        Ok(n)
    }
}

//# parts_of_export_under_forbid
// The inner macros of `export!` are also unsafe code.
fn body(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> Result<Boxroot<()>, Error> {
    println!("{}", text.get(lock).to_string_lossy());
    Ok(Boxroot::new(lock, Value::unit()))
}

ocaml_boxroot::export_entry!(unsafe "name", [] name [body] [] [text: OCamlString] [()]);
//~^ E0453 allow(unsafe_code) incompatible with previous forbid

//# functions_under_forbid
// `ocaml_functions!` is unsafe code, because it makes a promise.
ocaml_boxroot::ocaml_functions! { //~ E0453 allow(unsafe_code) incompatible with previous forbid
    unsafe {
        fn refused(n: OCamlInt) -> OCamlInt = "name";
    }
}
