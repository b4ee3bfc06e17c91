/* SPDX-License-Identifier: MIT */
/* One pool: BXR_POOL_SIZE bytes of memory, aligned to their size, that hold slots for roots and the
   data to manage them. Unless said otherwise, functions are called by the pool's owner, under its
   lock. */
#ifndef BXR_POOL_H
#define BXR_POOL_H

#include "atomic.h"
#include "core.h"
#include "debug.h"

#pragma GCC visibility push(hidden)

/* A node of a circular doubly linked list. A list is a node that stands for both its ends. */
struct bxr_link {
  struct bxr_link *next, *prev;
};

/* The kind of a pool. Kind and generation (young or old) determine in which list of its owner the
   pool is filed. */
enum bxr_kind {
  BXR_CURRENT, /* the domain's current pool; in no list; countdown does not tell `used` */
  BXR_FULL,    /* fewer than BXR_PARTIAL_FREE free slots */
  BXR_PARTIAL, /* that many free slots or more, and at least one used */
  BXR_EMPTY    /* no slot used */
};
#define BXR_KINDS (BXR_EMPTY + 1)

/* The countdown of a pool whose deletes are not counted. */
#define BXR_NOT_COUNTED (INTPTR_MAX / 2)

/* The fast_owner of a closed pool. It is not the address of a record, but it still identifies the
   owner, in the first cache line. */
static inline struct bxr_domain_head *bxr_owner_of_closed(struct bxr_domain_head *owner) {
  return (struct bxr_domain_head *)((char *)owner + 1);
}

/* There is one bit for each word of the pool, so the number of a slot's bit is its offset in
   words. */
#define BXR_BITS_WORDS (BXR_POOL_SIZE / sizeof(value) / 64)

struct bxr_domain;

/* A pool's memory begins up to BXR_HEAD_OFFSETS bytes before this struct, and ends up to that many
   bytes after the last slot.

   Invariants, with `used` = slots that hold a root, including those whose delete is pending:
   - FULL: countdown == used - (BXR_SLOTS - BXR_PARTIAL_FREE) > 0.
   - PARTIAL: countdown == used > 0.
   - EMPTY: used == 0, high_water == 0.
   - CURRENT: countdown == INTPTR_MAX - length of `free`, or countdown <= BXR_NOT_COUNTED.
   - slots[0..high_water) were initialised: each holds a root's value or a link.
   - `free`, `aside`, and the owner's `free` if that is in this pool, list exactly the unused slots
     below high_water.
   - announced >= bits set in bxr_pool_pending. announced > 0 iff the pool is on a drain list, was
     taken from one but not yet looked at, or is held by a thread that is about to put it on a drain
     list (remote.c).
   - waiting == bits set in waiting_bits. waiting > 0 iff the pool is in its owner's list of waiting
     pools. */
struct bxr_pool {
  /* First cache line: the owner's. */
  struct bxr_pool_head head;
  union {
    struct bxr_link link; /* in a list of its owner */
    uintptr_t aside;      /* CURRENT: the free slots that the profile keeps for later (profile.h) */
  };
  uint32_t high_water;    /* slots at and above it were never used */
  uint8_t kind;           /* enum bxr_kind */
  bool closed;            /* the marker may still have to visit the pool (barrier.h) */
  bool waits_in_snapshot; /* some slot began to wait since the last hand-over */
  uint32_t waiting;       /* how many slots wait (waiting.h) */

  /* The second cache line begins with fields shared with threads that delete remotely. They are
     atomic, except next_to_drain. */
  _Alignas(64) struct bxr_domain *owner; /* remote deletes put the pool on its drain list */
  struct bxr_pool *next_to_drain;        /* written by the thread that may put the pool on a list */
  uint64_t announced;                    /* remote deletes begun and not yet drained */

  /* The owner's again. If roots are replaced at random, most deletes wait. So these bits are in the
     same page as the first cache line. */
  struct bxr_link waits;                 /* in its list of waiting pools */
  uint64_t waiting_bits[BXR_BITS_WORDS]; /* the slots that wait */

  /* Makes the slots look like an OCaml block to the marker (scan.h). */
  uintptr_t block_header;
  uintptr_t slots[]; /* BXR_SLOTS of them */
};

/* The bits of slots that were deleted remotely lie in front of struct bxr_pool, if it begins far
   enough from the start of the pool's memory, otherwise behind the last slot. In small pools they
   fit into the room that is left there anyway, because the struct's place varies. Large pools have
   extra room for them. */
#define BXR_BITS_SIZE (BXR_BITS_WORDS * sizeof(uint64_t))
#define BXR_ROOM                                                                                   \
  (BXR_BITS_SIZE <= 256 ? (uintptr_t)BXR_HEAD_OFFSETS : BXR_HEAD_OFFSETS + BXR_BITS_SIZE)

/* All pools have the same number of slots, wherever their heads are. */
#define BXR_SLOTS                                                                                  \
  ((uint32_t)((BXR_POOL_SIZE - BXR_ROOM - offsetof(struct bxr_pool, slots)) / sizeof(value)))

/* A pool with at least this many free slots is partial, and create uses it again. With a lower
   number such pools are found sooner, but more of them are visited, and more old roots become
   young. In no benchmark did 10, 25 or 75 percent differ from 50. */
#define BXR_PARTIAL_FREE (BXR_SLOTS / 2)

static inline struct bxr_pool *bxr_pool_of_head(struct bxr_pool_head *head) {
  return (struct bxr_pool *)head;
}

/* The pool whose memory starts here. */
static inline struct bxr_pool *bxr_pool_from(uintptr_t start) {
  return bxr_pool_of_head(bxr_pool_at(start));
}

static inline struct bxr_pool *bxr_pool_of_root(boxroot r) {
  return bxr_pool_from(bxr_start_of(r));
}

/* The bits of the slots that were deleted remotely and are not drained yet, in the same order as
   those of the slots that wait. Shared, and atomic. */
static inline uint64_t *bxr_pool_pending(struct bxr_pool *pool) {
  uintptr_t in_front = (uintptr_t)pool & BXR_HEAD_OFFSETS;
  return in_front >= BXR_BITS_SIZE ? (uint64_t *)pool - BXR_BITS_WORDS
                                   : (uint64_t *)(pool->slots + BXR_SLOTS);
}

/* A delete as a batch; a batch's pool; and the index of a batch's word in the pool's bits. */
static inline struct bxr_batch bxr_batch_of(boxroot r) {
  uintptr_t word = (uintptr_t)r / sizeof(value);
  return (struct bxr_batch){word / 64 * 64 * sizeof(value), (uint64_t)1 << (word % 64)};
}
static inline struct bxr_pool *bxr_pool_of_batch(struct bxr_batch batch) {
  return bxr_pool_of_root((boxroot)batch.start);
}
static inline size_t bxr_batch_word(struct bxr_batch batch) {
  return (batch.start & (BXR_POOL_SIZE - 1)) / (64 * sizeof(value));
}

/* The number of bits that are set, which is 1 or more. If the processor may lack an instruction for
   counting, the compiler makes a call. Most deletes come alone, and need no call. */
static inline uint64_t bxr_count_bits(uint64_t bits) {
  return (bits & (bits - 1)) == 0 ? 1 : (uint64_t)__builtin_popcountll(bits);
}

/* The start of the pool's memory. */
static inline uintptr_t bxr_pool_start(struct bxr_pool *pool) {
  return bxr_start_of((boxroot)pool); /* of any address in it */
}

/* Turns zeroed memory into an empty pool. */
void bxr_pool_init(struct bxr_pool *pool, struct bxr_domain *owner);

/* Sets and reads the owner. It is set only while the pool is open. Any thread may read it, but it
   may change at any time unless the reader is the owner. */
void bxr_pool_set_owner(struct bxr_pool *pool, struct bxr_domain *owner);
static inline struct bxr_domain *bxr_pool_owner(struct bxr_pool *pool) {
  return bxr_load(&pool->owner);
}

/* The beginning of the owner's record, the part that the fast paths use. */
static inline struct bxr_domain_head *bxr_pool_owner_head(struct bxr_pool *pool) {
  return (struct bxr_domain_head *)bxr_pool_owner(pool);
}

/* The link to a slot, or to none (NULL), and back. */
static inline uintptr_t bxr_link_to(boxroot r) { return (uintptr_t)r + 1; }
static inline boxroot bxr_linked(uintptr_t link) { return (boxroot)(link - 1); }

/* The free slot after this one, or NULL. */
static inline boxroot bxr_next_free(boxroot r) { return bxr_linked(*bxr_slot(r)); }

/* The place of the last link of a free list within one pool. Adds the number of its slots to
   *length. Takes linear time. */
uintptr_t *bxr_free_list_end(uintptr_t *list, uint32_t *length);

/* If the pool's free list is empty, puts fresh slots on it. Returns whether it has a slot now. */
bool bxr_pool_has_free_slot(struct bxr_pool *pool);

/* Puts a root's slot on the pool's free list. Returns true if the pool must be filed again. */
bool bxr_pool_free(struct bxr_pool *pool, boxroot r);

/* The number of used slots. For BXR_CURRENT, takes time linear in the number of free slots. */
uint32_t bxr_pool_used(struct bxr_pool *pool);

/* The number of slots that were deleted remotely and are not free yet. Any thread. */
uint64_t bxr_pool_posted(struct bxr_pool *pool);

/* Makes the pool, which is in no list, full, partial or empty: it has this many used slots. */
void bxr_pool_set_kind(struct bxr_pool *pool, uint32_t used);

void bxr_list_init(struct bxr_link *list);
bool bxr_list_is_empty(struct bxr_link const *list);
/* Puts an element after the element `before`; or at the start, if `before` is a list. */
void bxr_list_insert(struct bxr_link *before, struct bxr_link *element);
void bxr_list_unlink(struct bxr_link *element);
/* Moves all elements of `from` to the place after `before`, in constant time. */
void bxr_list_splice(struct bxr_link *before, struct bxr_link *from);

/* Lists by generation and kind, through `link`. */
void bxr_list_push(struct bxr_link *list, struct bxr_pool *pool);
void bxr_list_remove(struct bxr_pool *pool);
struct bxr_pool *bxr_list_pool(struct bxr_link *link);

#pragma GCC visibility pop

#endif
