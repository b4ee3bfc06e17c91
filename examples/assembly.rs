//! The operations under a token, each as a function of its own, for `make assembly`: it puts what the
//! compiler makes of them into `docs/assembly.md`.
//!
//! Run it: `cargo run --example assembly`

use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, Runtime, Value};

#[no_mangle]
#[inline(never)]
fn token_create(lock: &DomainLock, value: Value<'_, OCamlInt>) -> Boxroot<OCamlInt> {
    Boxroot::new(lock, value)
}

#[no_mangle]
#[inline(never)]
fn token_get<'l>(lock: &'l DomainLock, root: &Boxroot<OCamlInt>) -> Value<'l, OCamlInt> {
    root.get(lock)
}

#[no_mangle]
#[inline(never)]
fn token_set(lock: &DomainLock, root: &mut Boxroot<OCamlInt>, value: Value<'_, OCamlInt>) {
    root.set(lock, value)
}

#[no_mangle]
#[inline(never)]
fn token_delete_in(lock: &DomainLock, root: Boxroot<OCamlInt>) {
    root.delete_in(lock)
}

fn main() -> Result<(), ocaml_boxroot::Error> {
    Runtime::start()?;
    DomainLock::attach(|lock| {
        let mut root = token_create(lock, Value::int(1));
        token_set(lock, &mut root, Value::int(2));
        assert_eq!(token_get(lock, &root).to_int(), 2);
        token_delete_in(lock, root);
    })
}
