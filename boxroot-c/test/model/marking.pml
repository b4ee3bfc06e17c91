/* SPDX-License-Identifier: MIT */
/* Marking on OCaml 5: pools that are handed over to the collector's marker, the shortcuts of the fast
   paths, values that stay in their slots until the marker has visited them, re-opening, domains that
   end, trimming, and teardown while marking.

   Proved: marking sees a snapshot of the start of the cycle. A value that a slot or the heap holds
   when the cycle ends was marked, so it is not swept. The marker reads only mapped memory, and no
   dead or stale value. While the marker of a domain that has ended may visit a pool, only scans
   write to its slots. Liveness: if a root is deleted before its pool is handed over, its slot is
   free at the second hand-over after that one, unless its domain ended in between.

   There is one process. Its transitions are whole operations of one domain, steps of a marker, and
   the events of a cycle, in any order. A domain's operations and its own marking never run at the
   same time, and the marker of a domain that is ending reads one slot at a time. Where the library
   prefers one pool to another, or the runtime may be early or late, the model allows any choice.
   Between the end of a cycle and the next one's darkening any operation may happen, such as those
   of finalisers in a compaction. A domain runs as soon as its own roots have been darkened, as on
   OCaml 5.5.

   The model follows one old value, wherever it is copied. Because the library never compares
   values, the results for it hold for all. Other old values and immediates are all alike, and count
   as marked.

   modify of a slot that must keep its value is a create and a delete, which are separate
   transitions.

   A configuration says:
     SLOTS    slots of a pool, 1 or 2
     EXTENT   how many slots a pool initialises at a time, and so how far its high-water mark goes
     OWNER2   the domain that owns pool 2; pool 1 is domain 0's. 1: there are two domains
     YOUNG    1: there are also young values; proved: old pools never hold one
     TEARDOWN 1: the library may be torn down
     BATCHES  1: the owner may collect its own deletes, and send and carry them out later
     LIVENESS 1: proved: the slots of deletes are freed
     ONE_POOL 1: there is pool 1 only
   A mutant is one of the names that #ifdefs below test, such as FREE_AT_ONCE. */

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
#ifndef TEARDOWN
#define TEARDOWN 0
#endif
#ifndef BATCHES
#define BATCHES 0
#endif
#ifndef LIVENESS
#define LIVENESS 0
#endif
#ifndef ONE_POOL
#define ONE_POOL 0
#endif

/* What a slot holds: a link, or a root: */
#define LINK 0
#define VALUE 1 /* the value that the model follows */
#define OTHER 2 /* any other old value, or an immediate */
#define YOUNG_VALUE 3
#define STALE 4 /* the address of a young value that has moved */

/* Pools. */
#define CURRENT 0
#define FILED 1
#define EMPTY 2
byte slot[POOLS * SLOTS];
byte gone[POOLS * SLOTS]; /* deleted, and not yet freed: one of the next four */
#define NOT_GONE 0
#define SENT 1    /* a remote delete: in the bits of `pending` */
#define BATCHED 2 /* by the owner, which has not sent it yet */
#define WAITS 3   /* for the marker: in the bits that only the owner uses */
#define SLOT(p, i) slot[((p) - 1) * SLOTS + (i)]
#define GONE(p, i) gone[((p) - 1) * SLOTS + (i)]
bool mapped[POOLS + 1];
byte owner[POOLS + 1];
byte kind[POOLS + 1];
bool closed[POOLS + 1];
bool open[POOLS + 1];  /* fast_owner is the owner */
byte water[POOLS + 1]; /* the high-water mark */
bool young[POOLS + 1];
bool fresh[POOLS + 1]; /* its newest waiting slot began to wait in this cycle */
bool sent_late[POOLS + 1], waits_late[POOLS + 1]; /* the pool was handed over with deletes of this kind */
#ifdef WAITING_FORGOTTEN
bool forgotten[POOLS + 1]; /* in no list of pools that wait */
#endif

/* Domains: pools, or 0. */
byte current[2], uncounted[2];
byte resting[2]; /* the current pool between a minor collection and the next create; then current is 0 */
bool runs[2], orphan; /* orphan: the record of domain 1 has no domain */
bool darkened[2];     /* the domain's roots were darkened in this cycle */

/* The collector. */
byte stack[POOLS + 1]; /* whose mark stack holds the pool: 1 + the domain; 3: one that is ending; 0 */
byte at[POOLS + 1], end[POOLS + 1]; /* the range of slots still to be visited */
bool field;               /* a block that is always reachable holds the value */
bool field_waits;         /* its visit by a marker is still to come */
bool marked, live = true; /* the value */
bool marking;             /* roots are being, or were, darkened in this cycle */

bool torn_down;

/* Variables that are used within one transition. */
byte p, i, v, d, n, q;

/* ---- values ---- */

inline mark_value(v) { marked = (v == VALUE -> true : marked) }

#define EACH(p, test) (test(p, 0) || test(p, SLOTS - 1))
#define HAS_VALUE(p, i) (SLOT(p, i) == VALUE)
#define HAS_ROOT(p, i) (SLOT(p, i) == VALUE && GONE(p, i) == NOT_GONE)
#define IN_SLOTS (EACH(1, HAS_VALUE) || EACH(2, HAS_VALUE))
#define REACHABLE (field || EACH(1, HAS_ROOT) || EACH(2, HAS_ROOT))
#define IS_GONE(p, i) (GONE(p, i) != NOT_GONE)
#define IS_SENT(p, i) (GONE(p, i) == SENT)
#define IS_BATCHED(p, i) (GONE(p, i) == BATCHED)
#define IS_WAITING(p, i) (GONE(p, i) == WAITS)
#define ANY_GONE(p) EACH(p, IS_GONE)
#define ANY_SENT(p) EACH(p, IS_SENT)
#define ANY_BATCHED(p) EACH(p, IS_BATCHED)
#define ANY_WAITING(p) EACH(p, IS_WAITING)

/* A value that can be read somewhere, or a new one. New values are marked, unless they are made before
   marking has started. */
inline pick_value() {
  if
  :: v = OTHER
  :: REACHABLE -> v = VALUE
  :: !field && !IN_SLOTS && !live -> v = VALUE; live = true; marked = marking
  fi
}

/* ---- closed pools ---- */

inline open_pool(p) {
  closed[p] = false;
  open[p] = true
}

inline close_pool(p) {
  closed[p] = true;
#ifndef FAST_OWNER_OPEN
  open[p] = false;
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

/* The library's answer whether marking is done. The domain may have other things left to mark. */
#ifdef DONE_TOO_EARLY
#define MAY_BE_DONE(p) true
#elif defined(DONE_OF_ANY)
#define MAY_BE_DONE(p) (HOLDS_NONE(0) || HOLDS_NONE(1))
#else
#define MAY_BE_DONE(p) HOLDS_NONE(owner[p])
#endif

/* bxr_barrier_try_open, called by the owner. */
inline look(p) {
  if
  :: closed[p] && MAY_BE_DONE(p) -> open_pool(p)
#ifdef OPEN_EMPTY
  :: closed[p] && kind[p] == EMPTY -> open_pool(p)
#endif
  :: else
  fi
}

/* bxr_barrier_keeps: the slot must stay as it is. n: the result. */
inline keeps(p, i) {
  look(p);
  if
  :: closed[p] && SLOT(p, i) != YOUNG_VALUE -> n = 1
  :: closed[p] && SLOT(p, i) != VALUE -> n = 0 /* OTHER: an immediate */
  :: !closed[p] -> n = 0
  fi
}

/* ---- pools of a domain ---- */

#define IS_FREE(p, i) (SLOT(p, i) == LINK)
#define IS_USED(p, i) (SLOT(p, i) != LINK)
#define FULL(p) (!EACH(p, IS_FREE))

/* Files a pool that is in no list. */
inline file(p) {
  if
  :: !EACH(p, IS_USED) -> kind[p] = EMPTY; water[p] = 0; young[p] = false
  :: else -> kind[p] = FILED
  fi
}

/* Checks that no marker of a domain that has ended reads the slots, on another thread. */
inline writes(p) { assert(stack[p] != 3) }

/* Frees a slot, and counts it. */
inline free(p, i) {
  writes(p);
  SLOT(p, i) = LINK;
  GONE(p, i) = NOT_GONE;
  if
  :: kind[p] == FILED -> file(p)
  :: else
  fi
}

inline retire(d) {
  if
  :: current[d] != 0 -> file(current[d]); current[d] = 0; uncounted[d] = 0
  :: else
  fi;
  if
  :: resting[d] != 0 -> file(resting[d]); resting[d] = 0
  :: else
  fi
}

inline make_young(d, p) {
#if YOUNG
  young[p] = true;
#endif
#ifdef UNCOUNTED_ALWAYS
  uncounted[d] = p
#else
  uncounted[d] = (open[p] -> p : 0)
#endif
}

inline activate(d, p) {
  kind[p] = CURRENT;
  current[d] = p;
  make_young(d, p)
}

inline unmap(p) {
  assert(stack[p] == 0); /* no marker visits it */
  assert(!ANY_GONE(p)); /* no deleter uses it, and it is in no list of pools that wait */
  mapped[p] = false;
  open[p] = false; closed[p] = false; owner[p] = 0
}

#ifdef UNMAP_HANDED
#define MAY_UNMAP(p) true
#else
#define MAY_UNMAP(p) (!closed[p])
#endif

/* Returns some empty pools to the system. */
inline release(d) {
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && owner[p] == d && kind[p] == EMPTY && MAY_UNMAP(p) -> unmap(p)
    :: true
    fi
  }
}

/* ---- deletes that wait (waiting.h), and remote ones (remote.c) ---- */

/* Frees the slots with deletes of this kind. */
inline harvest(p, kind_of_delete) {
#ifdef ONE_STEP_IN_CLOSED
  if
  :: closed[p] && kind[p] == FILED && SLOTS == 1 -> /* the value stays there */
     GONE(p, 0) = NOT_GONE; kind[p] = EMPTY; water[p] = 0; young[p] = false
  :: else
  fi;
#endif
  for (q : 0 .. SLOTS - 1) {
    if
    :: GONE(p, q) == kind_of_delete -> free(p, q)
    :: else
    fi
  }
  q = 0
}

inline free_waiting(p) {
  harvest(p, WAITS);
  waits_late[p] = false
}

/* Whether the slots that wait may be freed: is_ripe, for a state that was just checked. */
#ifdef RIPE_BY_STATE
#define RIPE(p) (!closed[p])
#elif defined(RIPE_IF_CLOSED)
#define RIPE(p) true
#else
#define RIPE(p) (!closed[p] || !fresh[p])
#endif

/* Before a slot begins to wait (bxr_waiting_add), for a state that was just checked. */
inline make_room(p) {
  if
#ifndef JOINS_RIPE
  :: ANY_WAITING(p) && !fresh[p] && RIPE(p) -> free_waiting(p)
#endif
  :: else
  fi;
#ifdef STAMP_OF_THE_FIRST
  fresh[p] = (ANY_WAITING(p) -> fresh[p] : true)
#else
  fresh[p] = true
#endif
}

/* The slots with deletes of this kind wait from now on. */
inline let_wait(p, kind_of_delete) {
  make_room(p);
  for (q : 0 .. SLOTS - 1) { GONE(p, q) = (GONE(p, q) == kind_of_delete -> WAITS : GONE(p, q)) }
  q = 0
}

/* The owner sends its collected deletes of its own roots. */
inline flush(p) {
  if
  :: ANY_BATCHED(p) -> look(p); let_wait(p, BATCHED); sent_late[p] = (ANY_SENT(p) -> sent_late[p] : false)
  :: else
  fi
}

/* A pool on the owner's drain list. */
inline take(p) {
  sent_late[p] = false;
  if
#ifdef DRAIN_DOES_NOT_WAIT
  :: true -> harvest(p, SENT)
#else
  :: !closed[p] -> harvest(p, SENT)
  :: closed[p] -> let_wait(p, SENT)
#endif
  fi
}

#ifdef WAITING_FORGOTTEN
#define MAY_FREE(p) (ANY_WAITING(p) && !forgotten[p])
#else
#define MAY_FREE(p) ANY_WAITING(p)
#endif

/* bxr_remote_drain, of any pools: takes remote deletes, and frees slots that wait. */
inline drain(d) {
  for (p : 1 .. POOLS) {
    if
    :: owner[p] == d && ANY_SENT(p) -> look(p); take(p)
    :: true
    fi;
    if
    :: owner[p] == d && MAY_FREE(p) ->
       look(p);
       if
       :: RIPE(p) -> free_waiting(p)
       :: else
       fi
    :: true
    fi
  }
}

/* ---- operations of domain d ---- */

/* From the first darkening of a cycle to its own, a domain is stopped. */
#define RUNS(d) (runs[d] && (!marking || darkened[d]) && !torn_down)

inline pick_own_pool() {
  if
  :: mapped[1] && owner[1] == d -> p = 1
  :: mapped[2] && owner[2] == d -> p = 2
  :: p = 0
  fi
}

/* A root that was not deleted; p = 0: none. */
inline pick_root() {
  if
  :: i = 0
#if SLOTS > 1
  :: i = 1
#endif
  fi;
  p = (p != 0 && i < water[p] && SLOT(p, i) != LINK && !IS_GONE(p, i) -> p : 0)
}

/* create, when the current pool has a free slot. It is the slow path, bxr_domain_continue, if head.free is empty. */
inline create() {
  p = current[d];
  if
  :: true
  :: make_young(d, p)
  fi;
  if
  :: SLOT(p, 0) == LINK -> i = 0
#if SLOTS > 1
  :: SLOT(p, 1) == LINK -> i = 1
#endif
  fi;
  if
  :: i >= water[p] ->
     water[p] = (water[p] + EXTENT < SLOTS -> water[p] + EXTENT : SLOTS)
  :: else
  fi;
  if
  :: i < water[p] ->
     if
     :: pick_value()
#if YOUNG
     :: v = YOUNG_VALUE
#endif
     fi;
     writes(p);
     SLOT(p, i) = v
  :: else
  fi
}

/* create, when the current pool has no free slot: bxr_domain_continue, bxr_domain_retire, bxr_domain_choose. */
inline next_pool() {
  p = resting[d];
  if
  :: p != 0 -> look(p)
  :: else
  fi;
  if
  :: p != 0 && !closed[p] && !FULL(p) ->
     resting[d] = 0;
     activate(d, p)
  :: else ->
     retire(d);
     if
     :: pick_own_pool()
     :: !mapped[1] -> p = 1
     :: !mapped[2] && !ONE_POOL -> p = 2
     fi;
     if
     :: p != 0 && !mapped[p] ->
        mapped[p] = true; owner[p] = d; closed[p] = false; open[p] = true; water[p] = 0; kind[p] = EMPTY
     :: p != 0 && mapped[p] -> look(p)
     :: else
     fi;
     if
     :: p != 0 && !FULL(p) ->
        activate(d, p)
     :: else
     fi
  fi
}

/* bxr_waiting_is_certain, which does not check whether the marker has visited the pool. Once a
   minor scan knows that marking is over, it is not used until the next roots are darkened. At the
   latest, the scan at the end of the cycle knows it. */
#define IS_CERTAIN(p) (darkened[d] && closed[p] && kind[p] == FILED)

inline delete() {
  if
#if BATCHES
  :: p != uncounted[d] && !open[p] && IS_CERTAIN(p) -> GONE(p, i) = BATCHED
#endif
  :: p != uncounted[d] && !open[p] && IS_CERTAIN(p) -> GONE(p, i) = BATCHED; let_wait(p, BATCHED)
  :: p == uncounted[d] -> writes(p); SLOT(p, i) = LINK /* fast, not counted */
  :: p != uncounted[d] && open[p] -> free(p, i)        /* fast */
  :: p != uncounted[d] && !open[p] ->
     keeps(p, i);
#ifdef FREE_AT_ONCE
     n = 0;
#endif
     if
#if BATCHES
     :: n == 1 -> GONE(p, i) = BATCHED
#endif
     :: n == 1 -> GONE(p, i) = BATCHED; let_wait(p, BATCHED)
     :: n == 0 -> free(p, i)
     fi
  fi
}

inline modify() {
  n = 0;
  if
  :: open[p] || p == uncounted[d]
  :: !open[p] && p != uncounted[d] -> keeps(p, i)
  fi;
#ifdef MODIFY_IN_PLACE
  n = 0;
#endif
  if
  :: n == 1
  :: n == 0 ->
     if
     :: pick_value()
#if YOUNG
     :: young[p] -> v = YOUNG_VALUE
#endif
     fi;
     writes(p);
     SLOT(p, i) = v
  fi
}

/* caml_modify of the block on the heap. */
inline modify_field() {
  pick_value();
  marked = (marking && field -> true : marked);
  field = (v == VALUE)
}

/* The domain's termination hook, called when its marker has visited all pools. */
#ifdef NOT_FINISHED
#define FINISHED true
#else
#define FINISHED HOLDS_NONE(1)
#endif
inline end_domain() {
  retire(1);
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && owner[p] == 1 ->
       orphan = true;
       flush(p);
       open_pool(p);
       sent_late[p] = false;
       waits_late[p] = false;
#ifdef WAITING_FORGOTTEN
       forgotten[p] = ANY_WAITING(p)
#endif
    :: else
    fi;
    stack[p] = (stack[p] == 2 -> 3 : stack[p])
  }
  runs[1] = false;
  darkened[1] = false
}

/* ---- collections ---- */

/* All domains: adoption by domain 0, scan of young pools, promotion. */
inline minor_collection() {
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && runs[owner[p]] && !torn_down -> flush(p)
    :: else
    fi;
    if
    :: orphan && mapped[p] && owner[p] == 1 && !torn_down ->
       owner[p] = 0
    :: else
    fi;
    for (i : 0 .. SLOTS - 1) {
      if
      :: SLOT(p, i) == YOUNG_VALUE ->
         assert(young[p] || torn_down || i >= water[p]);
         SLOT(p, i) = (torn_down || i >= water[p] -> STALE : OTHER)
      :: else
      fi
    }
    young[p] = false
  }
  orphan = false;
  for (d : 0 .. 1) {
    if
    :: current[d] != 0 -> resting[d] = current[d]; current[d] = 0; uncounted[d] = 0
    :: else
    fi
  }
}

/* No young value is left, because a minor collection has just happened. */
inline find_young() {
  for (q : 0 .. POOLS * SLOTS - 1) { n = (slot[q] == YOUNG_VALUE -> 1 : n) }
  q = 0
}

/* The hook when domain d starts to mark: its roots are handed over, or darkened one by one. */
inline darken_roots(ranges) {
  if
  :: !marking && !runs[1 - (d)] -> drain(d) /* no other domain has run since its roots were darkened */
  :: else
  fi;
  field_waits = (marking -> field_waits : true);
  marking = true;
#ifdef DRAIN_IN_DARKEN
  drain(d);
#endif
  for (p : 1 .. POOLS) {
    if
    /* The last cycle is over, so all waiting slots may be freed. */
    :: owner[p] == d && MAY_FREE(p) -> look(p); free_waiting(p)
#ifdef TAKE_IN_DARKEN
    :: owner[p] == d && ANY_SENT(p) -> let_wait(p, SENT); fresh[p] = false
#endif
    :: true
    fi
  }
  darkened[d] = true;
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && owner[p] == d ->
       assert(!sent_late[p] && !waits_late[p]);
#if LIVENESS
       sent_late[p] = ANY_SENT(p) || ANY_BATCHED(p);
       waits_late[p] = ANY_WAITING(p);
#endif
       if
#ifdef CURRENT_NOT_HANDED
       :: kind[p] == EMPTY || p == current[d] || !(ranges) ->
#else
       :: kind[p] == EMPTY || !(ranges) ->
#endif
          if
          :: closed[p] -> open_pool(p)
          :: else
          fi;
          for (i : 0 .. SLOTS - 1) {
            if
            :: i < water[p] && !(ranges) -> mark_value(SLOT(p, i))
            :: else
            fi
          }
       :: else ->
          assert(stack[p] == 0); /* the block header may be written */
#ifdef RANGE_TOO_SHORT
          stack[p] = (water[p] > 1 -> 1 + d : 0); at[p] = 0; end[p] = water[p] - 1;
#else
          /* A pool that never had a root has an empty range. */
          stack[p] = (water[p] > 0 -> 1 + d : 0); at[p] = 0; end[p] = water[p];
#endif
          close_pool(p)
       fi
    :: else
    fi
  }
  release(d)
}

/* A step of the marker that has the pool on its stack. */
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

/* The end of a cycle, with a minor collection: unmarked values are garbage. Slots of deleted roots
   count, because a compaction also updates them. */
inline end_cycle() {
  assert(!field || marked);
  v = (IN_SLOTS -> VALUE : LINK);
  assert(v != VALUE || marked || torn_down);
  minor_collection();
  for (p : 1 .. POOLS) {
    /* Some minor scan of this cycle has looked at each pool with deletes, maybe while marking. */
    if
#ifndef NO_DRAIN
    :: !torn_down && ANY_SENT(p) -> take(p)
#endif
    :: else
    fi;
    if
#ifndef NO_DRAIN
    :: !torn_down && MAY_FREE(p) && RIPE(p) -> free_waiting(p)
#endif
    :: else
    fi;
    fresh[p] = false
  }
  live = marked;
  marked = false;
  marking = false;
  darkened[0] = false;
  darkened[1] = false
}

/* ---- teardown ---- */

inline tear_down(d) {
  retire(d);
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && owner[p] == d ->
       open[p] = false;
       for (i : 0 .. SLOTS - 1) {
         if
#ifndef TEARDOWN_KEEPS_YOUNG
         :: SLOT(p, i) == YOUNG_VALUE && closed[p] && i < water[p] -> SLOT(p, i) = OTHER
#endif
         :: else
         fi
       }
    :: else
    fi
  }
  release(d)
}

/* The next cycle after teardown starts: our roots are not darkened any more. */
inline give_back_the_rest() {
  for (p : 1 .. POOLS) {
    if
    :: mapped[p] && closed[p] -> open_pool(p)
    :: else
    fi
  }
  for (p : 1 .. POOLS) { harvest(p, SENT); harvest(p, BATCHED); harvest(p, WAITS) }
  tear_down(0)
}

#define CLEAR_ALL p = 0; i = 0; v = 0; d = 0; n = 0; q = 0
#define CLEAR d_step { CLEAR_ALL }

init {
  d_step {
    mapped[1] = true; owner[1] = 0; open[1] = true; kind[1] = FILED;
#if !ONE_POOL
    mapped[2] = true; owner[2] = OWNER2; open[2] = true; kind[2] = EMPTY;
#endif
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
       :: current[d] != 0 && !FULL(current[d]) -> create()
       :: current[d] == 0 || FULL(current[d]) -> next_pool()
       :: pick_own_pool(); pick_root();
          if
          :: p != 0 -> delete()
          :: p != 0 -> modify()
          :: p == 0
          fi
       :: modify_field()
       :: drain(d)
#if BATCHES
       :: pick_own_pool();
          if
          :: p != 0 -> flush(p)
          :: else
          fi
#endif
       :: retire(d);                       /* boxroot_trim */
          for (p : 1 .. POOLS) {
            if
            :: mapped[p] && owner[p] == d && kind[p] == EMPTY -> look(p)
            :: else
            fi
          }
          release(d)
       :: d == 1 && FINISHED -> end_domain()
       fi;
       CLEAR }
  :: atomic { true ->                      /* bxr_remote_delete: by others, without a lock, in a scan */
       if
       :: mapped[1] -> p = 1
       :: mapped[2] -> p = 2
       :: true
       fi;
       pick_root();
       if
       :: p != 0 -> GONE(p, i) = SENT
       :: else
       fi;
       CLEAR }
  :: atomic { OWNER2 == 1 && !runs[1] && !orphan && stack[1] != 2 && stack[2] != 2 && !torn_down ->
       /* A new domain takes the record of the domain that has ended. It has nothing to mark. */
       runs[1] = true; darkened[1] = marking }
  :: atomic { OWNER2 == 1 && orphan && RUNS(0) && stack[1] != 2 && stack[2] != 2 && !torn_down ->
       /* The same, but the pools were not adopted yet: the new domain also takes them in its first
          minor scan. */
       runs[1] = true; darkened[1] = marking; orphan = false;
       d_step { minor_collection(); CLEAR_ALL } }
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
       torn_down = true; tear_down(0); CLEAR_ALL }
  :: atomic { torn_down && !marking -> give_back_the_rest(); break }
#endif
  od
}
