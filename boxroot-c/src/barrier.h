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
   reopen-visited: The cycle in which it was handed over has ended, or the domain
      that handed it over still owns it and has nothing left to mark. Then the marker has visited the pool: it
      is idle.
   reopen-empty: The pool is empty, so no slot holds anything that must stay. It is reopened, but becomes idle
      only by reopen-visited.
   on-a-stack: A pool that is not idle may be on a mark stack: it is not unmapped, and its block header does not change.
   foreign: The marker of a domain that has ended may still visit the pools that the domain handed over. These are
      foreign until the cycle has ended. Meanwhile only minor scans and teardown write to their slots, because
      that marker may run on another thread.

   All functions are called by the pool's owner, under its lock. bxr_barrier_keeps and bxr_barrier_update
   need a running OCaml, too. */
#ifndef BXR_BARRIER_H
#define BXR_BARRIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Makes the slots look like an unmarked block, closes the pool, and returns the block's value. Called in
   a scan that darkens. */
uintptr_t bxr_barrier_hand_over(struct bxr_pool *pool);

/* Opens the pool. To be called when the cycle in which it was handed over has ended: all mark stacks are
   empty. */
void bxr_barrier_end(struct bxr_pool *pool);

/* Whether the slot must stay as it is: the marker may still have to visit its value (snapshot). */
bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r);

/* Opens the pool again if that is possible now, and returns its state then. The owner may allocate
   in a pool that is not BXR_FOREIGN, and unmap an empty one that is BXR_IDLE. */
enum bxr_marking bxr_barrier_update(struct bxr_pool *pool);

/* To be called when the owner's domain ends: its marker may not have visited the pool yet. */
void bxr_barrier_make_foreign(struct bxr_pool *pool);

/* At teardown: overwrites the young values in the pool. They are not updated any more, but the marker may
   still visit the pool. By then the minor heap may have moved, and the marker would take them for old blocks. */
void bxr_barrier_forget_young_values(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
