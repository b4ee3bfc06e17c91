//! Coroutines with stacks of their own, which can end what they begin in any order. musl has none.

use crate::support::coroutine::{suspend, Coroutine};
use crate::support::exported::Run;
use crate::support::process::{output_within, text_of, this_program};
use crate::support::safe::*;
use ocaml_boxroot::{set_depth_limit, Boxroot, DomainLock, Error, OCamlInt, ToOCaml};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
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

/// Runs the test in another process.
fn run_inner(how: &str) -> Output {
    output_within(Duration::from_secs(60), this_program().env(INNER, how)).unwrap()
}

/// A stack of 128 KiB, which has a guard page below it, and then memory of others.
fn small_stack() -> &'static mut [u8] {
    const SIZE: usize = 128 << 10;
    const PAGE: usize = 4096;
    let memory: &mut [u8] = vec![0; 1 << 20].leak();
    let start = memory.as_mut_ptr().align_offset(PAGE) + (512 << 10);
    // SAFETY: the page is in the memory, which nobody else uses.
    unsafe {
        let guard = memory.as_mut_ptr().add(start - PAGE).cast();
        assert_eq!(libc::mprotect(guard, PAGE, libc::PROT_NONE), 0);
    }
    &mut memory[start..start + SIZE]
}

/// A value without end.
struct Endless;

impl ToOCaml<OCamlInt> for Endless {
    fn convert_to(&self, lock: &mut DomainLock) -> Result<Boxroot<OCamlInt>, Error> {
        Endless.to_ocaml(lock)
    }
}

fn reach_the_end_of_the_stack() {
    DomainLock::attach(|lock| {
        // Functions of OCaml would write behind the guard page.
        let error = ocaml(lock, "run", 7, |_, _| Ok(())).unwrap_err();
        assert!(error.is(lock, "Stack_overflow"), "{error}");
        set_depth_limit(usize::MAX);
        assert_eq!(Endless.to_ocaml(lock).err(), Some(Error::TooDeep));
    })
    .unwrap();
}

test!(coroutine_on_a_small_stack, || {
    start();
    Coroutine::on(small_stack(), reach_the_end_of_the_stack).resume();
});

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
                let output = run_inner(inner);
                let text = text_of(&output);
                assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{inner}: {text}");
                assert!(text.contains("in another order"), "{inner}: {text}");
            }
        }
    }
});
