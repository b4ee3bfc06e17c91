//! The macros that `export!` consists of need the word, too.

use ocaml_boxroot::{Boxroot, DomainLock, Error, OCamlString, RootRef, Value};

fn body(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> Result<Boxroot<()>, Error> {
    println!("{}", text.get(lock).to_string_lossy());
    Ok(Boxroot::new(lock, Value::unit()))
}

ocaml_boxroot::export_entry!(name body [text: OCamlString] [()]);
ocaml_boxroot::export_bytecode!(name a b c d e f);

fn main() {
    let text: isize = 0x1234560;
    ocaml_boxroot::export_call!(name body [text: OCamlString] [()]);
}
