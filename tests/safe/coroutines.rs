//! Coroutines with stacks of their own, which can end what they begin in any order. musl has none.

use crate::support::coroutine::{suspend, Coroutine};
use crate::support::exported::Run;
use crate::support::process::{output_within, text_of, this_program};
use crate::support::safe::*;
use ocaml_boxroot::DomainLock;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// Is suspended in a release, with OCaml's frames on its stack.
fn release() {
    let body: Run = |lock, _| {
        let kept = strings(lock, 100);
        lock.release(suspend);
        churn(lock);
        check(lock, &kept);
        Ok(())
    };
    DomainLock::attach(|lock| assert_eq!(ocaml(lock, "run", 7, body).unwrap(), 7)).unwrap();
}

/// Is suspended while it holds the lock.
fn hold() {
    DomainLock::attach(|_| suspend()).unwrap();
}

test!(coroutines_in_order, || {
    start();
    for inner in [release, hold] {
        let (first, second) = (Coroutine::new(release), Coroutine::new(inner));
        first.resume();
        second.resume();
        second.resume();
        DomainLock::attach(churn).unwrap();
        first.resume();
    }
    assert_no_roots();
});

const INNER: &str = "BOXROOT_COROUTINE";

fn run_out_of_order(inner: fn()) {
    start();
    let (first, second) = (Coroutine::new(release), Coroutine::new(inner));
    first.resume();
    second.resume();
    first.resume();
}

test!(coroutines_out_of_order, || {
    match std::env::var(INNER).as_deref() {
        Ok("hold") => run_out_of_order(hold),
        Ok(_) => run_out_of_order(release),
        Err(_) => {
            for inner in ["release", "hold"] {
                let mut program = this_program();
                let output =
                    output_within(Duration::from_secs(60), program.env(INNER, inner)).unwrap();
                let text = text_of(&output);
                assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{inner}: {text}");
                assert!(text.contains("in another order"), "{inner}: {text}");
            }
        }
    }
});
