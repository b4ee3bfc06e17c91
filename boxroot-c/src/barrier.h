/* SPDX-License-Identifier: MIT */
/* The marking state of one pool (OCaml 5).

   At the start of a major cycle a pool is handed over to the collector's marker, which visits its slots
   in the slices of the cycle (scan.h). The marker must see a snapshot of the start of the cycle:

   snapshot: If a slot was handed over and holds a block of the major heap, the block stays there until the marker
      has visited the slot. The barrier darkens nothing. Instead, a delete of such a root is remembered, and
      its slot is freed later (waiting.h); modify takes another slot.
      Immediates and young values are not in the snapshot, because the minor heap was empty when it was taken.
      Their slots are freed at once.
   closed: The fast paths pay nothing for this. Handing a pool over closes it, and then delete and modify fall
      into the slow paths, which ask bxr_barrier_keeps.
   both-ways: There are two ways into the fast paths, and closing shuts both: the pool's fast_owner, and the field
      uncounted of the owner's record. The second matters because a pool may be current when it is handed over:
      hooks of the collector may create roots between the minor scan and the start of the cycle.
   A pool is opened again in two cases.
   reopen-visited: The cycle in which it was handed over has ended, or the domain, whose marker it is, has
      nothing left to mark. Then the marker has visited the pool: it is idle.
   reopen-empty: The pool is empty, so no slot holds anything that must stay. It is reopened, but becomes idle
      only by reopen-visited.
   on-a-stack: A pool that is not idle may be on a mark stack: it is not unmapped, and its block header does not change.
   finished: A domain that ends first makes its marker visit all that is left, so that all its pools are idle
      when another domain adopts them: no marker visits pools on another thread than their owner's.

   All functions are called by the pool's owner, under its lock. bxr_barrier_keeps and bxr_barrier_update
   need a running OCaml, too. */
#ifndef BXR_BARRIER_H
#define BXR_BARRIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Makes the slots look like an unmarked block, closes the pool, and returns the block's value. Called in
   a scan that darkens. */
uintptr_t bxr_barrier_hand_over(struct bxr_pool *pool);

/* Opens the pool. To be called when the marker has visited it (reopen-visited). */
void bxr_barrier_end(struct bxr_pool *pool);

/* Whether the slot must stay as it is: the marker may still have to visit its value (snapshot). */
bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r);

/* Opens the pool again if that is possible now, and returns its state then. The owner may unmap an empty
   pool that is BXR_IDLE. */
enum bxr_marking bxr_barrier_update(struct bxr_pool *pool);

/* At teardown: overwrites the young values in the pool. They are not updated any more, but the marker may
   still visit the pool. By then the minor heap may have moved, and the marker would take them for old blocks. */
void bxr_barrier_forget_young_values(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
