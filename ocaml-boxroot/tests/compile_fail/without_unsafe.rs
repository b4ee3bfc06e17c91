use ocaml_boxroot::raw::{DomainLockExt, ValueExt};
use ocaml_boxroot::{Boxroot, DomainLock, Error, Exception, OCamlInt, OCamlString, RootRef, Value, export_argument};

//# raw_root_in_safe_code
// Only unsafe code can make a `Boxroot` from a raw root.
fn wrong(root: Boxroot<OCamlInt>) -> Boxroot<OCamlString> {
    Boxroot::from_raw(root.into_raw()) //~ E0133 from_raw` is unsafe
}

//# block_in_safe_code
// Allocating a block needs `unsafe`, the promise that its type has such blocks.
fn wrong(lock: &mut DomainLock) -> Result<String, Error> {
    let (value, _) = lock.alloc_block::<OCamlString>(0, &[])?; //~ E0133 alloc_block` is unsafe
    Ok(value.to_string_lossy())
}

//# name_of_a_value_in_safe_code
// Reading a named value needs `unsafe`, the promise that it has this type.
fn wrong(lock: &mut DomainLock) -> Option<Boxroot<OCamlString>> {
    lock.named("an integer") //~ E0133 named` is unsafe
}

//# exception_argument_in_safe_code
// Reading an exception's argument needs `unsafe`, the promise that it has this type.
fn wrong(lock: &DomainLock, exception: &Exception) -> bool {
    exception.argument::<OCamlString>(lock, 0).is_ok() //~ E0133 argument` is unsafe
}

//# functions_without_unsafe
// Declaring OCaml functions needs `unsafe`, the promise that they have these types.
ocaml_boxroot::ocaml_functions! {
    //~^ ERROR ocaml_functions! takes `unsafe { fn name(argument: OCamlType, …) -> OCamlType
    fn wrong(n: OCamlInt) -> OCamlInt = "name";
}

//# export_without_unsafe
// Exporting a function needs `unsafe`, the promise that OCaml declares it with these types.
ocaml_boxroot::export! {
    //~^ ERROR export!: `wrong`: write `unsafe` before `fn`: it is your promise that
    fn wrong(lock, n: OCamlInt) -> Result<OCamlInt, Error> {
        n.clone_in(lock)
    }
}

//# argument_of_export_without_unsafe
// The code that makes an argument from an OCaml value is unsafe.
fn forged(lock: &mut DomainLock, raw: isize) -> Result<i64, Error> {
    drop(export_argument!(take lock forged raw OCamlString)); //~ E0133 Argument::<T>::new` is unsafe
    Ok(export_argument!(take lock forged raw OCamlInt as i64)) //~ E0133 converted` is unsafe
}

//# parts_of_export_without_unsafe
// The inner macros of `export!` also need `unsafe`.
fn body(lock: &mut DomainLock, text: &RootRef<OCamlString>) -> Result<Boxroot<()>, Error> {
    println!("{}", text.get(lock).to_string_lossy());
    Ok(Boxroot::new(lock, Value::unit()))
}

ocaml_boxroot::export_entry!(promised "name", [] name [body] [] [text: OCamlString] [()]);
//~^ ERROR no rules expected
ocaml_boxroot::export_bytecode!(promised ["name"] a b c d e f); //~ ERROR no rules expected

//# unsafe_in_an_exported_body
// The `unsafe` of `export!` does not allow unsafe code in the body.
ocaml_boxroot::export! {
    unsafe fn wrong(_lock, n: OCamlInt) -> Result<OCamlInt as i32, Error> {
        Value::<OCamlInt>::from_raw(3); //~ E0133 from_raw` is unsafe
        Ok(1)
    }
}
