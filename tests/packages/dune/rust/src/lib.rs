//! Keeps OCaml functions in Rust. The `external` declarations are in `with_rust.ml`.

use ocaml_boxroot::{export, Boxroot, Error, Function, OCamlInt, OCamlString};
use std::{
    collections::HashMap,
    error,
    sync::{LazyLock, Mutex},
};

type IntFunction = Function<(OCamlInt,), OCamlInt>;

static FUNCTIONS: LazyLock<Mutex<HashMap<String, Boxroot<IntFunction>>>> =
    LazyLock::new(Mutex::default);

export! {
    unsafe fn words_define(lock, name: OCamlString as String, function: IntFunction) -> Result<() as (), Error> {
        let root = function.clone_in(lock)?;
        FUNCTIONS.lock().unwrap().insert(name, root);
        Ok(())
    }

    unsafe fn words_apply(lock, name: OCamlString as String, argument: OCamlInt)
        -> Result<OCamlInt as isize, Box<dyn error::Error>>
    {
        let function = match FUNCTIONS.lock().unwrap().get(&name) {
            Some(function) => function.clone_in(lock)?,
            None => return Err(format!("no function {name}").into()),
        };
        let (result, _lock) = function.call(lock, argument)?;
        Ok(result.to_int())
    }
}
