/* SPDX-License-Identifier: MIT */
/* One pool: BXR_POOL_SIZE bytes of memory, aligned to their size, that hold slots for
   roots, and what is needed to manage them. Everything here but bxr_pool_announce and
   bxr_pool_post is called by the pool's owner, under its lock. */
#ifndef BXR_POOL_H
#define BXR_POOL_H

#include "../include/boxroot.h"

#pragma GCC visibility push(hidden)

/* Negative controls: -DBXR_WITHOUT=n breaks one rule, and `make test-negative` proves that a test
   fails then. The rules are numbered in DESIGN.md, "Negative controls". */
#ifndef BXR_WITHOUT
#define BXR_WITHOUT 0
#endif

/* A node of a circular doubly linked list; a list is a node that stands for its ends. */
struct bxr_link {
  struct bxr_link *next, *prev;
};

/* Where a pool is filed, besides its generation (which its epoch tells). */
enum bxr_kind {
  BXR_CURRENT, /* the domain's current or parked pool; in no list; used is not counted */
  BXR_FULL,    /* fewer than BXR_PARTIAL_FREE free slots */
  BXR_PARTIAL,   /* BXR_PARTIAL_FREE free slots or more, and at least one used */
  BXR_EMPTY    /* no slot used */
};
#define BXR_KINDS (BXR_EMPTY + 1)

/* What a major collector's marker has to do with the pool (see mark.h). The last two are closed:
   nobody's for the fast paths. */
enum bxr_marking {
  BXR_IDLE,    /* the marker does not visit it any more */
  BXR_REOPENED,      /* the marker may visit it, but whatever it can find there was darkened */
  BXR_ACTIVE,        /* by its owner, in this cycle */
  BXR_FOREIGN /* by a domain that has ended; until the next cycle */
};

/* One bit for each word of the pool, so that a slot's bit is its offset in words. */
#define BXR_PENDING_WORDS (BXR_POOL_SIZE / sizeof(value) / 64)

struct bxr_domain;

/* Invariants, with `used` = slots that hold a root, deleted-but-pending ones included:
     FULL    countdown == used - (BXR_SLOTS - BXR_PARTIAL_FREE) > 0
     ROOMY   countdown == used > 0
     EMPTY   used == 0, high_water == 0
     slots[0..high_water) were initialised: each holds a root's value or a link
     `free` lists exactly the unused slots below high_water
     announced >= bits set in pending; announced > 0 iff the pool is on a drain list, or
     somebody is about to put it on one */
struct bxr_pool {
  /* First cache line: the owner's. */
  struct bxr_pool_head head;
  struct bxr_link link;
  uint32_t high_water; /* the high-water mark */
  uint32_t undarkened; /* BXR_ACTIVE: only slots below this may hold values not yet darkened */
  uint16_t kind;       /* enum bxr_kind */
  uint16_t marking;    /* enum bxr_marking */

  /* The rest of the header is shared with threads that delete remotely. Atomic. */
  _Alignas(64) struct bxr_domain *owner; /* on whose drain list remote deletes go */
  struct bxr_pool *next_to_drain;        /* of whoever holds the pool's place in a list */
  uint64_t announced;                    /* remote deletes begun and not yet drained */
  uint64_t pending[BXR_PENDING_WORDS];   /* slots deleted remotely */

  /* So that the slots can pass for an OCaml block. */
  uintptr_t block_header;
  uintptr_t slots[]; /* BXR_SLOTS of them */
};

#define BXR_SLOTS ((uint32_t)((BXR_POOL_SIZE - offsetof(struct bxr_pool, slots)) / sizeof(value)))

/* Free slots that make a pool worth allocating from again. A lower threshold finds
   room sooner but visits more pools, and makes more old roots young (docs/tuning.md). */
#ifndef BXR_PARTIAL_PERCENT
#define BXR_PARTIAL_PERCENT 50
#endif
#define BXR_PARTIAL_FREE (BXR_SLOTS * BXR_PARTIAL_PERCENT / 100)

static inline struct bxr_pool *bxr_pool_of_head(struct bxr_pool_head *head) {
  return (struct bxr_pool *)head;
}

/* Makes an empty pool of zeroed memory. */
void bxr_pool_init(struct bxr_pool *pool, struct bxr_domain *owner);

/* Changes the owner. Sequentially consistent: see DESIGN.md, argument 5. */
void bxr_pool_set_owner(struct bxr_pool *pool, struct bxr_domain *owner);
static inline struct bxr_domain *bxr_pool_owner(struct bxr_pool *pool) {
  return __atomic_load_n(&pool->owner, __ATOMIC_SEQ_CST);
}

/* Puts fresh slots on the free list, which is empty. False if there are none left. */
bool bxr_pool_extend(struct bxr_pool *pool);

/* Frees a slot, and counts it down. Darkens its value first if need be. */
void bxr_pool_free(struct bxr_pool *pool, boxroot r);

/* The number of used slots. Linear in the length of the free list for BXR_CURRENT. */
uint32_t bxr_pool_used(struct bxr_pool *pool);

/* Slots of one pool that are to be deleted remotely: bits of one of its pending words. */
struct bxr_batch {
  struct bxr_pool *pool;
  size_t word;
  uint64_t bits; /* 0: none */
};

static inline struct bxr_batch bxr_batch_of(boxroot r) {
  size_t word = ((uintptr_t)r & (BXR_POOL_SIZE - 1)) / sizeof(value);
  return (struct bxr_batch){bxr_pool_of_head(bxr_pool_of(r)), word / 64, (uint64_t)1 << (word % 64)};
}

/* A remote delete, in two steps. Announce returns true if the caller must now put the
   pool on the drain list of its owner; mark is the caller's last access to the pool.
   Any thread. */
bool bxr_pool_announce(struct bxr_batch batch);
void bxr_pool_post(struct bxr_batch batch);

/* Frees the slots marked so far. True if announced deletes remain to be marked, and
   the pool must go back on a drain list. *freed grows by the number of slots freed. */
bool bxr_pool_harvest(struct bxr_pool *pool, uint64_t *freed);

/* In the child of a fork: makes `announced` agree with `pending`, for deletes that
   other threads had begun. True if the pool must go on a drain list. */
bool bxr_pool_forget_unmarked(struct bxr_pool *pool);

void bxr_list_init(struct bxr_link *list);
bool bxr_list_is_empty(struct bxr_link const *list);
void bxr_list_push(struct bxr_link *list, struct bxr_pool *pool);
void bxr_list_remove(struct bxr_pool *pool);
/* Moves all of `from` in front of `to`, in constant time. */
void bxr_list_splice(struct bxr_link *to, struct bxr_link *from);
struct bxr_pool *bxr_list_pool(struct bxr_link *link);

#pragma GCC visibility pop

#endif
