//! Create, get, clone, modify and drop, across collections of every kind.

use crate::{call, check_numbered, minor, numbered, stress, string};
use ocaml::{FromValue, Int, List, Pointer, Runtime, ToValue, Value};

/// Enough for several pools of roots.
const MANY: usize = 20_000;

pub fn many(gc: &Runtime) {
    let mut roots = numbered(gc, 0, MANY);
    minor(gc);
    check_numbered(&roots, 0);
    stress(gc);
    check_numbered(&roots, 0);

    // Holes between old roots, filled with young ones.
    let mut number = 0..;
    roots.retain(|_| number.next().is_some_and(|i| i % 3 == 0));
    let young = numbered(gc, MANY, MANY);
    let clones = roots.clone();
    stress(gc);
    let check = |roots: &[Value]| {
        for (i, root) in roots.iter().enumerate() {
            assert_eq!(string(root), (3 * i).to_string());
        }
    };
    check(&roots);
    check_numbered(&young, MANY);
    drop(roots);
    stress(gc);
    check(&clones);
}

/// Roots get new values, both while they are young and when they are old.
pub fn modify(gc: &Runtime) {
    let mut roots = numbered(gc, 0, MANY);
    for round in 1..4 {
        for (i, root) in roots.iter_mut().enumerate() {
            // SAFETY: the lock is held, and the root is only used here.
            unsafe { root.modify(gc, (MANY * round + i).to_string()) };
        }
        check_numbered(&roots, MANY * round);
        if round == 2 {
            stress(gc);
        } else {
            minor(gc);
        }
        check_numbered(&roots, MANY * round);
    }
    // An immediate value in an old root, and a block again.
    let mut root = Some("block".to_string()).to_value(gc);
    stress(gc);
    for value in [None, Some("again".to_string())] {
        // SAFETY: the lock is held, and the root is only used here.
        unsafe { root.modify(gc, value.clone()) };
        stress(gc);
        assert_eq!(Option::<String>::from_value(root.clone()), value);
    }
}

/// A dropped root no longer keeps its value alive, but another root still does.
pub fn dropped_are_collected(gc: &Runtime) {
    let collected = || call!(collected(gc)).expect("no exception");
    let before = collected();
    let counted = |value| call!(counted(gc, value)).expect("no exception");
    let mut roots: Vec<Value> = numbered(gc, 0, 1000).into_iter().map(counted).collect();
    stress(gc);
    assert_eq!(collected(), before);
    roots.truncate(400);
    stress(gc);
    assert_eq!(collected(), before + 600);
    check_numbered(&roots, 0);
    // `modify` gives up the old value.
    for root in &mut roots {
        // SAFETY: the lock is held, and the root is only used here.
        unsafe { root.modify(gc, "other") };
    }
    stress(gc);
    assert_eq!(collected(), before + 1000);
}

/// Values with many parts, which the conversions root one by one.
pub fn structured(gc: &Runtime) {
    let mut list: List<(Int, Option<String>)> = List::empty();
    let row = |i: Int| (i, (i % 2 == 0).then(|| i.to_string()));
    for i in (0..5000).rev() {
        // SAFETY: the lock is held.
        list = unsafe { list.add(gc, &row(i)) };
    }
    stress(gc);
    let tail = list.tl();
    let rows = list.into_vec();
    assert!(rows.into_iter().eq((0..5000).map(row)));
    stress(gc);
    assert!(tail.into_vec().into_iter().eq((1..5000).map(row)));
}

/// A Rust value that OCaml owns, and that owns a root.
struct Holder(Value);

ocaml::custom!(Holder);

#[ocaml::func]
pub fn rust_box(string: Value) -> Pointer<Holder> {
    Holder(string).into()
}

#[ocaml::func]
pub fn rust_unbox(holder: Pointer<Holder>) -> Value {
    holder.as_ref().0.clone()
}

/// The collector drops the roots.
pub fn finalisers(gc: &Runtime) {
    assert!(call!(boxes(gc, 1000)).expect("no exception"));
}
