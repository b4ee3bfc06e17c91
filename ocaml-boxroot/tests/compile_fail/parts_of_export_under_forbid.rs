//! The macros that `export!` consists of are unsafe code, too.

#![forbid(unsafe_code)]

use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlString, RootRef, Value};

fn body(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> Result<Boxroot<()>, Error> {
    println!("{}", text.get(lock).to_string_lossy());
    Ok(Boxroot::new(lock, Value::unit()))
}

fn main() {
    let text: isize = 0x1234560;
    ocaml_boxroot::export_call!(unsafe name body [text: OCamlString] [()]);
}
