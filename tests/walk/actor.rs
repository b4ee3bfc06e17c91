//! Actors. Each actor has its own random numbers, its roots, and a shelf: a block of the OCaml heap with values that have
//! no root of their own. An actor makes random steps (a walk) under a domain's lock.

use crate::operations::OPERATIONS;
use crate::random::Random;
use crate::roots::{kind, Entry, Shelf};
use crate::{shapes, threads, Settings};
use ocaml_boxroot::{Boxroot, DomainLock, OCamlInt, Value};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

pub const SHELF: usize = 1000;

/// The largest number of steps of a season, in which the same operations are frequent.
const SEASON: usize = 6000;

thread_local! {
    /// The number of this thread's actor, and its operation, for messages.
    pub static NOW: Cell<(u32, &'static str)> = const { Cell::new((0, "start")) };
}

/// How often the actors that have ended called the interface.
pub static CALLS: AtomicU64 = AtomicU64::new(0);

pub struct Actor {
    pub number: u32,
    pub random: Random,
    /// How many calls of `walk` are running, one inside another, through OCaml.
    pub depth: usize,
    /// Determines how the steps inside of a step end, and what they return.
    pub nested_id: u64,
    pub entries: Vec<Entry>,
    pub shelf: Boxroot<Shelf>,
    /// The ids of the values on the shelf; 0 if the place is empty.
    pub shelf_ids: [u64; SHELF],
    /// About how many roots the actor should have in this season.
    pub target: usize,
    pub calls: u64,
    /// The number of calls between two lives of threads or domains; 0 if there are to be none.
    pub every: u64,
    pub next_life: u64,
    pub last_collection: u64,
    budget: u64,
    most_roots: usize,
    season_ends: u64,
    steps: u64,
    weights: Vec<usize>,
}

impl Actor {
    pub fn new(number: u32, settings: &Settings, lock: &mut DomainLock) -> Actor {
        let share = |n: u64| n.div_ceil(settings.actors());
        let every = settings.operations.checked_div(settings.lives).unwrap_or(0);
        Actor {
            number,
            random: Random::new(settings.seed.wrapping_mul(1000).wrapping_add(u64::from(number))),
            depth: 0,
            nested_id: 0,
            entries: Vec::new(),
            shelf: new_shelf(lock),
            shelf_ids: [0; SHELF],
            target: 0,
            calls: 0,
            every,
            next_life: every,
            last_collection: 0,
            budget: share(settings.operations),
            most_roots: share(settings.roots) as usize,
            season_ends: 0,
            steps: 0,
            weights: Vec::new(),
        }
    }

    pub fn is_done(&self) -> bool {
        self.calls >= self.budget
    }

    /// Makes up to `n` steps.
    pub fn walk(&mut self, lock: &mut DomainLock, n: usize) {
        let outer = NOW.get();
        self.depth += 1;
        for _ in 0..n {
            if self.is_done() {
                break;
            }
            if self.steps >= self.season_ends {
                self.new_season();
            }
            let operation = &OPERATIONS[self.choice()];
            NOW.set((self.number, operation.name));
            (operation.run)(self, lock);
            self.steps += 1;
        }
        self.depth -= 1;
        NOW.set(outer);
    }

    fn choice(&mut self) -> usize {
        let total = self.weights.iter().sum();
        let mut rest = self.random.below(total);
        self.weights
            .iter()
            .position(|&weight| {
                let here = rest < weight;
                rest = rest.saturating_sub(weight);
                here
            })
            .expect("the weights have this sum")
    }

    /// Chooses how frequent each operation is. Many are left out, so that in time each operation meets all others in
    /// many different mixtures.
    fn new_season(&mut self) {
        let random = &mut self.random;
        let parts = [400, 20, 5, 2, 1];
        self.target = match random.below(parts.len() + 1) {
            5 => random.below(50),
            part => self.most_roots / parts[part],
        };
        self.season_ends = self.steps + 1 + random.below(SEASON) as u64;
        let level = |weight| weight * [0, 1, 1, 4][random.below(4)];
        self.weights = OPERATIONS.iter().map(|operation| operation.weight).map(level).collect();
        self.weights[0] += 1;
        if Settings::get().lose {
            self.weights[OPERATIONS.len() - 1] += 1;
        }
    }

    // ---- its roots ----

    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.target + self.target / 4 + 16
    }

    pub fn pick(&mut self) -> Option<usize> {
        (!self.entries.is_empty()).then(|| self.random.below(self.entries.len()))
    }

    pub fn take(&mut self) -> Option<Entry> {
        let i = self.pick()?;
        Some(self.entries.swap_remove(i))
    }

    /// Takes up to `most` of the actor's roots.
    pub fn take_some(&mut self, most: usize) -> Vec<Entry> {
        (0..self.random.below(most + 1)).map_while(|_| self.take()).collect()
    }

    /// Two roots of the same kind: takes the first one, and gives the index of the second one.
    pub fn take_and_pick(&mut self) -> Option<(Entry, usize)> {
        let entry = self.take()?;
        let start = self.pick();
        let same = |other: &Entry| kind(other.id) == kind(entry.id);
        let found = start.and_then(|i| {
            let end = self.entries.len().min(i + 50);
            (i..end).find(|&j| same(&self.entries[j]))
        });
        if found.is_none() {
            self.entries.push(entry);
            return None;
        }
        Some((entry, found?))
    }

    // ---- its shelf ----

    pub fn check_shelf(&mut self, lock: &mut DomainLock) {
        for place in 0..SHELF {
            if self.shelf_ids[place] != 0 {
                self.on_shelf(lock, place, true).check(lock);
            }
        }
    }

    /// A root for the value at a place of the shelf that is not empty.
    pub fn on_shelf(&mut self, lock: &mut DomainLock, place: usize, keep: bool) -> Entry {
        self.calls += 1;
        let id = self.shelf_ids[place];
        let root = crate::roots::Root::take(id, lock, &self.shelf, place, keep);
        if !keep {
            self.shelf_ids[place] = 0;
        }
        Entry { root, id }
    }

    /// Makes the shelf a new, empty block of the major heap.
    pub fn replace_shelf(&mut self, lock: &mut DomainLock) {
        self.check_shelf(lock);
        self.shelf = new_shelf(lock);
        self.shelf_ids = [0; SHELF];
    }

    /// Ends the actor, which leaves its roots to other actors.
    pub fn end(mut self, lock: &mut DomainLock) {
        NOW.set((self.number, "end"));
        self.check_shelf(lock);
        threads::send(self.entries);
        CALLS.fetch_add(self.calls, Ordering::Relaxed);
    }
}

fn new_shelf(lock: &mut DomainLock) -> Boxroot<Shelf> {
    let make = shapes::function::<(OCamlInt,), Shelf>(lock, "walk.new_shelf");
    let size = Boxroot::new(lock, Value::int(SHELF as isize));
    let (shelf, lock) = make.call(lock, &size).expect("no exception");
    Boxroot::new(lock, shelf)
}
