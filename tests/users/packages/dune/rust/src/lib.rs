//! The functions that the OCaml module `Words` needs from Rust. Both compilers check them, through
//! bindings that the build script generates.

#![forbid(unsafe_code)]

use ocaml_boxroot::{Boxroot, DomainLock, Function, OCamlInt, RootRef};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Mutex;

ocaml_boxroot::include_bindings!(words: Words);

type IntFunction = Function<(OCamlInt,), OCamlInt>;

static FUNCTIONS: Mutex<BTreeMap<String, Boxroot<IntFunction>>> = Mutex::new(BTreeMap::new());

pub struct Words;

impl words::Externals for Words {
    fn define(
        lock: &mut DomainLock,
        name: String,
        function: &RootRef<IntFunction>,
    ) -> Result<(), Box<dyn Error>> {
        FUNCTIONS.lock().unwrap().insert(name, function.clone_in(lock)?);
        Ok(())
    }

    fn apply(
        lock: &mut DomainLock,
        name: String,
        argument: isize,
    ) -> Result<isize, Box<dyn Error>> {
        let function = match FUNCTIONS.lock().unwrap().get(&name) {
            Some(function) => function.clone_in(lock)?,
            None => return Err(format!("no function {name}").into()),
        };
        Ok(function.call_converting(lock, argument)?)
    }

    fn describe(lock: &mut DomainLock, word: words::Word) -> Result<String, Box<dyn Error>> {
        let past = match words::past(lock, &word) {
            Ok(past) => past,
            Err(error) => match words::Unknown::of(lock, &error)? {
                Some(words::Unknown(text)) => format!("{text} has none"),
                None => return Err(error.into()),
            },
        };
        let words::Word { text, kind } = word;
        Ok(format!("{text}, {kind:?}: {past}"))
    }
}
