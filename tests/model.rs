//! Random sequences of operations, compared with a model: a map from each live root to the number
//! that its string spells. A failure is shrunk to a short sequence. One test, because a process
//! can have one runtime.

#[path = "support/mod.rs"]
mod support;

use ocaml_boxroot_sys::{self as sys, BoxRoot};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::{raw::*, roots::*};

/// One operation. Indices are taken modulo the number of live roots.
#[derive(Clone, Debug)]
enum Op {
    Create(usize),
    CreateMany(usize, usize),
    Get(usize),
    Modify(usize, usize),
    /// Makes a root own the value of another root.
    Share(usize, usize),
    Delete(usize),
    /// Deletes every n-th root.
    DeleteMany(usize),
    /// Deletes on a thread that does not hold the lock.
    DeleteRemotely(usize, usize),
    Minor,
    Major,
    Slice,
    Compact,
    Alloc(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0..1_000_000_usize;
    prop_oneof![
        8 => n.clone().prop_map(Op::Create),
        4 => (n.clone(), 1..5000_usize).prop_map(|(n, count)| Op::CreateMany(n, count)),
        4 => n.clone().prop_map(Op::Get),
        6 => (n.clone(), n.clone()).prop_map(|(i, n)| Op::Modify(i, n)),
        4 => (n.clone(), n.clone()).prop_map(|(i, j)| Op::Share(i, j)),
        6 => n.clone().prop_map(Op::Delete),
        2 => (2..5_usize).prop_map(Op::DeleteMany),
        2 => (n.clone(), 1..2000_usize).prop_map(|(i, count)| Op::DeleteRemotely(i, count)),
        3 => Just(Op::Minor),
        1 => Just(Op::Major),
        3 => Just(Op::Slice),
        1 => Just(Op::Compact),
        4 => (0..5000_usize).prop_map(Op::Alloc),
    ]
}

fn run(ops: &[Op], model: &mut Vec<(BoxRoot, usize)>) {
    for op in ops {
        let len = model.len();
        match *op {
            Op::Create(n) => model.push((root(n), n)),
            Op::CreateMany(n, count) => model.extend((n..n + count).map(|n| (root(n), n))),
            Op::Minor => minor(),
            Op::Major => full_major(),
            Op::Slice => {
                ocaml("start_major_slice", &[int(500)]);
            }
            Op::Compact => {
                ocaml("compact", &[UNIT]);
            }
            Op::Alloc(n) => {
                ocaml("churn", &[int(n)]);
            }
            _ if len == 0 => {}
            Op::Get(i) => check(model[i % len].0, model[i % len].1),
            Op::Modify(i, n) => {
                assert!(modify(&mut model[i % len].0, ocaml("string", &[int(n)])));
                model[i % len].1 = n;
            }
            Op::Share(i, j) => {
                let (from, n) = model[j % len];
                assert!(modify(&mut model[i % len].0, unsafe { sys::boxroot_get(from) }));
                model[i % len].1 = n;
            }
            Op::Delete(i) => delete(model.swap_remove(i % len).0),
            Op::DeleteMany(nth) => {
                let mut i = 0;
                model.retain(|&(root, _)| {
                    i += 1;
                    if i % nth == 0 {
                        delete(root);
                    }
                    i % nth != 0
                });
            }
            Op::DeleteRemotely(i, count) => {
                let first = i % len;
                let gone: Vec<BoxRoot> =
                    model.drain(first..len.min(first + count)).map(|(root, _)| root).collect();
                let gone = Roots(gone);
                on_foreign_thread(move || delete_all(&{ gone }.0));
            }
        }
        validate();
    }
    for &(root, n) in model.iter() {
        check(root, n);
    }
    assert_eq!(live(), model.len());
}

#[test]
fn roots_agree_with_the_model() {
    start();
    // Many minor collections in each sequence.
    ocaml("minor_heap_words", &[int(4096)]);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    // No file of past failures is kept: a failure is printed, and should become a test of its own.
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&proptest::collection::vec(op(), 1..60), |ops| {
        let mut model = Vec::new();
        run(&ops, &mut model);
        model.into_iter().for_each(|(root, _)| delete(root));
        assert_eq!(live(), 0);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
