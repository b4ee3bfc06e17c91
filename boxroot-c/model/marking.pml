/* SPDX-License-Identifier: MIT */
/* Marking on OCaml 5: pools that are handed over to the collector's marker, the shortcuts of the fast
   paths, the deletion barrier, re-opening, domains that end, trimming, and teardown while marking.

   What is proved: marking sees a snapshot of the start of the cycle. A value that a root or the heap
   holds when the cycle ends was marked, so it is not swept; and the marker reads mapped memory only,
   and no dead or stale value.

   One process, whose transitions are whole operations of one domain, steps of a marker, and the events
   of a cycle, in any order: a domain's operations and its own marking never run at the same time, and
   the marker of a domain that is ending reads one slot at a time. Where the library prefers one pool
   to another, or the runtime may be early or late, the model takes any of them.

   One old value is followed, wherever it is copied to; as the library never compares values, what holds
   for it holds for all. Other old values are all alike, and are taken to be marked.

   A configuration says:
     SLOTS    slots of a pool
     EXTENT   how many slots a pool initialises at a time, and so how far its high-water mark goes
     OWNER2   the domain that owns pool 2; pool 1 is domain 0's. 1: there are two domains
     YOUNG    1: young values too, and that old pools never hold one
     GATED    1: as from OCaml 5.5 on: marking does not start with the cycle
     TEARDOWN 1: the library may be torn down
     QUIET    1: domain 1 only deletes and ends
   A mutant is one of the names that are tested below, such as NO_BARRIER. */

#define POOLS 2 /* numbered from 1; 0: none */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef EXTENT
#define EXTENT SLOTS
#endif
#ifndef OWNER2
#define OWNER2 0
#endif
#ifndef YOUNG
#define YOUNG 0
#endif
#ifndef GATED
#define GATED 0
#endif
#ifndef TEARDOWN
#define TEARDOWN 0
#endif
#ifndef QUIET
#define QUIET 0
#endif

/* What a slot holds: a link, or a root: */
#define LINK 0
#define VALUE 1 /* the one that is followed */
#define OTHER 2 /* any other old value */
#define YOUNG_VALUE 3
#define STALE 4 /* the address of a young value that has moved */

/* Pools. */
#define CURRENT 0 /* or parked */
#define FILED 1
#define EMPTY 2
#define IDLE 0
#define REOPENED 1
#define HANDED 2
#define FOREIGN 3
byte slot[POOLS * SLOTS];
#define SLOT(p, i) slot[((p) - 1) * SLOTS + (i)]
bool mapped[POOLS + 1];
byte owner[POOLS + 1];
byte kind[POOLS + 1];
byte handed[POOLS + 1];
bool open[POOLS + 1];  /* fast_owner is the owner */
byte water[POOLS + 1]; /* the high-water mark */
byte undarkened[POOLS + 1];
bool young[POOLS + 1]; /* the pool's epoch is its owner's */

/* Domains: pools, or 0. */
byte current[2], parked[2], uncounted[2];
bool runs[2], orphan;     /* orphan: the record of domain 1 has no domain */
bool darkened[2];         /* the domain's roots were darkened in this cycle */

/* The collector. */
byte stack[POOLS + 1];    /* whose mark stack holds the pool: 1 + the domain; 3: one that is ending; 0 */
byte at[POOLS + 1], end[POOLS + 1]; /* the range of slots that is still to be visited */
bool field;               /* a block that is always reachable holds the value */
bool field_waits;         /* its visit by a marker is still to come */
bool marked, live = true; /* the value */
bool marking;             /* roots are being, or were, darkened in this cycle */

bool torn_down;

/* Variables of single transitions. */
byte p, i, v, d, n, q;

/* ---- values ---- */

inline mark_value(v) { marked = (v == VALUE -> true : marked) }

/* caml_darken. */
inline darken(v) {
#if GATED
  assert(marking);
#endif
  mark_value(v)
}

/* The value can be read somewhere. */
#if SLOTS == 1
#define IN_POOL(p) (SLOT(p, 0) == VALUE)
#elif SLOTS == 3
#define IN_POOL(p) (SLOT(p, 0) == VALUE || SLOT(p, 1) == VALUE || SLOT(p, 2) == VALUE)
#else
#define IN_POOL(p) (SLOT(p, 0) == VALUE || SLOT(p, 1) == VALUE)
#endif
#define REACHABLE (field || IN_POOL(1) || IN_POOL(2))

/* A value that can be read somewhere, or a new one. New ones are marked, but for those that are made,
   from OCaml 5.5 on, before marking has started. */
inline pick_value() {
  if
  :: v = OTHER
  :: REACHABLE -> v = VALUE
  :: !REACHABLE && !live -> v = VALUE; live = true; marked = (marking || !GATED)
  fi
}

/* ---- marking state of a pool ---- */

inline set_handed(p, state) {
  handed[p] = state;
#ifdef FAST_OWNER_OPEN
  open[p] = true;
#else
  open[p] = (state <= REOPENED);
#endif
#ifndef UNCOUNTED_OPEN
  if
  :: !open[p] && uncounted[owner[p]] == p -> uncounted[owner[p]] = 0
  :: else
  fi
#endif
}

/* The mark stack of the domain holds no pool. */
#define HOLDS_NONE(d) (stack[1] != 1 + (d) && stack[2] != 1 + (d))
#define NOTHING_LEFT (stack[1] == 0 && stack[2] == 0)

/* What the library may learn about marking. The domain may have other things left to mark. */
#ifdef DONE_TOO_EARLY
#define MAY_BE_DONE(p) true
#elif defined(FOREIGN_DONE)
#define MAY_BE_DONE(p) HOLDS_NONE(owner[p])
#elif defined(DONE_OF_ANY)
#define MAY_BE_DONE(p) (handed[p] != FOREIGN && (HOLDS_NONE(0) || HOLDS_NONE(1)))
#else
#define MAY_BE_DONE(p) (handed[p] != FOREIGN && HOLDS_NONE(owner[p]))
#endif

/* bxr_barrier_state: re-opens the pool if that is possible now. By the owner. */
inline look(p) {
  if
  :: handed[p] == IDLE
#if GATED && !defined(NOT_GATED)
  :: handed[p] != IDLE && !marking -> set_handed(p, IDLE)
  :: handed[p] != IDLE && marking && MAY_BE_DONE(p) -> set_handed(p, IDLE)
  :: handed[p] != IDLE && marking ->
#else
  :: handed[p] != IDLE && MAY_BE_DONE(p) -> set_handed(p, IDLE)
  :: handed[p] != IDLE ->
#endif
     if
#ifdef FOREIGN_EMPTY
     :: handed[p] >= HANDED && kind[p] == EMPTY -> set_handed(p, REOPENED)
#else
     :: handed[p] == HANDED && kind[p] == EMPTY -> set_handed(p, REOPENED)
#endif
     :: else
     fi
  fi
}

/* bxr_barrier_before_overwrite: the deletion barrier. It darkens at least one more slot. */
inline barrier(p, i) {
#ifndef NO_BARRIER
  look(p);
  if
  :: handed[p] <= REOPENED
  :: else ->
#ifndef BARRIER_WITHOUT_VALUE
     darken(SLOT(p, i));
#endif
     if
     :: handed[p] == FOREIGN
     :: else ->
        assert(undarkened[p] <= water[p]);
        do
        :: undarkened[p] == 0 -> break /* the range was empty */
        :: undarkened[p] > 0 ->
           undarkened[p] = undarkened[p] - 1;
#ifndef STEP_WITHOUT_DARKENING
           darken(SLOT(p, undarkened[p]));
#endif
           break
        :: undarkened[p] > 1 ->
           undarkened[p] = undarkened[p] - 1;
#ifndef STEP_WITHOUT_DARKENING
           darken(SLOT(p, undarkened[p]))
#endif
        od;
        if
#ifdef REOPEN_ONE_EARLY
        :: undarkened[p] <= 1 -> set_handed(p, REOPENED)
#else
        :: undarkened[p] == 0 -> set_handed(p, REOPENED)
#endif
        :: else
        fi
     fi
  fi
#else
  skip
#endif
}

/* ---- pools of a domain ---- */

#if SLOTS == 1
#define UNUSED(p) (SLOT(p, 0) == LINK)
#define FULL(p) (SLOT(p, 0) != LINK)
#elif SLOTS == 3
#define UNUSED(p) (SLOT(p, 0) == 0 && SLOT(p, 1) == 0 && SLOT(p, 2) == 0)
#define FULL(p) (SLOT(p, 0) != 0 && SLOT(p, 1) != 0 && SLOT(p, 2) != 0)
#else
#define UNUSED(p) (SLOT(p, 0) == 0 && SLOT(p, 1) == 0)
#define FULL(p) (SLOT(p, 0) != 0 && SLOT(p, 1) != 0)
#endif

/* Files a pool that is in no list. */
inline file(p) {
  if
  :: UNUSED(p) -> kind[p] = EMPTY; water[p] = 0; young[p] = false
  :: else -> kind[p] = FILED
  fi
}

/* After a slot was freed, and counted. */
inline count_down(p) {
  if
  :: kind[p] == FILED && UNUSED(p) -> file(p)
  :: else
  fi
}

inline retire(d) {
  if
  :: current[d] != 0 -> file(current[d]); current[d] = 0; uncounted[d] = 0
  :: else
  fi;
  if
  :: parked[d] != 0 -> file(parked[d]); parked[d] = 0
  :: else
  fi
}

inline activate(d, p) {
  kind[p] = CURRENT;
#if YOUNG
  young[p] = true;
#endif
  current[d] = p;
#ifdef UNCOUNTED_ALWAYS
  uncounted[d] = p
#else
  uncounted[d] = (open[p] -> p : 0)
#endif
}

inline unmap(p) {
  assert(stack[p] == 0); /* no marker visits it */
  mapped[p] = false;
  open[p] = false; handed[p] = IDLE; owner[p] = 0; undarkened[p] = 0
}

/* Returns some empty pools to the system. */
inline release(d) {
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
#if defined(UNMAP_HANDED)
     :: mapped[p] && owner[p] == d && kind[p] == EMPTY -> unmap(p)
#elif defined(UNMAP_REOPENED)
     :: mapped[p] && owner[p] == d && kind[p] == EMPTY && handed[p] <= REOPENED -> unmap(p)
#else
     :: mapped[p] && owner[p] == d && kind[p] == EMPTY && handed[p] == IDLE -> unmap(p)
#endif
     :: true
     fi;
     p++
  od
}

/* ---- operations of domain d ---- */

/* From the first darkening of a cycle to its own, a domain is stopped. */
#define RUNS(d) (runs[d] && (!marking || darkened[d]) && !torn_down)

/* One of the pools that domain d owns, or 0. */
inline pick_own_pool() {
  if
  :: mapped[1] && owner[1] == d -> p = 1
  :: mapped[2] && owner[2] == d -> p = 2
  :: p = 0
  fi
}

inline pick_slot() {
  if
  :: i = 0
#if SLOTS > 1
  :: i = 1
#endif
#if SLOTS > 2
  :: i = 2
#endif
  fi
}

/* create, when the current pool has a free slot. */
inline create() {
  p = current[d];
  pick_slot();
  if
  :: i >= water[p] -> water[p] = (water[p] + EXTENT < SLOTS -> water[p] + EXTENT : SLOTS)
  :: else
  fi;
  if
  :: i < water[p] && SLOT(p, i) == LINK ->
#if YOUNG
     if
     :: pick_value()
     :: v = YOUNG_VALUE
     fi;
#else
     pick_value();
#endif
     SLOT(p, i) = v
  :: else
  fi
}

/* bxr_domain_choose, when it has none. */
inline next_pool() {
  p = parked[d];
  if
  :: p != 0 -> look(p)
  :: else
  fi;
  if
  :: p != 0 && handed[p] <= REOPENED && !FULL(p) ->
     parked[d] = 0;
     activate(d, p)
  :: else ->
     retire(d);
     p = 0;
     if
     :: pick_own_pool()
     :: !mapped[1] -> p = 1
     :: !mapped[2] -> p = 2
     fi;
     if
     :: p != 0 && !mapped[p] ->
        mapped[p] = true; owner[p] = d; handed[p] = IDLE; open[p] = true; water[p] = 0; kind[p] = EMPTY
     :: p != 0 && mapped[p] -> look(p)
     :: else
     fi;
     if
     :: p != 0 && !FULL(p) && (handed[p] <= REOPENED || (handed[p] == HANDED && kind[p] == FILED)) ->
        activate(d, p)
     :: else
     fi
  fi
}

/* Frees slot i of pool p, in whatever way. */
inline free_by_owner() {                  /* bxr_pool_free: also for remote deletes, when drained */
  if
  :: handed[p] != IDLE -> barrier(p, i)
  :: else
  fi;
  SLOT(p, i) = LINK;
  count_down(p)
}

inline delete() {
  if
  :: p == uncounted[d] -> SLOT(p, i) = LINK  /* fast, not counted */
  :: p != uncounted[d] && open[p] -> SLOT(p, i) = LINK; count_down(p) /* fast */
  :: p != uncounted[d] && !open[p] -> free_by_owner()
  :: free_by_owner()                      /* it was deleted remotely */
  fi
}

inline modify() {
#if YOUNG
  if
  :: pick_value()
  :: young[p] -> v = YOUNG_VALUE
  fi;
#else
  pick_value();
#endif
#ifndef MODIFY_WITHOUT_BARRIER
  if
  :: !open[p] -> barrier(p, i)
  :: else
  fi;
#endif
  SLOT(p, i) = v
}

/* caml_modify of the block on the heap. */
inline modify_field() {
  pick_value();
  marked = (marking && field -> true : marked);
  field = (v == VALUE)
}

/* The domain's termination hook. Its own marker goes on. */
inline end_domain() {
  retire(1);
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
#ifdef NOT_FOREIGN
     :: false
#elif defined(REOPENED_NOT_FOREIGN)
     :: mapped[p] && owner[p] == 1 && handed[p] == HANDED -> set_handed(p, FOREIGN); orphan = true
#else
     :: mapped[p] && owner[p] == 1 && handed[p] != IDLE -> set_handed(p, FOREIGN); orphan = true
#endif
     :: else -> orphan = (mapped[p] && owner[p] == 1 -> true : orphan)
     fi;
     if
     :: stack[p] == 2 -> stack[p] = 3
     :: else
     fi;
     p++
  od;
  runs[1] = false;
  darkened[1] = false
}

/* ---- collections ---- */

/* All domains: adoption by domain 0, scan of young pools, promotion. */
inline minor_collection() {
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
     :: orphan && mapped[p] && owner[p] == 1 && !torn_down ->
        owner[p] = 0;
#ifdef ADOPTION_OPENS
        open[p] = true
#else
        open[p] = (handed[p] == IDLE -> true : open[p])
#endif
     :: else
     fi;
     i = 0;
     do
     :: i >= SLOTS -> i = 0; break
     :: else ->
        if
        :: SLOT(p, i) == YOUNG_VALUE ->
           assert(young[p] || torn_down);
           SLOT(p, i) = (torn_down -> STALE : OTHER)
        :: else
        fi;
        i++
     od;
     young[p] = false;
     p++
  od;
  orphan = false;
  d = 0;
  do
  :: d > 1 -> d = 0; break
  :: else ->
     if
     :: current[d] != 0 -> parked[d] = current[d]; current[d] = 0; uncounted[d] = 0
     :: else
     fi;
     d++
  od
}

/* No young value is left: the last minor collection was just before. After teardown nobody cares. */
inline find_young() {
  n = 0; q = 0;
  do
  :: q < POOLS * SLOTS -> n = (slot[q] == YOUNG_VALUE -> 1 : n); q++
  :: else -> q = 0; break
  od
}

/* The hook, when domain d starts to mark: roots are handed over, or darkened one by one. */
inline darken_roots(ranges) {
  field_waits = (marking -> field_waits : true);
  marking = true;
  darkened[d] = true;
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
     :: mapped[p] && owner[p] == d ->
        if
#ifdef CURRENT_NOT_HANDED
        :: kind[p] == EMPTY || p == current[d] || !(ranges) ->
#else
        :: kind[p] == EMPTY || !(ranges) ->
#endif
           if
           :: handed[p] != IDLE -> set_handed(p, IDLE)
           :: else
           fi;
           if
           :: !(ranges) ->
              i = 0;
              do
              :: i >= water[p] -> i = 0; break
              :: else -> mark_value(SLOT(p, i)); i++
              od
           :: else
           fi
        :: else ->
           assert(stack[p] == 0); /* the block header may be written */
#ifdef RANGE_TOO_SHORT
           stack[p] = (water[p] > 1 -> 1 + d : 0); at[p] = 0; end[p] = water[p] - 1;
#else
           /* A parked pool that never had a root has an empty range. */
           stack[p] = (water[p] > 0 -> 1 + d : 0); at[p] = 0; end[p] = water[p];
#endif
           undarkened[p] = water[p];
           set_handed(p, HANDED)
        fi
     :: else
     fi;
     p++
  od;
  release(d)
}

/* A step of the marker of whoever has the pool on its stack. */
inline visit(p) {
  assert(mapped[p]);
  v = SLOT(p, at[p]);
  assert(v != STALE);
  assert(v != VALUE || live); /* it was not swept */
  mark_value(v);
  at[p] = at[p] + 1;
  if
  :: at[p] == end[p] -> stack[p] = 0; at[p] = 0; end[p] = 0
  :: else
  fi
}

/* The end of a cycle: what is not marked is garbage. */
inline end_cycle() {
  assert(!field || marked);
  assert(torn_down || !(IN_POOL(1) || IN_POOL(2)) || marked);
  live = marked;
  marked = false;
  marking = false;
  darkened[0] = false;
  darkened[1] = false
}

/* ---- teardown ---- */

inline tear_down(d) {
  retire(d);
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
     :: mapped[p] && owner[p] == d ->
        open[p] = false;
        i = 0;
        do
        :: i >= SLOTS -> i = 0; break
        :: else ->
           if
#ifdef TEARDOWN_KEEPS_YOUNG
           :: false
#else
           :: SLOT(p, i) == YOUNG_VALUE && handed[p] != IDLE -> SLOT(p, i) = OTHER
#endif
           :: else
           fi;
           i++
        od
     :: else
     fi;
     p++
  od;
  release(d)
}

/* The next cycle after teardown starts. */
inline give_back_the_rest() {
  marking = true;
  field_waits = true;
  darkened[0] = true;
  p = 1;
  do
  :: p > POOLS -> p = 0; break
  :: else ->
     if
     :: mapped[p] && handed[p] != IDLE -> set_handed(p, IDLE)
     :: else
     fi;
     p++
  od;
  tear_down(0);
  tear_down(1)
}

#define CLEAR_ALL p = 0; i = 0; v = 0; d = 0; n = 0; q = 0
#define CLEAR d_step { CLEAR_ALL }

init {
  d_step {
    mapped[1] = true; owner[1] = 0; open[1] = true; kind[1] = FILED;
    mapped[2] = true; owner[2] = OWNER2; open[2] = true; kind[2] = EMPTY;
    SLOT(1, 0) = VALUE;
    water[1] = SLOTS;
#if SLOTS > 1
    SLOT(1, 1) = OTHER;
#endif
#if OWNER2 == 1
    kind[2] = FILED; SLOT(2, 0) = VALUE; water[2] = SLOTS;
#endif
    runs[0] = true; runs[1] = OWNER2
  };
  do
  :: atomic { RUNS(0) || RUNS(1) ->
       if
       :: RUNS(0) -> d = 0
       :: RUNS(1) -> d = 1
       fi;
       if
       :: !(QUIET && d == 1) && current[d] != 0 && !FULL(current[d]) -> create()
       :: !(QUIET && d == 1) && (current[d] == 0 || FULL(current[d])) -> next_pool()
       :: pick_own_pool(); pick_slot();
          if
          :: p != 0 && i < water[p] && SLOT(p, i) != LINK ->
             if
             :: delete()
             :: !(QUIET && d == 1) -> modify()
             fi
          :: else
          fi
       :: !(QUIET && d == 1) -> modify_field()
       :: !(QUIET && d == 1) -> retire(d);                            /* boxroot_trim */
          p = 1;
          do
          :: p > POOLS -> break
          :: else ->
             if
             :: mapped[p] && owner[p] == d && kind[p] == EMPTY -> look(p)
             :: else
             fi;
             p++
          od;
          release(d)
       :: d == 1 -> end_domain()
       fi;
       CLEAR }
  :: atomic { OWNER2 == 1 && !runs[1] && stack[1] != 2 && stack[2] != 2 && !torn_down ->
       /* A new domain. It takes the orphan's record, if that was not adopted. It has nothing to mark. */
       runs[1] = true; orphan = false; darkened[1] = marking }
  :: atomic { (RUNS(0) || torn_down) && (!runs[1] || RUNS(1)) -> d_step { minor_collection(); CLEAR_ALL } }
  :: atomic { stack[1] != 0 -> d_step { visit(1); CLEAR_ALL } }
  :: atomic { stack[2] != 0 -> d_step { visit(2); CLEAR_ALL } }
  :: atomic { field_waits -> mark_value(field); field_waits = false }
  :: atomic { marking && NOTHING_LEFT && !field_waits && darkened[0] && (darkened[1] || !runs[1]) ->
       d_step { end_cycle(); CLEAR_ALL } }
  :: atomic { (!marking || !darkened[0] || (runs[1] && !darkened[1])) && !orphan && !torn_down ->
       d_step { find_young() };
       if
       :: n == 0 && !darkened[0] -> d = 0
       :: n == 0 && !darkened[1] && runs[1] -> d = 1
       :: n == 1 -> d = 2
       fi;
       if
       :: d < 2 -> darken_roots(true)
       :: d < 2 -> darken_roots(false)
       :: d == 2
       fi;
       CLEAR }
#if TEARDOWN
  :: atomic { RUNS(0) && !runs[1] && !torn_down ->
       torn_down = true; tear_down(0); tear_down(1); CLEAR }
  :: atomic { torn_down && !marking -> give_back_the_rest(); CLEAR }
#endif
  od
}
