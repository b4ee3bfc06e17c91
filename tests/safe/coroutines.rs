//! Coroutines with their own stacks. They can end their calls in any order. musl has no coroutines.

use crate::support::coroutine::{suspend, Coroutine};
use crate::support::exported::Run;
use crate::support::process::{output_within, text_of, this_program};
use crate::support::safe::*;
use ocaml_boxroot::depth::{self, Level};
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{
    Boxroot, ConversionError, ConversionErrorKind, DomainLock, OCamlInt, ToOCaml, Value,
};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::sync::Mutex;
use std::time::Duration;

/// Suspends itself in a release, with OCaml's frames on its stack.
fn release() {
    let body: Run = |lock, _| {
        let kept = strings(lock, 100);
        lock.release(suspend);
        churn(lock);
        check(lock, &kept);
        Ok(())
    };
    DomainLock::with(|lock| assert_eq!(ocaml(lock, "run", 7, body).unwrap(), 7)).unwrap();
}

/// Suspends itself while it holds the lock.
fn hold() {
    DomainLock::with(|_| suspend()).unwrap();
}

test!(coroutines_in_order, || {
    start();
    for inner in [release, hold] {
        let (first, second) = (Coroutine::new(release), Coroutine::new(inner));
        first.resume();
        second.resume();
        second.resume();
        DomainLock::with(churn).unwrap();
        first.resume();
    }
    assert_no_roots();
});

const INNER: &str = "BOXROOT_COROUTINE";

/// Runs the test in another process.
fn run_inner(how: &str) -> Output {
    output_within(Duration::from_secs(60), this_program().env(INNER, how)).unwrap()
}

/// Two stacks that end at the same address, used one after the other: of 1 MiB, and of 128 KiB.
/// Below the second one is a guard page, and below that memory of others.
fn large_stack_and_small_one() -> (&'static mut [u8], impl FnOnce() -> &'static mut [u8]) {
    const SMALL: usize = 128 << 10;
    const PAGE: usize = 4096;
    let memory: *mut [u8] = vec![0; 1 << 20].leak();
    let small = move || {
        let start = memory.cast::<u8>();
        let start = start.wrapping_add(start.align_offset(PAGE) + memory.len() - PAGE - SMALL);
        // SAFETY: the page is in the memory, which is no longer used.
        unsafe {
            assert_eq!(libc::mprotect(start.wrapping_sub(PAGE).cast(), PAGE, libc::PROT_NONE), 0);
            std::slice::from_raw_parts_mut(start, SMALL)
        }
    };
    // SAFETY: the memory is leaked, and `small` is called when it is not used any more.
    (unsafe { &mut *memory }, small)
}

/// An infinitely deep value.
struct Endless;

impl ToOCaml<OCamlInt> for Endless {
    fn to_value<'l>(
        &self,
        lock: &'l mut DomainLock,
    ) -> Result<(Value<'l, OCamlInt>, &'l DomainLock), ConversionError> {
        let _level = Level::new()?;
        Box::new(Endless).to_value(lock)
    }
}

fn reach_the_end_of_the_stack() {
    DomainLock::with(|lock| {
        // Functions of OCaml would write beyond the guard page.
        let error = ocaml(lock, "run", 7, |_, _| Ok(())).unwrap_err();
        assert!(error.is(lock, "Stack_overflow"), "{error}");
        depth::set_limit(usize::MAX);
        assert_eq!(Endless.to_ocaml(lock).err(), Some(ConversionErrorKind::TooDeep.into()));
    })
    .unwrap();
}

/// Calls and converts deeper in the stack than `reach_the_end_of_the_stack` will.
fn use_the_stack() {
    let room = std::hint::black_box([0u8; 8 << 10]);
    DomainLock::with(|lock| {
        assert_eq!(ocaml(lock, "run", 7, |_, _| Ok(())).unwrap(), 7);
        let _: Boxroot<Option<OCamlInt>> = Some(7).to_ocaml(lock).unwrap();
    })
    .unwrap();
    std::hint::black_box(room);
}

test!(coroutine_on_a_small_stack, || {
    start();
    let (large, small) = large_stack_and_small_one();
    Coroutine::on(large, use_the_stack).resume();
    Coroutine::on(small(), reach_the_end_of_the_stack).resume();
});

fn run_out_of_order(inner: fn()) {
    start();
    let (first, second) = (Coroutine::new(release), Coroutine::new(inner));
    first.resume();
    second.resume();
    first.resume();
}

static UPPER_STACK: Mutex<Option<&mut [u8]>> = Mutex::new(None);

fn wait_for_the_upper_stack() {
    let resume: Run = |_, _| {
        let stack = UPPER_STACK.lock().unwrap().take().unwrap();
        Coroutine::on(stack, raise_an_exception).resume();
        Ok(())
    };
    DomainLock::with(|lock| {
        assert_eq!(ocaml(lock, "run_beside_a_value", 7, resume).unwrap(), 7);
    })
    .unwrap();
}

fn raise_an_exception() {
    let body = |lock: &mut DomainLock| {
        assert!(ocaml(lock, "run", 7, |_, _| Err("wrong".into())).is_err());
        churn(lock);
    };
    // SAFETY: the coroutine that waits holds the lock, and goes on when this one has ended.
    unsafe { DomainLock::assume_held(body) }.unwrap();
}

// OCaml assumes that an exception jumps over the frames at lower addresses.
test!(exception_on_a_stack_above, || {
    start();
    let (lower, upper) = vec![0; 8 << 20].leak().split_at_mut(4 << 20);
    *UPPER_STACK.lock().unwrap() = Some(upper);
    Coroutine::on(lower, wait_for_the_upper_stack).resume();
});

test!(coroutines_out_of_order, || {
    match std::env::var(INNER).as_deref() {
        Ok("hold") => run_out_of_order(hold),
        Ok(_) => run_out_of_order(release),
        Err(_) => {
            for inner in ["release", "hold"] {
                let output = run_inner(inner);
                let text = text_of(&output);
                assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{inner}: {text}");
                assert!(text.contains("was still active"), "{inner}: {text}");
            }
        }
    }
});
