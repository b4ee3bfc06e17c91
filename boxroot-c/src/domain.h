/* SPDX-License-Identifier: MIT */
/* The pools of one domain: choosing where to allocate, promotion, draining of remote
   deletes, and what happens to the pools when the domain ends.

   Unless said otherwise a function is called by the record's owner: the thread that
   holds the lock of the domain, or, for a root scan, the thread that the runtime scans
   with on the domain's behalf. */
#ifndef BXR_DOMAIN_H
#define BXR_DOMAIN_H

#include "pool.h"

#pragma GCC visibility push(hidden)

#define BXR_CLOSED ((void *)1) /* a runtime_state that no thread can have */

/* What statistics count per pool. */
struct bxr_census {
  size_t live_roots, pools[BXR_KINDS];
};

/* A domain's record, laid out by cache lines of 64 bytes: what create, modify and the fast deletes
   touch is on the first, with the little that the start of a scan looks at; the slow paths'
   lists come next; and what other threads write is on the last, so that remote deletes do
   not take the first from the owner's cache.

   Records are never unmapped: a remote delete may be about to push
   on one whose domain ended long ago. Each record is in the registry; a record without
   a domain is also on the stack of orphans (it may own pools) or of spares (it owns
   none).

   Invariants. A pool is young iff pool.epoch == head.epoch. While fast paths are open,
   every young pool other than head.current is in young or young_partial, every old pool
   other than parked in old or old_partial, by kind; young values are in young pools only.
   head.current is the no-pool record until the first create after a scan. */
struct bxr_domain {
  /* The owner's. */
  struct bxr_domain_head head;
  struct bxr_pool *parked; /* the current pool before the last scan, or NULL */
  bool scanning;           /* a root scan is running: everything is closed */
  _Alignas(64) struct bxr_link young, young_partial, old, old_partial, empty;
  struct bxr_batch outgoing;       /* deletes of other domains' roots, to be sent */
  size_t empty_count;
  size_t empty_low;                /* the least empty_count since the last bxr_domain_trim */
  char *region, *region_end;       /* mapped memory not yet carved into pools */
  uintptr_t *directory;            /* the pools handed over in this cycle (mark.h), or NULL */
  size_t directory_size;           /* in bytes */

  /* Written by the owner, read by anybody for statistics. Atomic, relaxed. */
  size_t pool_count;
  struct bxr_census census; /* as of the last major scan */
  uint64_t minor_scans, major_scans, longest_minor_scan, longest_major_scan;
  uint64_t deferred_deletes, barrier_hits, pools_adopted;

  /* Shared. */
  _Alignas(64) struct bxr_pool *drain;   /* pools with pending deletes; a lock-free stack */
  uint64_t merges;                       /* how often all pools moved to another record */
  struct bxr_domain *next_idle;          /* in the stack of orphans or of spares */
  struct bxr_domain *next_registered;    /* constant once registered */
};

/* What bxr_self points to when this thread must not use the fast paths. */
extern struct bxr_domain_head bxr_no_domain;

/* The record for a domain that has none: an orphan, a spare, or a new one. Its fast
   paths are closed. NULL if out of memory. */
struct bxr_domain *bxr_domain_obtain(void);
/* The same without orphans, for deletes: finalisers may run among the scans of a minor collection,
   and an orphan must be in its place when they begin. */
struct bxr_domain *bxr_domain_obtain_empty(void);

/* Opens the fast paths for the domain with this runtime state, or closes them. */
void bxr_domain_open(struct bxr_domain *domain, void *runtime_state);
void bxr_domain_close(struct bxr_domain *domain);

/* A pool with a free slot, made current. NULL if out of memory. */
struct bxr_pool *bxr_domain_next_pool(struct bxr_domain *domain);

/* Files a pool that is in no list by its use and its generation. */
void bxr_domain_file(struct bxr_domain *domain, struct bxr_pool *pool, uint32_t used);

/* Deletes r, which some pool of any domain holds, without touching its slot. Any
   thread. */
void bxr_domain_delete_remotely(boxroot r);

/* The same, by the owner of `self`, outside scans. Deletes of neighbouring slots are sent together,
   at the latest when `self` is flushed: at its next minor scan, or its end. */
void bxr_domain_delete_batched(struct bxr_domain *self, boxroot r);
void bxr_domain_flush(struct bxr_domain *self);

/* Frees the slots that were deleted remotely. */
void bxr_domain_drain(struct bxr_domain *domain);

/* All young pools become old. Nothing may be young any more. */
void bxr_domain_promote(struct bxr_domain *domain);

/* Returns the empty pools that were not needed since the last call to the system. */
void bxr_domain_trim(struct bxr_domain *domain);

/* Returns all empty pools to the system that the collector does not visit any more, and the others
   at the next bxr_domain_trim. The number of pools returned now. */
size_t bxr_domain_trim_all(struct bxr_domain *domain);

/* The current pool, or NULL. */
struct bxr_pool *bxr_domain_current(struct bxr_domain *domain);

/* Leaves the record, with its pools, to whoever adopts it. Its fast paths are closed. */
void bxr_domain_orphan(struct bxr_domain *domain);

/* True if there may be orphans. Any thread. */
bool bxr_domain_has_orphans(void);

/* Takes all orphans over, during a minor scan. `domain` may be NULL: then one of the
   orphans becomes the caller's record. Returns the caller's record, or NULL if there
   was none and no orphan. */
struct bxr_domain *bxr_domain_adopt(struct bxr_domain *domain);

/* Makes create, modify and local delete fall into the slow paths for good. */
void bxr_domain_disable(struct bxr_domain *domain);

/* Adds to one of the counters above. */
void bxr_domain_count(uint64_t *counter, uint64_t change);

/* Adds a pool to a census, and publishes a census of all the domain's pools. */
void bxr_census_add(struct bxr_census *census, struct bxr_pool *pool);
void bxr_domain_publish(struct bxr_domain *domain, struct bxr_census census);

/* Shuts the domain, and gives all memory back but pools that hold roots; nobody may be using the
   domain. Deletes remain safe. */
void bxr_domain_tear_down(struct bxr_domain *domain);

/* In the child of a fork: forgets remote deletes that other threads had begun. */
void bxr_domain_after_fork(struct bxr_domain *domain);

/* All records that were ever made: the first one, and next_registered. Any thread. */
struct bxr_domain *bxr_domain_registry(void);

/* Calls visit on every pool of the domain. */
void bxr_domain_each_pool(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                          void *context);

#pragma GCC visibility pop

#endif
