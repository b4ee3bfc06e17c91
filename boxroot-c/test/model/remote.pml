/* SPDX-License-Identifier: MIT */
/* Remote deletes, domains that end, adoption, records that come back, unmapping, and fork.

   Short comments name steps and claims of the argument at the top of src/remote.c. One transition
   is one access to shared memory: each `atomic` below has at most one, followed by work on the
   thread's own variables. Memory is sequentially consistent here; the weaker orderings are the
   subject of weak/.

   A configuration defines the slots that the three deleters delete, as masks (0: nothing):
     A1 B1   the slots that deleter 1 sends, in pool 1 and then in pool 2; likewise A2 … B3
     SPLIT   1: the deleters collect slot by slot, and may flush in between
     OWNER2  the record that owns pool 2 at the start (pool 1: record 0)
     ENDS    how many times domains end, in all
     LATE    1: the slots of deleter 3 are created late, in a pool that may have been unmapped meanwhile
     STOPS   1: a drain may leave pools that it has taken from the list to the next drain
     FORK    1: domain 0 forks at some point, and the model goes on in the child
   A mutant is one of the names that #ifdefs below test, such as NO_RESCUE. SEEN_… are claims that
   something interesting never happens. They must fail: otherwise the model proves nothing about
   it. */

#ifndef OWNER2
#define OWNER2 0
#endif
#ifndef ENDS
#define ENDS 2
#endif
#ifndef SPLIT
#define SPLIT 0
#endif
#ifndef LATE
#define LATE 0
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef FORK
#define FORK 0
#endif
#ifndef RECORDS
#define RECORDS 2
#endif

#define POOLS 2 /* numbered from 1; 0 is NULL */
#define NONE 7  /* no record */
#define KEPT 8  /* a slot in each pool that no deleter deletes; with FORK, the child does */

#define POPCOUNT(x) ((((x) >> 3) & 1) + (((x) >> 2) & 1) + (((x) >> 1) & 1) + ((x) & 1))

/* The slots that the deleters delete in a pool. */
#define BEGUN(pool) ((pool) == 1 -> (A1 | A2 | A3) : (B1 | B2 | B3))

/* Pools. */
bool mapped[POOLS + 1];
byte owner[POOLS + 1], announced[POOLS + 1], pending[POOLS + 1], next[POOLS + 1];
byte used[POOLS + 1];   /* the owner's: slots that hold a root */
bool listed[POOLS + 1]; /* for the proof only: the pool is on a drain list */

/* Records. */
byte drain[RECORDS], merges[RECORDS];
#ifdef SEEN_COME_BACK
byte moves; /* how often pools of a record moved */
#endif
byte orphans, spares; /* stacks, as sets: the order does not matter, they are taken whole */
byte in_use;          /* for the proof only: records of domains that are alive */

byte ends_left = ENDS;
byte deleters_left = 3;
bool late = LATE; /* the slots of deleter 3 are still to be created */
bool frozen;      /* this is the child of a fork: only domain 0 goes on */
bool domain1_lives = true, child_done;

/* Every access to a pool. */
#define TOUCH(pool) assert(mapped[pool])

#define BIT(record) (1 << (record))

/* ---- the drain lists ---- */

/* Takes the drain list of `record`; `last` is its last pool, if there is one. */
inline take_drain(record, list, last) {
  list = drain[record];
  drain[record] = 0;
  last = list;
  if
  :: last != 0 ->
     do
     :: TOUCH(last); listed[last] = false;
        if
        :: next[last] == 0 -> break
        :: else -> last = next[last]
        fi
     od
  :: else
  fi
}

/* Puts the pools of `list`, whose places the caller holds, on their owners' drain lists. The
   compare-and-exchange loop of a push is one step: no other thread reads `next` before it succeeds. */
inline enqueue(list) {
  do
  :: list == 0 -> break
  :: else ->
     do
     :: atomic { p = list; TOUCH(p); own = owner[p];            /* read-owner */
#ifdef SEEN_COME_BACK
          seen = moves
#endif
        }
        atomic { m = merges[own] }                              /* read-merges */
#ifdef NO_REREAD
        break
#else
        atomic {
          TOUCH(p);
          if                                                    /* same-owner */
          :: owner[p] == own ->
#ifdef SEEN_COME_BACK
             assert(moves < seen + 2);
#endif
             break
          :: else -> own = 0; m = 0
          fi
        }
#endif
     od;
     atomic {                                                   /* link */
       TOUCH(p);
       list = next[p];
       assert(!listed[p]); /* once */
       listed[p] = true;
       next[p] = drain[own];
       drain[own] = p;
       p = 0
     };
#ifdef NO_RESCUE
     atomic { own = 0; m = 0 }
#else
     atomic {                                                   /* rescue */
       if
       :: merges[own] == m -> own = NONE
       :: else
       fi;
       m = 0
     };
     atomic {
       if
       :: own == NONE
       :: else ->
#ifdef RESCUE_DROPS_REST
          p = list;
#endif
          take_drain(own, m, p);
          if
          :: m != 0 ->
#ifdef SEEN_RESCUE
             assert(list == 0); /* as there is more to push */
#endif
#ifndef RESCUE_DROPS_REST
             next[p] = list;
#else
             next[m] = list;
#endif
             list = m
          :: else
          fi;
          m = 0; p = 0
       fi;
       own = 0
     }
#endif
  od
}

/* Sends `mask`, slots of pool `pool`. */
inline announce(pool, mask) {
  atomic {                                                      /* announce */
    TOUCH(pool);
    assert((used[pool] & mask) == mask);
#ifdef PUSH_ALWAYS
    lst = pool; next[pool] = 0;
#else
    lst = (announced[pool] == 0 -> pool : 0);
    if
    :: lst != 0 -> next[pool] = 0
    :: else
    fi;
#endif
#ifdef ANNOUNCE_ONE
    announced[pool]++;
#else
    announced[pool] = announced[pool] + POPCOUNT(mask);
#endif
  }
}

inline post(pool, mask) {
  atomic { TOUCH(pool); assert((pending[pool] & mask) == 0); pending[pool] = pending[pool] | mask } /* post */
}

inline send(pool, mask) {
#if defined(BIT_FIRST)
  post(pool, mask);
  announce(pool, mask);
  enqueue(lst)
#elif defined(BIT_BEFORE_PUSH)
  announce(pool, mask);
  post(pool, mask);
  enqueue(lst)
#else
  announce(pool, mask);
  enqueue(lst);                                                 /* push */
  post(pool, mask)
#endif
}

/* ---- deleters ---- */

#if FORK
#define LIVES provided (!frozen)
#define LIVES_IF_FIRST provided (!frozen || _pid == 4) /* domain 0, the fourth that `init` runs */
#else
#define LIVES
#define LIVES_IF_FIRST
#endif

/* Slots of one pool: collected and sent together. With SPLIT, some may be sent before others. */
inline delete(pool, mask) {
  if
  :: (mask) != 0 ->
     rest = mask;
#if SPLIT
     do
     :: rest == 0 -> break
     :: rest != 0 ->
        /* Collecting a delete reads the pool's owner, and nothing else in the pool. */
        atomic {
          TOUCH(pool);
          one = (rest & 1 -> 1 : (rest & 2 -> 2 : 4));
          batch = batch | one; rest = rest & ~one; one = 0
        };
        if
        :: true
        :: true -> send(pool, batch); batch = 0
        fi
     od;
#ifndef NO_FLUSH
     if
     :: batch != 0 -> send(pool, batch); batch = 0
     :: else
     fi
#else
     batch = 0
#endif
#else
     send(pool, rest);
     rest = 0
#endif
  :: else
  fi
}

proctype Deleter(byte a; byte b; bool waits) LIVES {
  byte lst, p, own, m, rest;
#ifdef SEEN_COME_BACK
  byte seen;
#endif
#if SPLIT
  byte batch, one;
#endif
  if
  :: waits -> !late
  :: else
  fi;
  delete(1, a);
  delete(2, b);
  atomic { deleters_left--; a = 0; b = 0; waits = false }
}

/* ---- owners ---- */

/* A drain by the owner of record r. */
inline drain_all() {
  if
  :: todo == 0 -> atomic { take_drain(r, todo, q); q = 0 }
#if STOPS
  :: todo != 0
#endif
  fi;
  do
  :: todo == 0 -> break
#if STOPS
  :: todo != 0 -> break
#endif
  :: todo != 0 ->
     atomic {
       q = todo; TOUCH(q); todo = next[q]; next[q] = 0;
#ifdef DRAIN_ANY_OWNER
       if
       :: true
#else
       if
       :: owner[q] != r -> lst = q
#endif
       :: else
       fi
     };
     if
     :: lst == 0 ->
        atomic {
          TOUCH(q);
          assert(owner[q] == r);                       /* only the owner frees slots */
          assert((used[q] & pending[q]) == pending[q]); /* freed once */
          used[q] = used[q] & ~pending[q];
          m = POPCOUNT(pending[q]);
          pending[q] = 0
        };
        atomic {
          TOUCH(q);
          assert(announced[q] >= m);
          announced[q] = announced[q] - m;
          m = 0;
          if
#ifndef NO_PUT_BACK
          :: announced[q] != 0 -> lst = q
#endif
          :: else
          fi
        }
     :: else
     fi;
     q = 0;
     enqueue(lst)
  od
}

inline set_owners() {                                           /* give */
  q = 1;
  do
  :: q > POOLS -> q = 0; break
  :: else ->
     atomic {
       if
       :: mapped[q] && owner[q] == o -> owner[q] = r
       :: else
       fi;
       q++
     }
  od
}

inline count_merge() {                                          /* count-merge */
#ifdef SEEN_COME_BACK
  moves++;
#endif
#ifndef NO_MERGES
  merges[o] = merges[o] + 1
#else
  skip
#endif
}

inline merge() {
#if defined(COUNT_BEFORE_OWNERS)
  count_merge();
  set_owners();
  atomic { take_drain(o, lst, q); q = 0 };
#elif defined(COUNT_LAST)
  set_owners();
  atomic { take_drain(o, lst, q); q = 0 };
  count_merge();
#elif defined(NO_ORPHAN_DRAIN)
  set_owners();
  count_merge();
#else
  set_owners();
  count_merge();
  atomic { take_drain(o, lst, q); q = 0 };                      /* forward */
#endif
  enqueue(lst);
  atomic { spares = spares | BIT(o); o = 0 }
}

/* One of a set of records, which is not empty. */
#define FIRST(set) ((set) & 1 -> 0 : ((set) & 2 -> 1 : 2))

/* Pools that the record owns. */
#define OWNS(r, q) (mapped[q] && owner[q] == r)

/* A pool is unmapped when no slot is used, for any values of announced and pending. To be proved:
   no thread is about to use the pool then. */
#ifdef UNMAP_PENDING
#define EMPTY(q) ((used[q] & ~pending[q]) == 0)
#else
#define EMPTY(q) (used[q] == 0)
#endif

inline unmap(q) {
  mapped[q] = false;
  assert(!listed[q]);
  assert(announced[q] == 0);
  owner[q] = 0; next[q] = 0; pending[q] = 0; used[q] = 0; announced[q] = 0
}

inline fork_child() {
  d_step {
    frozen = true;
#ifndef FORK_KEEPS_LISTS
    drain[0] = 0; drain[1] = 0;
    listed[1] = false; listed[2] = false;
#endif
    q = 1;
    do
    :: q > POOLS -> q = 0; break
    :: else ->
       if
       :: mapped[q] ->
#ifndef FORK_KEEPS_COUNTS
          announced[q] = POPCOUNT(pending[q]);
#endif
#ifndef FORK_FORGETS_LISTS
          if
          :: pending[q] != 0 ->
             assert(!listed[q]);
             listed[q] = true;
             next[q] = drain[owner[q]];
             drain[owner[q]] = q
          :: else
          fi
#endif
       :: else
       fi;
       posted[q] = pending[q];
       q++
    od
  }
}

/* A domain, or several domains, one after the other. r: its record. */
proctype Domain(byte id; byte r) LIVES_IF_FIRST {
  byte lst, p, own, m; /* as in Deleter */
#ifdef SEEN_COME_BACK
  byte seen;
#endif
  byte todo, q, o;
#if FORK
  byte taken, posted[POOLS + 1];
  bool stays;
#else
  byte taken;
#endif
  do
  :: atomic { r != NONE && (drain[r] != 0 || todo != 0) } ->
     drain_all()
#if STOPS
  :: atomic { todo != 0 } ->
     /* Before the domain ends. */
#ifdef FORGETS_TAKEN
     todo = 0
#else
     enqueue(todo)
#endif
#endif
  :: atomic {
       /* A minor scan: takes all orphans; one becomes the record of a domain that has none. */
       orphans != 0 -> taken = orphans; orphans = 0;
       if
       :: r == NONE ->
          if
          :: r = FIRST(taken)
          :: taken & (taken - 1) -> r = FIRST(taken & (taken - 1))
          fi;
          taken = taken & ~BIT(r); in_use = in_use | BIT(r)
       :: else
       fi
     };
     do
     :: taken == 0 -> break
     :: else ->
        atomic { o = FIRST(taken); taken = taken & ~BIT(o) };
        merge()
     od
  :: atomic { r != NONE && ends_left > 0 && todo == 0 ->
       /* The domain ends. */
       ends_left--;
       in_use = in_use & ~BIT(r);
       if
       :: OWNS(r, 1) || OWNS(r, 2) -> orphans = orphans | BIT(r)
       :: else -> spares = spares | BIT(r)
       fi;
       r = NONE }
#if FORK
  :: atomic { id == 1 && r == NONE -> break }
#endif
  :: atomic { r == NONE && spares != 0 ->
       /* A new domain makes its first root. */
       r = FIRST(spares); spares = spares & ~BIT(r);
       in_use = in_use | BIT(r) }
  :: atomic { r != NONE && OWNS(r, 1) && EMPTY(1) -> unmap(1) }
  :: atomic { r != NONE && OWNS(r, 2) && EMPTY(2) -> unmap(2) }
#if LATE
  :: atomic { late && r != NONE && (mapped[1] -> owner[1] == r : 1) ->
       /* New roots, in pool 1 or in a new one in its place. */
#ifdef SEEN_REMAPPING
       assert(mapped[1]);
#endif
       late = false; mapped[1] = true; owner[1] = r; used[1] = used[1] | A3 }
#endif
#if FORK
  :: atomic { id == 0 && r != NONE && !domain1_lives && !frozen -> fork_child(); break }
#else
  :: atomic { deleters_left == 0 && !late && taken == 0 && todo == 0 -> r = 0; id = 0; break }
#endif
  od;
#if FORK
  if
  :: id == 1 -> atomic { domain1_lives = false; goto ended }
  :: else
  fi;
  /* The child adopts, drains, deletes like a thread without the lock, and drains again. */
  taken = orphans;
  orphans = 0;
  do
  :: taken == 0 -> break
  :: else ->
     atomic { o = FIRST(taken); taken = taken & ~BIT(o) };
     merge()
  od;
  drain_all();
  atomic {
    o = 1;
    do
    :: o > POOLS -> break
    :: else ->
       if
       :: mapped[o] ->
          assert((used[o] & posted[o]) == 0); /* all that was posted is freed */
          assert(announced[o] == 0 && !listed[o])
       :: else
       fi;
       o++
    od;
    o = 1
  };
  do
  :: o > POOLS -> break
  :: else ->
     if
     :: mapped[o] && (used[o] & KEPT) -> send(o, KEPT)
     :: else
     fi;
     o++
  od;
  drain_all();
  assert(!mapped[1] || (announced[1] == 0 && !(used[1] & KEPT) && !listed[1]));
  assert(!mapped[2] || (announced[2] == 0 && !(used[2] & KEPT) && !listed[2]));
  child_done = true;
ended:
  skip
#endif
}

/* ---- the end: no deleter and no domain runs any more ---- */

/* The slots that a last drain by the owners would free. */
inline check(pool) {
  if
  :: mapped[pool] ->
     assert(announced[pool] == POPCOUNT(pending[pool]));
     assert((used[pool] & ~pending[pool] & BEGUN(pool)) == 0); /* none-forgotten */
     assert((announced[pool] != 0) == listed[pool])
  :: else
  fi
}

/* Pools on the drain list of a record that is neither a domain's nor an orphan. */
#define STRANDED(r) (drain[r] != 0 && !((in_use | orphans) & BIT(r)))

init {
  atomic {
    mapped[1] = true; mapped[2] = true;
    owner[1] = 0; owner[2] = OWNER2;
    used[1] = A1 | A2 | (LATE -> 0 : A3);
    used[2] = B1 | B2 | B3;
#if FORK
    used[1] = used[1] | KEPT; used[2] = used[2] | KEPT;
#endif
    in_use = 3;
    run Deleter(A1, B1, false);
    run Deleter(A2, B2, false);
    run Deleter(A3, B3, LATE);
    run Domain(0, 0);
    run Domain(1, 1)
  };
#if FORK
  timeout -> assert(!frozen || child_done)
#else
  atomic {
    _nr_pr == 1 ->
    check(1);
    check(2);
    assert(!STRANDED(0));
    assert(!STRANDED(1))
  }
#endif
}
