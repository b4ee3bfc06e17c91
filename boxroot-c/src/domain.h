/* SPDX-License-Identifier: MIT */
/* The record of one domain, and its pools: filing them, choosing one to allocate from, promotion,
   trimming.

   Unless said otherwise, a function is called by the record's owner: the thread that holds the
   domain's lock, or in a root scan, the thread on which the runtime scans for the domain. */
#ifndef BXR_DOMAIN_H
#define BXR_DOMAIN_H

#include "pool.h"

#pragma GCC visibility push(hidden)

#define BXR_CLOSED ((void *)1) /* a runtime_state that equals no thread's Caml_state */

/* The statistics that are counted pool by pool. */
struct bxr_census {
  size_t live_roots, waiting_deletes, pools[BXR_KINDS];
};

/* The largest number of listed slots. */
enum { BXR_LISTED = 128 };

/* After a minor scan the current pool is old, and stays old at first. Its few slots that may hold
   young values are listed, so that the next minor scan visits only these:

   1. Create takes slots from head.free, which is refilled from the pool's free list, a few slots at
      a time. These are listed.
   2. The pool is not head.uncounted. So deletes put slots on the pool's free list.
   3. Because the pool is old, modify stores a young value only through its slow path, which lists
      the slot.
   4. If too many slots would be listed, the pool becomes young. */
struct bxr_listed {
  uint32_t count; /* of slots; 0: the current pool is not listed */
  boxroot slots[BXR_LISTED];
};

/* The number of creates if it has not been drawn yet. */
#define BXR_UNDRAWN UINT32_MAX

/* The work that marking pools adds to the collector's work (scan.c). */
struct bxr_pacing {
  size_t words;    /* of the pools that were handed over in this cycle */
  size_t carried;  /* left over from forced cycles */
  size_t scans;    /* minor scans in this cycle */
  size_t expected; /* minor scans in the last cycle that was not short */
};

/* The largest number of batches of deletes that a record collects (remote.h). */
enum { BXR_BATCHES = 128 };

/* A domain's record, laid out by cache lines of 64 bytes. The first has the fields that create,
   modify and the fast deletes touch, and the few that the start of a scan reads. The lists of the
   slow paths come next. The last has the fields that other threads write, so that remote deletes do
   not take the first line from the owner's cache.

   Records are never unmapped: a remote delete may be about to push a pool on the drain list of a
   record whose domain ended long ago. Each record is in the registry. A record without a domain is
   also on one of two stacks: on that of orphans if it may own pools, else on that of spares. A
   shadow is on neither stack: it belongs to one record with the same owner, and each operation on
   that record is then repeated on its shadow.

   Invariants. While fast paths are open, every pool other than `current` is in the list of its
   generation and kind. Only young pools, and listed slots of `current`, hold young values. If
   `current` is old and no slot of it is listed, then head.free is also empty: this is the state
   between a minor scan and the next create. head.free has only slots of `current`. head.uncounted
   is BXR_NO_POOL, or the start of `current`; in the latter case `current` is open and young. */
struct bxr_domain {
  /* The owner's. */
  struct bxr_domain_head head;
  struct bxr_pool *current; /* where create takes slots, or NULL */
  uint32_t batch_count;     /* how many batches are collected, besides head.outgoing */
  bool marking;             /* after the last scan, the marker still had to visit pools */
  _Alignas(64) struct bxr_link young, young_partial, old, old_partial, empty;
  bool scanning;             /* a root scan is running: every operation takes a slow path */
  bool after_short_cycle;    /* the last major cycle was forced: it had only its own minor scans */
  uint32_t darkened;         /* the last major cycle for which the roots need no more darkening */
  struct bxr_link waiting;   /* pools with deletes that wait for the marker, the oldest first */
  size_t waiting_count;      /* the number of these pools */
  struct bxr_pool *draining; /* pools taken from the drain list, not yet looked at */
  size_t empty_count;
  size_t empty_low;          /* the least empty_count since the last cycle began (release.h) */
  size_t unneeded;           /* how many empty pools the last cycle did not need */
  char *region, *region_end; /* mapped memory not yet carved into pools */
  uintptr_t *directory;      /* the pools handed over in this cycle (scan.c), or NULL */
  size_t directory_size;     /* in bytes */
  struct bxr_pacing pacing;
  struct bxr_listed listed;
  struct bxr_batch batches[BXR_BATCHES];

  /* Which creates are sampled (profile.h). */
  uint32_t until_sample;     /* creates before the next sample, or BXR_UNDRAWN (profile.h) */
  uint64_t random;           /* the state of the random numbers that draw it */
  struct bxr_domain *shadow; /* the record of the sampled roots, or NULL; atomic */
  bool is_shadow;            /* atomic */

  /* Written by the owner, read by any thread for statistics. Atomic. */
  size_t pool_count;
  struct bxr_census census; /* of the last major scan */
  uint64_t minor_scans, major_scans, longest_minor_scan, longest_major_scan;
  uint64_t deferred_deletes, barrier_hits, pools_adopted;

  /* Shared. */
  _Alignas(64) struct bxr_pool *drain; /* pools with pending deletes; a lock-free stack */
  uint64_t merges;                     /* how often all pools moved to another record */
  struct bxr_domain *next_idle;        /* in the stack of orphans or of spares */
  struct bxr_domain *next_registered;  /* constant once registered */
};

/* On average one create in this many is sampled (profile.h); 0: none. Atomic. */
extern uint32_t bxr_profile_rate;

/* bxr_self points to this on a thread that must not use the fast paths. */
extern struct bxr_domain_head bxr_no_domain;

/* ---- records ---- */

/* A new record. Its fast paths are closed. NULL if out of memory. Any thread. */
struct bxr_domain *bxr_domain_new(void);

/* The first of all records that were ever made; next_registered leads to the others. Any thread. */
struct bxr_domain *bxr_domain_registry(void);

/* Opens the fast paths for the domain with this runtime state, or closes them. */
void bxr_domain_open(struct bxr_domain *domain, void *runtime_state);
void bxr_domain_close(struct bxr_domain *domain);

/* Closes the fast paths for good, for the record and for each of its pools. The values stay in the
   slots. */
void bxr_domain_disable(struct bxr_domain *domain);

/* ---- pools ---- */

/* Refilling an empty head.free has three steps:
   1. bxr_domain_continue takes slots of the current pool. It returns false if there are none.
   2. bxr_domain_retire then files this pool.
   3. bxr_domain_choose takes the best other pool. It returns false if the system has no memory for
   a new one. alloc.c drains remote deletes between steps 2 and 3, not before: they may free a slot
   or two in a full pool, which would then stay current. */
bool bxr_domain_continue(struct bxr_domain *domain);
void bxr_domain_retire(struct bxr_domain *domain);
bool bxr_domain_choose(struct bxr_domain *domain);

/* Whether a young value may be stored in the slot: its pool is young, or it is the listed pool. In
   a listed pool, also lists the slot, or makes the pool young if too many are listed. */
bool bxr_domain_admit_young(struct bxr_domain *domain, boxroot r);

/* Deletes a root of one of the owner's pools. (bxr_domain_refile, which inline.h declares for the
   fast paths, is the second half of this function.) */
void bxr_domain_free(boxroot r);

/* Deletes the roots of one of the owner's pools whose bits are set. There are `count` of them. */
void bxr_domain_free_all(struct bxr_pool *pool, uint64_t const bits[BXR_BITS_WORDS],
                         uint64_t count);

/* Visits all young pools, and makes them old. After the visit neither they nor listed slots may
   hold a young value. The current pool's free slots are given back to it. */
void bxr_domain_promote(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                        void *context);

/* Calls `visit` on every pool of the domain, the empty ones last. `visit` may empty the pool. */
void bxr_domain_each_pool(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                          void *context);

/* The number of pools that are not empty. */
static inline size_t bxr_domain_pools_in_use(struct bxr_domain *domain) {
  return domain->pool_count - domain->empty_count;
}

/* Moves all pools of `from` to the domain. Young pools stay young, old ones stay old, and deletes
   that wait go on waiting. `from` has no current pool, and no other thread uses its lists. */
void bxr_domain_take_pools(struct bxr_domain *domain, struct bxr_domain *from);

/* Opens all pools, which the marker has visited. */
void bxr_domain_open_pools(struct bxr_domain *domain);

/* To be called when all mark stacks are empty: opens all pools, and unmaps the directory. */
void bxr_domain_end_marking(struct bxr_domain *domain);

/* ---- statistics ---- */

/* Adds to the number of the domain's pools. */
void bxr_domain_add_pools(struct bxr_domain *domain, size_t change);

/* Adds to one of the counters above. */
static inline void bxr_domain_count(uint64_t *counter, uint64_t change) {
  bxr_publish(counter, *counter + change);
}

/* Adds a pool to a census. A root whose delete waits is not counted. Remote deletes are ignored: to
   read them, a scan would touch one more cache line of the pool. */
void bxr_census_add(struct bxr_census *census, struct bxr_pool *pool);

/* A census of all the domain's pools. A root whose remote delete was announced does not count. */
struct bxr_census bxr_domain_census(struct bxr_domain *domain);

/* Publishes a census, for statistics. */
void bxr_domain_publish(struct bxr_domain *domain, struct bxr_census census);

#pragma GCC visibility pop

#endif
