//! The operations that an actor can do in one step.

use crate::actor::{Actor, SHELF};
use crate::roots::{Entry, How, Root, HOWS};
use crate::shapes::{function, Raised};
use crate::{threads, with_lock, Settings};
use ocaml_boxroot::{
    ocaml_functions, stats, sys, trim, Boxroot, DomainLock, OCamlInt, OCamlList, OCamlString,
    ToOCaml, Value,
};
use std::error::Error;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::thread;

pub struct Operation {
    pub name: &'static str,
    pub weight: usize,
    pub run: fn(&mut Actor, &mut DomainLock),
}

macro_rules! operations {
    ($($name:ident: $weight:literal),+ $(,)?) => {
        pub static OPERATIONS: &[Operation] =
            &[$(Operation { name: stringify!($name), weight: $weight, run: $name }),+];
    };
}

operations! {
    check: 200, create: 140, delete: 100, set: 80, copy: 60, share: 40, move_root: 40, move_late: 20,
    numbers: 20, through_ocaml: 30, shelve: 60, unshelve: 40, replace_shelf: 1, raw: 20,
    create_many: 1, delete_many: 1, list_of_roots: 4, six: 5, exception: 3, echo: 3,
    to_market: 5, from_market: 5, drop_from_market: 3, drop_elsewhere: 8, drop_released: 3,
    drop_by_finaliser: 3, panic: 2, refused: 1,
    nested: 6, released: 4, life: 2,
    statistics: 1, check_all: 1, churn: 3, collect: 8, lose: 1,
}

// ---- one root ----

fn how(a: &mut Actor) -> How {
    HOWS[a.random.below(HOWS.len())]
}

fn check(a: &mut Actor, lock: &mut DomainLock) {
    a.calls += 1;
    if let Some(i) = a.pick() {
        a.entries[i].check(lock);
    }
}

fn create(a: &mut Actor, lock: &mut DomainLock) {
    if !a.is_full() {
        a.calls += 1;
        let entry = Entry::new(a.random.draw() | 1, lock);
        a.entries.push(entry);
    }
}

fn delete(a: &mut Actor, lock: &mut DomainLock) {
    if let Some(entry) = a.take() {
        a.calls += 1;
        entry.root.delete(lock, how(a));
    }
}

/// A root gets a new value. (Before, the collector and other threads may run.)
fn set(a: &mut Actor, lock: &mut DomainLock) {
    if let Some(mut entry) = a.take() {
        a.calls += 2;
        // A new id of the same kind, which is in the second byte.
        entry.id = (a.random.draw() & !0xff00) | (entry.id & 0xff00) | 1;
        let new = Root::make(entry.id, lock);
        entry.root = entry.root.set(&new, lock, how(a));
        new.delete(lock, how(a));
        a.entries.push(entry);
    }
}

/// A root gets the value of another root.
fn copy(a: &mut Actor, lock: &mut DomainLock) {
    if let Some((entry, i)) = a.take_and_pick() {
        a.calls += 1;
        let how = how(a);
        let other = &a.entries[i];
        let root = entry.root.set(&other.root, lock, how);
        let id = other.id;
        a.entries.push(Entry { root, id });
    }
}

fn share(a: &mut Actor, lock: &mut DomainLock) {
    if a.is_full() {
        return;
    }
    if let Some(i) = a.pick() {
        a.calls += 1;
        let how = how(a);
        let (root, id) = (a.entries[i].root.again(lock, how), a.entries[i].id);
        a.entries.push(Entry { root, id });
    }
}

fn move_root(a: &mut Actor, lock: &mut DomainLock) {
    if let Some(entry) = a.take() {
        a.calls += 2;
        let root = entry.root.again(lock, how(a));
        entry.root.delete(lock, how(a));
        a.entries.push(Entry { root, id: entry.id });
    }
}

/// The value moves to a new root, and for a moment has no root.
fn move_late(a: &mut Actor, lock: &mut DomainLock) {
    match a.take() {
        Some(Entry { root: Root::Text(old), id }) => {
            a.calls += 2;
            let value = old.get(lock);
            old.delete_in(lock);
            a.entries.push(Entry { root: Root::Text(Boxroot::new(lock, value)), id });
        }
        Some(entry) => a.entries.push(entry),
        None => (),
    }
}

/// Roots that live shortly, without collections.
fn numbers(a: &mut Actor, lock: &mut DomainLock) {
    for n in 0..a.random.below(100) as isize {
        let mut root = Boxroot::<OCamlInt>::new(lock, Value::int(n));
        assert_eq!(root.get(lock).to_int(), n, "a short-lived root lost its value");
        root.set(lock, Value::int(!n));
        assert_eq!(root.get(lock).to_int(), !n, "a short-lived root was not set");
        a.calls += 3;
        if a.random.one_in(2) {
            root.delete_in(lock);
        }
    }
}

fn through_ocaml(a: &mut Actor, lock: &mut DomainLock) {
    if let Some(Entry { root, id }) = a.take() {
        a.calls += 2;
        let root = root.through_ocaml(lock);
        a.entries.push(Entry { root, id });
    }
}

/// Roots of the raw interface, which checks the lock in each call.
fn raw(a: &mut Actor, lock: &mut DomainLock) {
    let Some(entry) = a.take() else { return };
    if let Root::Text(text) = entry.root {
        let other = "other".to_ocaml(lock).expect("enough memory");
        let mut raw = text.into_raw();
        a.calls += 6;
        // SAFETY: the roots are live, and the lock is held. The values are live, because the collector does not run.
        unsafe {
            let value = sys::boxroot_get(raw);
            assert_eq!(*sys::boxroot_get_ref(raw).cast::<sys::Value>(), value);
            assert!(sys::boxroot_modify(&mut raw, other.get(lock).raw()));
            let second = sys::boxroot_create(value).expect("enough memory");
            assert_eq!(sys::boxroot_get(raw), other.get(lock).raw());
            sys::boxroot_delete(raw);
            let root = Root::Text(Boxroot::from_raw(second));
            a.entries.push(Entry { root, id: entry.id });
        }
    } else {
        a.entries.push(entry);
    }
}

// ---- values that move to and from the heap ----

fn shelve_at(a: &mut Actor, lock: &mut DomainLock, place: usize) {
    if let Some(entry) = a.take() {
        a.calls += 2;
        entry.root.put(lock, &a.shelf, place);
        a.shelf_ids[place] = entry.id;
        entry.root.delete(lock, how(a));
    }
}

fn shelve(a: &mut Actor, lock: &mut DomainLock) {
    let place = a.random.below(SHELF);
    shelve_at(a, lock, place);
}

fn unshelve(a: &mut Actor, lock: &mut DomainLock) {
    let place = a.random.below(SHELF);
    if a.shelf_ids[place] != 0 && !a.is_full() {
        let keep = a.random.one_in(2);
        let entry = a.on_shelf(lock, place, keep);
        a.entries.push(entry);
    }
}

/// Values move into a new block of the major heap, which the collector may not visit in this cycle, and their roots are
/// deleted.
fn replace_shelf(a: &mut Actor, lock: &mut DomainLock) {
    a.replace_shelf(lock);
    for place in 0..a.random.below(SHELF) {
        shelve_at(a, lock, place);
    }
}

// ---- many roots ----

fn create_many(a: &mut Actor, lock: &mut DomainLock) {
    let room = a.target.saturating_sub(a.entries.len());
    let only_numbers = a.random.one_in(2);
    for _ in 0..a.random.below(room + 1) {
        // Ids with 0 in the second byte are those of numbers.
        let mask = if only_numbers { !0xff00 } else { !0 };
        let entry = Entry::new((a.random.draw() & mask) | 1, lock);
        a.entries.push(entry);
        a.calls += 1;
    }
}

fn delete_many(a: &mut Actor, lock: &mut DomainLock) {
    let len = a.entries.len();
    let rest = if a.random.one_in(4) { len / 500 } else { a.random.below(len + 1) };
    while a.entries.len() > rest {
        delete(a, lock);
    }
}

// ---- calls ----

type I = OCamlInt;
ocaml_functions! {
    unsafe {
        fn sum_of_six(a: I, b: I, c: I, d: I, e: I, f: I) -> I = "walk.six";
        /// Calls `walk_echo`, and checks the result.
        fn echo_is_right(text: OCamlString, times: OCamlInt) -> bool = "walk.echo";
        fn finalise(address: OCamlInt, how: OCamlInt) = "walk.finalise";
        fn collect_in_ocaml(how: OCamlInt, n: OCamlInt) = "walk.collect";
    }
}

fn six(a: &mut Actor, lock: &mut DomainLock) {
    let n: [isize; 6] = std::array::from_fn(|_| a.random.below(1000) as isize);
    a.calls += 8;
    let sum: isize = sum_of_six(lock, n[0], n[1], n[2], n[3], n[4], n[5]).expect("no exception");
    assert_eq!(sum, n.iter().fold(0, |sum, n| sum * 3 + n), "an argument was lost");
}

/// Makes a list of the values of roots, and then roots of the list's elements.
fn list_of_roots(a: &mut Actor, lock: &mut DomainLock) {
    let (texts, others) = a
        .take_some(20)
        .into_iter()
        .partition::<Vec<_>, _>(|entry| matches!(entry.root, Root::Text(_)));
    a.entries.extend(others);
    let (roots, ids): (Vec<_>, Vec<_>) = texts
        .into_iter()
        .filter_map(|entry| match entry.root {
            Root::Text(root) => Some((root, entry.id)),
            _ => None,
        })
        .unzip();
    a.calls += 4 * roots.len() as u64 + 2;
    let list: Boxroot<OCamlList<OCamlString>> = roots.to_ocaml(lock).expect("enough memory");
    drop(roots);
    let roots: Vec<Boxroot<OCamlString>> = list.to_rust(lock).expect("a list");
    assert_eq!(roots.len(), ids.len(), "elements of a list were lost");
    a.entries
        .extend(roots.into_iter().zip(ids).map(|(root, id)| Entry { root: Root::Text(root), id }));
}

fn exception(a: &mut Actor, lock: &mut DomainLock) {
    a.calls += 3;
    let exception = Raised::raise(a.random.draw(), lock);
    if a.random.one_in(2) {
        let copy = exception.clone();
        lock.release(|| thread::spawn(move || drop(copy)).join()).expect("no panic");
    }
}

fn echo(a: &mut Actor, lock: &mut DomainLock) {
    let (text, times) = (a.random.text(100), a.random.below(4));
    a.calls += 7;
    let is_right: bool = echo_is_right(lock, text, times).expect("no exception");
    assert!(is_right, "what Rust gave to OCaml was lost");
}

// ---- others delete ----

fn to_market(a: &mut Actor, _: &mut DomainLock) {
    threads::send(a.take_some(64));
}

fn from_market(a: &mut Actor, lock: &mut DomainLock) {
    let entries = threads::receive(a.random.below(64));
    for entry in &entries {
        entry.check(lock);
        a.calls += 1;
    }
    a.entries.extend(entries);
}

/// Drops roots of other actors and domains, also of those that have ended, and of this actor.
fn drop_from_market(a: &mut Actor, lock: &mut DomainLock) {
    for entry in threads::receive(a.random.below(128)) {
        a.calls += 1;
        entry.root.delete(lock, how(a));
    }
}

fn roots_of(entries: Vec<Entry>) -> Vec<Root> {
    entries.into_iter().map(|entry| entry.root).collect()
}

fn drop_elsewhere(a: &mut Actor, _: &mut DomainLock) {
    let roots = roots_of(a.take_some(16));
    a.calls += roots.len() as u64;
    threads::drop_elsewhere(&mut a.random, roots);
}

fn drop_released(a: &mut Actor, lock: &mut DomainLock) {
    let entries = a.take_some(40);
    a.calls += entries.len() as u64;
    lock.release(|| drop(entries));
}

fn drop_by_finaliser(a: &mut Actor, lock: &mut DomainLock) {
    if let Some(entry) = a.take() {
        let address = Box::into_raw(Box::new(entry.root)) as usize;
        a.calls += 4;
        finalise(lock, address, a.random.below(256)).expect("no exception");
    }
}

/// A panic drops the roots in the frames that it leaves, under the lock or without it.
fn panic(a: &mut Actor, lock: &mut DomainLock) {
    let roots = roots_of(a.take_some(10));
    let released = a.random.one_in(2);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _dropped = roots;
        let fail = || resume_unwind(Box::new("planned"));
        if released {
            lock.release(fail)
        } else {
            fail()
        }
    }));
    assert!(result.is_err() && DomainLock::is_held());
}

/// Without the lock a thread cannot create roots, and under the lock it cannot attach.
fn refused(_: &mut Actor, lock: &mut DomainLock) {
    use ocaml_boxroot::Error;
    assert_eq!(DomainLock::attach(|_| ()), Err(Error::AlreadyHeld));
    lock.release(|| {
        // SAFETY: 1 is an immediate.
        assert!(unsafe { sys::boxroot_create(1) }.is_none(), "create worked without the lock");
        assert_eq!(sys::lock_state(), sys::LockState::NotHeld);
    });
}

// ---- steps elsewhere ----

/// How steps within a step end.
enum End {
    Return,
    Text,
    Exception,
    Panic,
}

fn end_of(id: u64) -> End {
    match id & 7 {
        0 => End::Text,
        1 => End::Exception,
        2 => End::Panic,
        _ => End::Return,
    }
}

/// Called by OCaml: makes steps with a token of its own, and has roots in frames that errors leave.
pub fn steps_for_ocaml(a: &mut Actor, lock: &mut DomainLock) -> Result<(), Box<dyn Error>> {
    let entry = Entry::new(a.random.draw() | 1, lock);
    let n = 1 + a.random.below(30);
    a.walk(lock, n);
    entry.check(lock);
    match end_of(a.nested_id) {
        End::Return => Ok(()),
        End::Text => Err("planned".into()),
        End::Exception => Err(Raised::raise(a.nested_id, lock).into()),
        End::Panic => resume_unwind(Box::new("planned".to_string())),
    }
}

fn call_steps(a: &mut Actor, lock: &mut DomainLock, how: usize) {
    let steps = function::<(OCamlInt, OCamlInt), OCamlInt>(lock, "walk.steps");
    let id = a.random.draw();
    let address = Boxroot::new(lock, Value::int(std::ptr::from_mut(a) as isize));
    let how_root = Boxroot::new(lock, Value::int(how as isize));
    a.calls += 5;
    let outer = std::mem::replace(&mut a.nested_id, id);
    let result = steps.call(lock, &address, &how_root).map(|(n, _)| n.to_int());
    a.nested_id = outer;
    let expected = match end_of(id) {
        _ if how == ASSUMED => None,
        End::Return => None,
        End::Text | End::Panic => Some("OCaml exception: Failure(\"planned\")".to_string()),
        End::Exception => Some(Raised::message(id)),
    };
    assert_eq!(result.err().map(|e| e.to_string()), expected, "calls there and back");
}

/// Ways in which walk.ml makes steps, by number. This one uses `walk_assumed`.
const ASSUMED: usize = 2;
const IN_A_THREAD: usize = 3;
const IN_A_DOMAIN: usize = 4;

fn nested(a: &mut Actor, lock: &mut DomainLock) {
    if a.depth < 4 {
        let how = a.random.below(3);
        call_steps(a, lock, how);
    }
}

/// Steps under a new token, after the thread has released the lock and taken it again.
fn released(a: &mut Actor, lock: &mut DomainLock) {
    if a.depth < 4 {
        let n = a.random.below(30);
        lock.release(|| with_lock(|lock| a.walk(lock, n)));
    }
}

/// A new Rust thread, OCaml thread, or domain makes steps for the actor, and ends.
fn life(a: &mut Actor, lock: &mut DomainLock) {
    if a.every == 0 || a.calls < a.next_life || a.depth > 1 {
        return;
    }
    a.next_life += a.every;
    match a.random.below(3) {
        0 => lock.release(|| rust_thread(a)),
        1 => call_steps(a, lock, IN_A_THREAD),
        _ => call_steps(a, lock, IN_A_DOMAIN),
    }
}

fn rust_thread(a: &mut Actor) {
    let body = || {
        let n = a.random.below(300);
        for _ in 0..1 + a.random.below(3) {
            with_lock(|lock| a.walk(lock, n));
        }
        threads::drop_at_end(roots_of(a.take_some(20)));
    };
    thread::scope(|scope| scope.spawn(body).join()).unwrap_or_else(|panic| resume_unwind(panic));
}

// ---- looking ----

fn statistics(a: &mut Actor, lock: &mut DomainLock) {
    a.calls += 2;
    let all = stats();
    assert!(all.pools * all.slots_per_pool >= all.live_roots, "{all}");
    if a.random.one_in(2) {
        trim(lock);
    }
    if a.random.one_in(2) {
        validate();
    }
}

pub fn validate() {
    let broken = sys::boxroot_validate();
    if !broken.is_null() {
        // SAFETY: the message is a static C string.
        panic!("not true: {}", unsafe { std::ffi::CStr::from_ptr(broken) }.to_string_lossy());
    }
}

fn check_all(a: &mut Actor, lock: &mut DomainLock) {
    if a.random.one_in(20) {
        a.entries.iter().for_each(|entry| entry.check(lock));
        a.check_shelf(lock);
    }
}

/// With `LOSE=1`, puts in the fault that the walk must notice: a root gets another value than its entry says, as if its
/// value had been collected, and the memory used again.
fn lose(a: &mut Actor, lock: &mut DomainLock) {
    if let (true, Some(Entry { root, id })) = (Settings::get().lose, a.take()) {
        let other = Root::make(!id & !0xff00 | id & 0xff00, lock);
        a.entries.push(Entry { root: root.set(&other, lock, How::Plain), id });
    }
}

// ---- the collector ----

/// Runs one of the collections of walk.ml, which have numbers.
pub fn collect_now(lock: &mut DomainLock, how: usize, n: usize) {
    collect_in_ocaml(lock, how, n).expect("no exception");
}

pub const FULL_MAJOR: usize = 3;

fn churn(a: &mut Actor, lock: &mut DomainLock) {
    let n = a.random.below(1000);
    collect_now(lock, 7 + a.random.below(3), n);
}

/// Complete collections take long, and stop all actors. So they only run after many other operations.
fn collect(a: &mut Actor, lock: &mut DomainLock) {
    let how = [0, 0, 1, 1, 1, 1, 2, 3, 4, 5, 6][a.random.below(11)];
    let n = if a.random.one_in(4) { 0 } else { a.random.below(4096) };
    if (2..5).contains(&how) {
        if a.calls < a.last_collection + 1000 + (a.entries.len() << how) as u64 {
            return;
        }
        a.last_collection = a.calls;
    }
    collect_now(lock, how, n);
}
