//! Tests as users of the crate write them: all tests run in one process, each on its own thread,
//! and share a runtime.

#[path = "../support/mod.rs"]
mod support;

use ocaml_boxroot::{Boxroot, DomainLock, OCamlList, OCamlString, Runtime, ToOCaml};
use support::safe::churn;

type Words = Boxroot<OCamlList<OCamlString>>;

/// Keeps a list in a root while this thread and others cause collections.
fn hold(words: &[&str]) {
    Runtime::get_or_start().unwrap();
    let list: Words = DomainLock::with(|lock| words.to_ocaml(lock)).unwrap().unwrap();
    for _ in 0..10 {
        DomainLock::with(churn).unwrap();
    }
    let copy: Vec<String> = DomainLock::with(|lock| list.get(lock).to_rust(lock)).unwrap().unwrap();
    assert_eq!(copy, words);
}

#[test]
fn numbers() {
    hold(&["one", "two", "three"]);
}

#[test]
fn colours() {
    hold(&["red", "green"]);
}

#[test]
fn nothing() {
    hold(&[]);
}

#[test]
fn panics_stay_in_their_test() {
    Runtime::get_or_start().unwrap();
    let panicked = std::thread::spawn(|| DomainLock::with(|_| panic!("under the lock"))).join();
    assert!(panicked.is_err());
    hold(&["still there"]);
}

#[test]
fn threads_of_a_test() {
    Runtime::get_or_start().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| hold(&["from a thread"]));
        }
    });
}
