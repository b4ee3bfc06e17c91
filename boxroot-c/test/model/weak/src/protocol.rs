//! Pools, records and the steps of the protocol. Short comments name the steps of the argument at
//! the top of `src/remote.c`.

use crate::sync::{AtomicUsize, Ordering, UnsafeCell};
use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// The orderings that mutants weaken. The others, relaxed in C already, are in the code below.
#[derive(Clone, Copy)]
pub struct Orderings {
    announce: Ordering,
    post: Ordering,
    harvest: Ordering,
    subtract: Ordering,
    push: Ordering,
    take: Ordering,
    read_owner: Ordering,
    set_owner: Ordering,
    read_merges: Ordering,
    count_merge: Ordering,
}

impl Orderings {
    pub fn of_the_c_code() -> Self {
        Orderings {
            announce: AcqRel,
            post: Release,
            harvest: Acquire,
            subtract: AcqRel,
            push: SeqCst,
            take: SeqCst,
            read_owner: SeqCst,
            set_owner: SeqCst,
            read_merges: SeqCst,
            count_merge: SeqCst,
        }
    }

    /// The orderings of the C code, weakened by a mutant. Weakening only `read_owner` and
    /// `set_owner` breaks nothing: a thread that reads a new `merges`, or an emptied drain list,
    /// also sees the writes before it.
    pub fn weakened(mutant: &str) -> Option<Self> {
        let mut orderings = Self::of_the_c_code();
        match mutant {
            "announce_relaxed" => orderings.announce = Relaxed,
            "announce_release" => orderings.announce = Release,
            "post_relaxed" => orderings.post = Relaxed,
            "harvest_relaxed" => orderings.harvest = Relaxed,
            "subtract_relaxed" => orderings.subtract = Relaxed,
            "push_relaxed" => orderings.push = Relaxed,
            "take_relaxed" => orderings.take = Relaxed,
            "read_merges_relaxed" => orderings.read_merges = Relaxed,
            "count_merge_relaxed" => orderings.count_merge = Relaxed,
            "owners_relaxed" => {
                orderings.read_owner = Relaxed;
                orderings.set_owner = Relaxed;
            }
            "acquire_and_release" => {
                for ordering in
                    [&mut orderings.push, &mut orderings.take, &mut orderings.count_merge]
                {
                    *ordering = AcqRel;
                }
                for ordering in [&mut orderings.read_owner, &mut orderings.read_merges] {
                    *ordering = Acquire;
                }
                orderings.set_owner = Release;
            }
            _ => return None,
        }
        Some(orderings)
    }
}

/// No pool. Pools are numbered from 1.
pub const NULL: usize = 0;

struct Pool {
    /// A plain variable that every access to the pool reads, and unmapping writes: a use that does
    /// not happen before the unmapping is a race.
    mapped: UnsafeCell<bool>,
    /// Slots that hold roots. Only the owner uses it.
    used: UnsafeCell<usize>,
    /// Only the thread that holds the pool's place in a drain list uses it; a plain variable, as in
    /// C.
    next: UnsafeCell<usize>,
    owner: AtomicUsize,
    announced: AtomicUsize,
    pending: AtomicUsize,
}

struct Record {
    drain: AtomicUsize,
    merges: AtomicUsize,
}

pub struct Heap {
    orderings: Orderings,
    pools: Vec<Pool>,
    records: Vec<Record>,
}

// SAFETY: the model proves that `mapped`, `used` and `next` are free of races.
unsafe impl Sync for Heap {}
// SAFETY: as above.
unsafe impl Send for Heap {}

impl Heap {
    /// Two records, and one pool for each element of `pools`, its set of used slots. Record 0 owns
    /// all pools.
    pub fn new(orderings: Orderings, pools: &[usize]) -> Self {
        let pool = |&used: &usize| Pool {
            mapped: UnsafeCell::new(true),
            used: UnsafeCell::new(used),
            next: UnsafeCell::new(NULL),
            owner: AtomicUsize::new(0),
            announced: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
        };
        let record = || Record { drain: AtomicUsize::new(NULL), merges: AtomicUsize::new(0) };
        Heap {
            orderings,
            pools: pools.iter().map(pool).collect(),
            records: vec![record(), record()],
        }
    }

    /// The pool, for an access to it. Panics if it is unmapped.
    fn pool(&self, pool: usize) -> &Pool {
        let pool = &self.pools[pool - 1];
        // SAFETY: only `trim` writes it; the model proves that this does not happen now.
        pool.mapped.with(|mapped| assert!(unsafe { *mapped }, "the pool is unmapped"));
        pool
    }

    fn next(&self, pool: usize) -> usize {
        // SAFETY: the caller holds the pool's place; the model proves that no other thread does.
        self.pool(pool).next.with(|next| unsafe { *next })
    }

    fn set_next(&self, pool: usize, to: usize) {
        // SAFETY: as in `next`.
        self.pool(pool).next.with_mut(|next| unsafe { *next = to })
    }

    fn used(&self, pool: usize) -> usize {
        // SAFETY: only the owner calls this.
        self.pool(pool).used.with(|used| unsafe { *used })
    }

    // ---- drain lists ----

    fn push(&self, record: usize, pool: usize) {
        let drain = &self.records[record].drain;
        // C begins with a relaxed load, which loom would treat as the important access. Here, a
        // first attempt that fails loads the value instead.
        let mut head = NULL;
        loop {
            self.set_next(pool, head);
            match drain.compare_exchange_weak(head, pool, self.orderings.push, Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn take(&self, record: usize) -> usize {
        self.records[record].drain.swap(NULL, self.orderings.take)
    }

    fn owner(&self, pool: usize) -> usize {
        self.pool(pool).owner.load(self.orderings.read_owner)
    }

    fn merges(&self, record: usize) -> usize {
        self.records[record].merges.load(self.orderings.read_merges)
    }

    fn enqueue(&self, mut list: usize) {
        while list != NULL {
            let pool = list;
            list = self.next(pool);
            let (owner, merges) = loop {
                let owner = self.owner(pool); // read-owner
                let merges = self.merges(owner); // read-merges
                if self.owner(pool) == owner {
                    break (owner, merges); // same-owner
                }
            };
            self.push(owner, pool); // link
            if self.merges(owner) == merges {
                continue; // rescue
            }
            let rescued = self.take(owner);
            if rescued == NULL {
                continue;
            }
            let mut last = rescued;
            while self.next(last) != NULL {
                last = self.next(last);
            }
            self.set_next(last, list);
            list = rescued;
        }
    }

    // ---- deleters ----

    /// Deletes these slots of the pool. Any thread.
    pub fn send(&self, pool: usize, bits: usize) {
        let count = bits.count_ones() as usize;
        if self.pool(pool).announced.fetch_add(count, self.orderings.announce) == 0 {
            self.set_next(pool, NULL); // announce
            self.enqueue(pool); // push
        }
        self.pool(pool).pending.fetch_or(bits, self.orderings.post); // post
    }

    // ---- owners ----

    /// Frees the slots posted so far. Returns true if the pool must be pushed again.
    fn harvest(&self, pool: usize) -> bool {
        let pending = &self.pool(pool).pending;
        let bits =
            if pending.load(Relaxed) == 0 { 0 } else { pending.swap(0, self.orderings.harvest) };
        let used = self.used(pool);
        assert_eq!(used & bits, bits, "a slot is freed once");
        // SAFETY: only the owner calls this.
        self.pool(pool).used.with_mut(|slots| unsafe { *slots = used & !bits });
        let count = bits.count_ones() as usize;
        let before = self.pool(pool).announced.fetch_sub(count, self.orderings.subtract);
        assert!(before >= count, "deletes are announced before they are posted");
        before != count
    }

    pub fn drain(&self, record: usize) {
        if self.records[record].drain.load(Relaxed) == NULL {
            return;
        }
        let mut list = self.take(record);
        while list != NULL {
            let pool = list;
            list = self.next(pool);
            if self.owner(pool) == record && !self.harvest(pool) {
                continue;
            }
            self.set_next(pool, NULL);
            self.enqueue(pool);
        }
    }

    /// The owner of record `to` adopts all pools of record `from`, whose domain has ended.
    pub fn merge(&self, to: usize, from: usize) {
        for pool in &self.pools {
            // SAFETY: only owners unmap pools, and the caller owns all of them.
            if pool.mapped.with(|mapped| unsafe { *mapped }) {
                pool.owner.store(to, self.orderings.set_owner); // give
            }
        }
        self.records[from].merges.fetch_add(1, self.orderings.count_merge); // count-merge
        let list = self.take(from); // forward
        self.enqueue(list);
    }

    /// Returns the pool to the system if it is empty.
    pub fn trim(&self, pool: usize) {
        let pool = &self.pools[pool - 1];
        // SAFETY: only the owner calls this, and no other thread reads `used`.
        let unused = pool.mapped.with(|mapped| unsafe { *mapped })
            && pool.used.with(|used| unsafe { *used }) == 0;
        if unused {
            // SAFETY: the model proves that no thread uses the pool any more.
            pool.mapped.with_mut(|mapped| unsafe { *mapped = false });
        }
    }

    /// After all threads have ended, and the owner of `record` has drained, checks that no delete
    /// is forgotten.
    pub fn check(&self, record: usize) {
        for pool in &self.pools {
            // SAFETY: this thread is the only one.
            if pool.mapped.with(|mapped| unsafe { *mapped }) {
                assert_eq!(pool.announced.load(Relaxed), 0, "a delete was forgotten");
                assert_eq!(pool.used.with(|used| unsafe { *used }), 0, "a slot was not freed");
            }
        }
        assert_eq!(self.records[1 - record].drain.load(Relaxed), NULL, "a pool was left behind");
    }
}
