//! Roots that actors give to other actors, or to threads that OCaml does not know.

use crate::random::Random;
use crate::roots::{Entry, Root};
use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};

// ---- the market ----

static MARKET: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// No thread that holds this mutex waits for OCaml's lock.
pub fn send(entries: impl IntoIterator<Item = Entry>) {
    MARKET.lock().expect("no panic").extend(entries);
}

pub fn receive(most: usize) -> Vec<Entry> {
    let mut market = MARKET.lock().expect("no panic");
    let rest = market.len().saturating_sub(most);
    market.split_off(rest)
}

// ---- threads that never hold the lock ----

static LOCKLESS: Mutex<Vec<Sender<Vec<Root>>>> = Mutex::new(Vec::new());

/// Has another thread drop the roots, which keeps some of them for a while. If there is no such thread, drops them here.
pub fn drop_elsewhere(random: &mut Random, roots: Vec<Root>) {
    let threads = LOCKLESS.lock().expect("no panic");
    if !threads.is_empty() {
        let _ = threads[random.below(threads.len())].send(roots);
    }
}

thread_local! {
    /// Dropped when the thread ends.
    static LEFT: RefCell<Vec<Root>> = const { RefCell::new(Vec::new()) };
}

/// Drops the roots when this thread ends.
pub fn drop_at_end(roots: Vec<Root>) {
    LEFT.with(|left| left.borrow_mut().extend(roots));
}

fn lockless_life(random: &mut Random, incoming: &Receiver<Vec<Root>>) {
    let mut kept = Vec::new();
    for mut roots in incoming {
        kept.append(&mut roots);
        while kept.len() > 200 || (!kept.is_empty() && random.one_in(2)) {
            kept.swap_remove(random.below(kept.len()));
        }
    }
    drop_at_end(kept);
}

pub fn start_lockless(seed: u64, count: usize) -> Vec<JoinHandle<()>> {
    let start = |i| {
        let (sender, incoming) = mpsc::channel();
        LOCKLESS.lock().expect("no panic").push(sender);
        let mut random = Random::new(seed ^ (i as u64 + 1) << 32);
        thread::spawn(move || lockless_life(&mut random, &incoming))
    };
    (0..count).map(start).collect()
}

/// Ends these threads when they have dropped all their roots.
pub fn end_lockless() {
    LOCKLESS.lock().expect("no panic").clear();
}
