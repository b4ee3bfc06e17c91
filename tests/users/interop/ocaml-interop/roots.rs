//! Create, get, keep and drop, across collections of every kind.

use crate::{check_numbered, collected, minor, numbered, ocaml_side, stress};
use ocaml_interop::{BoxRoot, OCaml, OCamlInt, OCamlList, OCamlRuntime, ToOCaml};

/// Enough for several pools of roots.
const MANY: usize = 20_000;

pub fn many(cr: &mut OCamlRuntime) {
    let mut roots = numbered(cr, 0, MANY);
    minor(cr);
    check_numbered(cr, &roots, 0);
    stress(cr);
    check_numbered(cr, &roots, 0);

    // Holes between old roots, filled with young ones.
    let mut number = 0..;
    roots.retain(|_| number.next().is_some_and(|i| i % 3 == 0));
    let young = numbered(cr, MANY, MANY);
    let copies: Vec<_> = roots.iter().map(|root| root.get(cr).root()).collect();
    stress(cr);
    for (i, root) in roots.iter().enumerate() {
        assert_eq!(root.to_rust::<String>(cr), (3 * i).to_string());
    }
    check_numbered(cr, &young, MANY);
    drop(roots);
    stress(cr);
    for (i, root) in copies.iter().enumerate() {
        assert_eq!(root.to_rust::<String>(cr), (3 * i).to_string());
    }
}

/// Roots get new values, both while they are young and when they are old.
pub fn keep(cr: &mut OCamlRuntime) {
    let mut roots = numbered(cr, 0, MANY);
    for round in 1..4 {
        for (i, root) in roots.iter_mut().enumerate() {
            let value = (MANY * round + i).to_string().to_ocaml(cr);
            let reference = root.keep(value);
            assert_eq!(reference.to_rust::<String>(cr), (MANY * round + i).to_string());
        }
        check_numbered(cr, &roots, MANY * round);
        if round == 2 {
            stress(cr);
        } else {
            minor(cr);
        }
        check_numbered(cr, &roots, MANY * round);
    }
    // An immediate value in an old root, and a block again.
    let mut root: BoxRoot<Option<String>> = Some("block".to_string()).to_boxroot(cr);
    stress(cr);
    root.keep(OCaml::none());
    stress(cr);
    assert_eq!(root.to_rust::<Option<String>>(cr), None);
    root.keep(Some("again".to_string()).to_ocaml(cr));
    stress(cr);
    assert_eq!(root.to_rust::<Option<String>>(cr), Some("again".to_string()));
}

/// A dropped root no longer keeps its value alive, but another root still does.
pub fn dropped_are_collected(cr: &mut OCamlRuntime) {
    let before = collected(cr);
    let mut roots: Vec<_> =
        numbered(cr, 0, 1000).into_iter().map(|string| ocaml_side::counted(cr, &string)).collect();
    stress(cr);
    assert_eq!(collected(cr), before);
    roots.truncate(400);
    stress(cr);
    assert_eq!(collected(cr), before + 600);
    check_numbered(cr, &roots, 0);
    // `keep` gives up the old value.
    let other = "other".to_string();
    roots.iter_mut().for_each(|root| {
        root.keep(other.to_ocaml(cr));
    });
    stress(cr);
    assert_eq!(collected(cr), before + 1000);
}

/// Values with many parts, which the conversions root one by one.
pub fn structured(cr: &mut OCamlRuntime) {
    let rows: Vec<(i64, Option<String>)> =
        (0..5000).map(|i| (i, (i % 2 == 0).then(|| i.to_string()))).collect();
    let list: BoxRoot<OCamlList<(OCamlInt, Option<String>)>> = rows.to_boxroot(cr);
    stress(cr);
    assert_eq!(list.to_rust::<Vec<(i64, Option<String>)>>(cr), rows);
    let tail = list.get(cr).tl().expect("a tail").root();
    drop(list);
    stress(cr);
    assert_eq!(tail.to_rust::<Vec<(i64, Option<String>)>>(cr), rows[1..]);
}
