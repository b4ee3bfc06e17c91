//! Exact instruction counts of the fast paths, counted by valgrind's callgrind through
//! `iai-callgrind`. `make bench-instructions` runs this, and compares with the tables of
//! `docs/instructions/`.
//!
//! Each benchmark runs 1000 operations, including their slow paths.

use iai_callgrind::{library_benchmark, library_benchmark_group, main};
use ocaml_boxroot::raw::DomainLockExt;
use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, Runtime, Value};
use ocaml_boxroot_sys::{self as sys, BoxRoot};
use ocaml_sys::caml_leave_blocking_section;
use std::hint::black_box;

const N: usize = 1000;

extern "C" {
    fn bench_create(roots: *mut Option<BoxRoot>, n: usize);
    fn bench_delete(roots: *mut Option<BoxRoot>, n: usize);
    fn bench_pair(n: usize);
    fn bench_get(roots: *mut Option<BoxRoot>, n: usize) -> sys::Value;
    fn bench_modify(roots: *mut Option<BoxRoot>, n: usize);
    fn caml_minor_collection();
}

type Root = Boxroot<OCamlInt>;

/// The lock, which is never released: each benchmark runs in its own process.
fn lock() -> &'static DomainLock {
    Runtime::start().expect("OCaml starts");
    // SAFETY: this thread started OCaml, which released the lock; this thread takes it once, and
    // keeps it. The copy is the only token.
    unsafe {
        caml_leave_blocking_section();
        let token = DomainLock::assume_held(|lock| std::ptr::read(lock)).expect("OCaml runs");
        Box::leak(Box::new(token))
    }
}

/// The lock and room for N roots, after a first create that has set the library up.
fn room() -> (&'static DomainLock, Vec<Root>) {
    let lock = lock();
    Boxroot::new(lock, Value::int(0)).delete_in(lock);
    (lock, Vec::with_capacity(N))
}

/// N young roots.
fn young() -> (&'static DomainLock, Vec<Root>) {
    let (lock, mut roots) = room();
    roots.extend((0..N as isize).map(|i| Boxroot::new(lock, Value::int(i))));
    (lock, roots)
}

/// N old roots.
fn old() -> (&'static DomainLock, Vec<Root>) {
    let state = young();
    // SAFETY: this thread holds the lock, and no value is used across the collection.
    unsafe { caml_minor_collection() }
    state
}

fn raw(state: (&'static DomainLock, Vec<Root>)) -> Vec<Option<BoxRoot>> {
    let mut roots: Vec<_> = state.1.into_iter().map(|root| Some(root.into_raw())).collect();
    roots.resize(N, None);
    roots
}

fn raw_room() -> Vec<Option<BoxRoot>> {
    raw(room())
}

fn raw_young() -> Vec<Option<BoxRoot>> {
    raw(young())
}

fn raw_old() -> Vec<Option<BoxRoot>> {
    raw(old())
}

// ---- C, inlined ----

#[library_benchmark(setup = raw_room)]
#[bench::inlined()]
fn c_create(mut roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    // SAFETY: the runtime is up, this thread holds its lock, and there is room for N roots.
    unsafe { bench_create(roots.as_mut_ptr(), N) }
    roots
}

#[library_benchmark(setup = raw_young)]
#[bench::inlined()]
fn c_delete(mut roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    // SAFETY: N live roots, which are not used again.
    unsafe { bench_delete(roots.as_mut_ptr(), N) }
    roots
}

#[library_benchmark(setup = raw_room)]
#[bench::inlined()]
fn c_create_and_delete(roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    // SAFETY: this thread holds the lock.
    unsafe { bench_pair(N) }
    roots
}

#[library_benchmark(setup = raw_young)]
#[bench::inlined()]
fn c_get(mut roots: Vec<Option<BoxRoot>>) -> sys::Value {
    // SAFETY: N live roots, and this thread holds the lock.
    let sum = unsafe { bench_get(roots.as_mut_ptr(), N) };
    std::mem::forget(roots);
    sum
}

#[library_benchmark(setup = raw_young)]
#[bench::inlined()]
fn c_modify_young(mut roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    // SAFETY: N live roots, and this thread holds the lock.
    unsafe { bench_modify(roots.as_mut_ptr(), N) }
    roots
}

#[library_benchmark(setup = raw_old)]
#[bench::inlined()]
fn c_modify_old(mut roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    // SAFETY: N live roots, and this thread holds the lock.
    unsafe { bench_modify(roots.as_mut_ptr(), N) }
    roots
}

// ---- raw Rust ----

#[library_benchmark(setup = raw_room)]
#[bench::call()]
fn raw_create(mut roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    for root in &mut roots {
        // SAFETY: 3 is a valid value: the integer 1.
        *root = unsafe { sys::boxroot_create(3) };
    }
    roots
}

#[library_benchmark(setup = raw_young)]
#[bench::call()]
fn raw_delete(roots: Vec<Option<BoxRoot>>) -> Vec<Option<BoxRoot>> {
    for root in roots.iter().flatten() {
        // SAFETY: live, and not used again.
        unsafe { sys::boxroot_delete(*root) }
    }
    roots
}

// ---- safe Rust ----

#[library_benchmark(setup = room)]
#[bench::token()]
fn safe_new(state: (&'static DomainLock, Vec<Root>)) -> Vec<Root> {
    let (lock, mut roots) = state;
    let value = black_box(Value::int(1));
    roots.extend((0..N).map(|_| Boxroot::new(lock, value)));
    roots
}

#[library_benchmark(setup = young)]
#[bench::token()]
fn safe_delete_in(state: (&'static DomainLock, Vec<Root>)) {
    let (lock, mut roots) = state;
    for root in roots.drain(..) {
        root.delete_in(lock);
    }
    std::mem::forget(roots);
}

#[library_benchmark(setup = room)]
#[bench::token()]
fn safe_new_and_delete_in(state: (&'static DomainLock, Vec<Root>)) -> Vec<Root> {
    let (lock, roots) = state;
    let value = black_box(Value::int(1));
    for _ in 0..N {
        black_box(Boxroot::new(lock, value)).delete_in(lock);
    }
    roots
}

#[library_benchmark(setup = young)]
#[bench::no_token()]
fn safe_drop(state: (&'static DomainLock, Vec<Root>)) {
    let (_, mut roots) = state;
    for root in roots.drain(..) {
        drop(root);
    }
    std::mem::forget(roots);
}

#[library_benchmark(setup = young)]
#[bench::token()]
fn safe_get(state: (&'static DomainLock, Vec<Root>)) -> (isize, Vec<Root>) {
    let (lock, roots) = state;
    let mut sum = 0;
    for root in &roots {
        sum ^= root.get(lock).raw();
    }
    (sum, roots)
}

#[library_benchmark(setup = young)]
#[bench::token()]
fn safe_set_young(state: (&'static DomainLock, Vec<Root>)) -> Vec<Root> {
    let (lock, mut roots) = state;
    for root in &mut roots {
        root.set(lock, black_box(Value::int(1)));
    }
    roots
}

#[library_benchmark(setup = old)]
#[bench::token()]
fn safe_set_old(state: (&'static DomainLock, Vec<Root>)) -> Vec<Root> {
    let (lock, mut roots) = state;
    for root in &mut roots {
        root.set(lock, black_box(Value::int(1)));
    }
    roots
}

// The cost of the loop over the roots alone, to be compared with `get`.
#[library_benchmark(setup = young)]
#[bench::empty()]
fn loop_alone(state: (&'static DomainLock, Vec<Root>)) -> (usize, Vec<Root>) {
    let (_, roots) = state;
    let mut sum = 0;
    for root in &roots {
        sum ^= black_box(root) as *const Root as usize;
    }
    (sum, roots)
}

library_benchmark_group!(
    name = fast_paths;
    benchmarks = c_create, c_delete, c_create_and_delete, c_get, c_modify_young, c_modify_old,
        raw_create, raw_delete,
        safe_new, safe_delete_in, safe_new_and_delete_in, safe_drop, safe_get, safe_set_young, safe_set_old,
        loop_alone
);
main!(library_benchmark_groups = fast_paths);
