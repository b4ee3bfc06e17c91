//! Random sequences of operations of the safe crate, compared with a model: for each live root, the
//! number that its string spells. A failure is shrunk to a short sequence. One test, because a
//! process can have one runtime.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

use ocaml_boxroot::debug::stats;
use ocaml_boxroot::raw::ValueExt;
use ocaml_boxroot::{
    ocaml_functions, AttachError, Boxroot, CallError, DomainLock, Function, OCamlAny, OCamlInt,
    OCamlString, Runtime, Value,
};
use ocaml_boxroot_sys as sys;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::exported::HANDED_OVER;
use support::raw;
use support::safe::through_ocaml;

/// One operation. Indices are taken modulo the number of live roots, or of places on the shelf. An
/// operation on several roots takes them from an index on.
#[derive(Clone, Debug)]
enum Op {
    Create(usize),
    CreateMany(usize, usize),
    Get(usize),
    Set(usize, usize),
    /// Makes a root own the value of another root.
    Share(usize, usize),
    Clone(usize),
    Delete(usize),
    /// Deletes every n-th root.
    DeleteMany(usize),
    Drop(usize, Place),
    /// Moves a value to a root that is made by the functions for C.
    Raw(usize),
    /// Moves values into a block of OCaml's heap, the shelf, where they have no roots.
    Shelve(usize, usize),
    /// Makes a root of a value on the shelf.
    Unshelve(usize),
    /// The shelf becomes a new block, which the collector may not visit in this cycle.
    ReplaceShelf,
    /// Sends a value through a closure that OCaml calls, and that allocates.
    Call(usize),
    Minor,
    Major,
    Slice,
    Compact,
    Alloc(usize),
}

/// The place where roots are dropped, and their number at most.
#[derive(Clone, Copy, Debug)]
enum Place {
    Here,
    /// On a thread that does not hold the lock.
    Thread(usize),
    /// In Rust code that a function of exported.ml calls.
    OCaml(usize, &'static str),
}

fn place() -> impl Strategy<Value = Place> {
    let finaliser = "drop_roots_in_a_finaliser";
    let domain = if raw::OCAML5 { "drop_roots_in_a_domain" } else { finaliser };
    prop_oneof![
        Just(Place::Here),
        (1..2000_usize).prop_map(Place::Thread),
        (1..2000_usize).prop_map(move |n| Place::OCaml(n, domain)),
        (1..2000_usize).prop_map(move |n| Place::OCaml(n, finaliser)),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0..1_000_000_usize;
    prop_oneof![
        8 => n.clone().prop_map(Op::Create),
        4 => (n.clone(), 1..5000_usize).prop_map(|(n, count)| Op::CreateMany(n, count)),
        // Enough roots for the collector to mark them in slices (BXR_HAND_OVER_FROM in
        // boxroot-c/src/scan.c).
        1 => (n.clone(), 30_000..60_000_usize).prop_map(|(n, count)| Op::CreateMany(n, count)),
        4 => n.clone().prop_map(Op::Get),
        6 => (n.clone(), n.clone()).prop_map(|(i, n)| Op::Set(i, n)),
        4 => (n.clone(), n.clone()).prop_map(|(i, j)| Op::Share(i, j)),
        2 => n.clone().prop_map(Op::Clone),
        6 => n.clone().prop_map(Op::Delete),
        2 => (2..5_usize).prop_map(Op::DeleteMany),
        4 => (n.clone(), place()).prop_map(|(i, place)| Op::Drop(i, place)),
        2 => n.clone().prop_map(Op::Raw),
        4 => (n.clone(), 1..SHELF).prop_map(|(i, count)| Op::Shelve(i, count)),
        2 => n.clone().prop_map(Op::Unshelve),
        1 => Just(Op::ReplaceShelf),
        1 => n.clone().prop_map(Op::Call),
        3 => Just(Op::Minor),
        1 => Just(Op::Major),
        4 => Just(Op::Slice),
        1 => Just(Op::Compact),
        4 => (0..5000_usize).prop_map(Op::Alloc),
    ]
}

type Root = Boxroot<OCamlString>;
type Echo = Function<(OCamlString,), OCamlString>;

ocaml_functions! {
    unsafe {
        fn block(size: OCamlInt) -> OCamlAny = "block";
        fn set_field(block: OCamlAny, place: OCamlInt, text: OCamlString) = "set_field";
        fn apply(f: Echo, text: OCamlString) -> OCamlString = "apply1";
        fn minor() = "minor";
        fn full_major() = "full_major";
        fn start_major_slice(words: OCamlInt) = "start_major_slice";
        fn compact() = "compact";
        fn churn(n: OCamlInt) = "churn";
    }
}

const SHELF: usize = 300;

struct Model {
    roots: Vec<(Root, usize)>,
    shelf: Boxroot<OCamlAny>,
    on_shelf: [Option<usize>; SHELF],
    echo: Boxroot<Echo>,
}

impl Model {
    fn new(lock: &mut DomainLock) -> Result<Model, CallError> {
        let echo = Echo::from_rust(lock, |lock, text| {
            churn(lock, 100)?;
            Ok(text.clone_in(lock)?)
        })?;
        Ok(Model { roots: vec![], shelf: block(lock, SHELF)?, on_shelf: [None; SHELF], echo })
    }

    fn add(&mut self, lock: &mut DomainLock, n: usize) {
        let (text, lock) = lock.alloc_string(n.to_string()).unwrap();
        self.roots.push((Boxroot::new(lock, text), n));
    }

    /// Takes up to `count` roots.
    fn take(&mut self, i: usize, count: usize) -> Vec<(Root, usize)> {
        let first = i % self.roots.len();
        let end = self.roots.len().min(first + count);
        self.roots.drain(first..end).collect()
    }

    fn text_on_shelf<'l>(&self, lock: &'l DomainLock, place: usize) -> Value<'l, OCamlString> {
        // SAFETY: the shelf has this field, which holds a string.
        unsafe { self.shelf.get(lock).field(place) }
    }

    fn drop_in(&mut self, lock: &mut DomainLock, i: usize, place: Place) {
        match place {
            Place::Here => drop(self.take(i, 1)),
            Place::Thread(count) => {
                let gone = self.take(i, count);
                lock.release(|| std::thread::spawn(|| drop(gone)).join().unwrap());
            }
            Place::OCaml(count, how) => {
                let gone = self.take(i, count).into_iter().map(|(root, _)| root);
                HANDED_OVER.lock().unwrap().extend(gone);
                through_ocaml(lock, how, 0).unwrap();
            }
        }
    }

    fn run(&mut self, lock: &mut DomainLock, op: &Op) -> Result<(), CallError> {
        let len = self.roots.len();
        match *op {
            Op::Create(n) => self.add(lock, n),
            Op::CreateMany(n, count) => (n..n + count).for_each(|n| self.add(lock, n)),
            Op::Minor => minor(lock)?,
            Op::Major => full_major(lock)?,
            Op::Slice => start_major_slice(lock, 500)?,
            Op::Compact => compact(lock)?,
            Op::Alloc(n) => churn(lock, n)?,
            Op::ReplaceShelf => {
                self.check_shelf(lock);
                self.shelf = block(lock, SHELF)?;
                self.on_shelf = [None; SHELF];
            }
            Op::Unshelve(place) => {
                let place = place % SHELF;
                if let Some(n) = self.on_shelf[place] {
                    let root = Boxroot::new(lock, self.text_on_shelf(lock, place));
                    self.roots.push((root, n));
                }
            }
            _ if len == 0 => {}
            Op::Get(i) => check(self.roots[i % len].0.get(lock), self.roots[i % len].1),
            Op::Set(i, n) => {
                let (text, lock) = lock.alloc_string(n.to_string())?;
                self.roots[i % len].0.set(lock, text);
                self.roots[i % len].1 = n;
            }
            Op::Share(i, j) => {
                let text = self.roots[j % len].0.get(lock);
                self.roots[i % len].0.set(lock, text);
                self.roots[i % len].1 = self.roots[j % len].1;
            }
            Op::Clone(i) => {
                let (root, n) = &self.roots[i % len];
                let copy = (root.clone_in(lock)?, *n);
                self.roots.push(copy);
            }
            Op::Delete(i) => self.roots.swap_remove(i % len).0.delete_in(lock),
            Op::DeleteMany(nth) => {
                for i in (0..len).rev().step_by(nth) {
                    self.roots.swap_remove(i).0.delete_in(lock);
                }
            }
            Op::Drop(i, place) => self.drop_in(lock, i, place),
            Op::Raw(i) => {
                let (root, n) = self.roots.swap_remove(i % len);
                let mut raw = root.into_raw();
                // SAFETY: the lock is held. Each root is live until it is deleted, and the
                // collector does not run.
                let moved = unsafe {
                    let text = sys::boxroot_get(raw);
                    assert!(sys::boxroot_modify(&mut raw, raw::UNIT));
                    let moved = sys::boxroot_create(text).ok_or(AttachError::OutOfMemory)?;
                    sys::boxroot_delete(raw);
                    Boxroot::from_raw(moved)
                };
                self.roots.push((moved, n));
            }
            Op::Shelve(i, count) => {
                for (place, (root, n)) in self.take(i, count).into_iter().enumerate() {
                    set_field(lock, &self.shelf, place, &root)?;
                    self.on_shelf[place] = Some(n);
                    root.delete_in(lock);
                }
            }
            Op::Call(i) => {
                let (root, n) = &mut self.roots[i % len];
                *root = apply(lock, &self.echo, &*root)?;
                check(root.get(lock), *n);
            }
        }
        raw::validate();
        Ok(())
    }

    fn check_shelf(&self, lock: &DomainLock) {
        for (place, n) in self.on_shelf.iter().enumerate() {
            n.inspect(|&n| check(self.text_on_shelf(lock, place), n));
        }
    }

    fn check_all(&self, lock: &DomainLock) {
        self.roots.iter().for_each(|(root, n)| check(root.get(lock), *n));
        self.check_shelf(lock);
        assert_eq!(stats().live_roots, self.roots.len() + 2, "the shelf and the closure, too");
    }
}

fn check(text: Value<OCamlString>, n: usize) {
    assert_eq!(text.to_string_lossy(), n.to_string());
}

fn agrees_with_the_model(lock: &mut DomainLock, ops: &[Op]) -> Result<(), CallError> {
    let mut model = Model::new(lock)?;
    for op in ops {
        model.run(lock, op)?;
    }
    model.check_all(lock);
    // A lost value has other contents then.
    full_major(lock)?;
    churn(lock, 5000)?;
    model.check_all(lock);
    drop(model);
    assert_eq!(stats().live_roots, 0);
    Ok(())
}

#[test]
fn roots_agree_with_the_model() {
    Runtime::start().unwrap();
    // Many minor collections in each sequence.
    DomainLock::with(|_| raw::ocaml("minor_heap_words", &[raw::int(4096)])).unwrap();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    // No file of past failures is kept: a failure is printed, and should become a separate test.
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&proptest::collection::vec(op(), 1..60), |ops| {
        DomainLock::with(|lock| agrees_with_the_model(lock, &ops)).unwrap().unwrap();
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
