//! The scenarios. Record 0 owns all pools at the start. The main thread acts for all owners, one
//! after the other.

use crate::protocol::{Heap, Orderings};
use crate::sync::{thread, Arc};

pub type Scenario = fn(Orderings);

pub fn by_name(name: &str) -> Option<Scenario> {
    Some(match name {
        "drain" => drain,
        "batch" => batch,
        "adopt" => adopt,
        "adopt_two" => adopt_two,
        "come_back" => come_back,
        _ => return None,
    })
}

/// Runs the deleters, each with its batch, in parallel with the owners. Then the owner of record
/// `last` drains.
fn run(heap: Heap, deleters: &'static [&'static [(usize, usize)]], last: usize, owners: fn(&Heap)) {
    let heap = Arc::new(heap);
    let threads: Vec<_> = deleters
        .iter()
        .map(|sends| {
            let heap = heap.clone();
            thread::spawn(move || sends.iter().for_each(|&(pool, bits)| heap.send(pool, bits)))
        })
        .collect();
    owners(&heap);
    for thread in threads {
        thread.join().unwrap();
    }
    heap.drain(last);
    heap.check(last);
}

/// Two deleters of one pool, which its owner drains and unmaps as soon as it is empty.
fn drain(orderings: Orderings) {
    run(Heap::new(orderings, &[3]), &[&[(1, 1)], &[(1, 2)]], 0, |heap| {
        heap.drain(0);
        heap.trim(1);
        heap.drain(0);
        heap.trim(1);
    });
}

/// The same with several slots at a time, and two pools.
fn batch(orderings: Orderings) {
    run(Heap::new(orderings, &[7, 1]), &[&[(1, 3), (2, 1)], &[(1, 4)]], 0, |heap| {
        heap.drain(0);
        heap.trim(1);
        heap.trim(2);
    });
}

/// Record 1 adopts the pool while two deleters are at work.
fn adopt(orderings: Orderings) {
    run(Heap::new(orderings, &[3]), &[&[(1, 1)], &[(1, 2)]], 1, |heap| {
        heap.merge(1, 0);
        heap.drain(1);
        heap.trim(1);
    });
}

/// The same with a pool for each deleter, so that one may rescue the other's.
fn adopt_two(orderings: Orderings) {
    run(Heap::new(orderings, &[1, 1]), &[&[(1, 1)], &[(2, 1)]], 1, |heap| {
        heap.merge(1, 0);
        heap.drain(1);
    });
}

/// Record 1 adopts the pool; then a new domain takes record 0 and adopts the pool back.
fn come_back(orderings: Orderings) {
    run(Heap::new(orderings, &[3]), &[&[(1, 1)], &[(1, 2)]], 0, |heap| {
        heap.merge(1, 0);
        heap.drain(0);
        heap.merge(0, 1);
        heap.trim(1);
    });
}
