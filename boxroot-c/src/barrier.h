/* SPDX-License-Identifier: MIT */
/* Pools that the marker visits (OCaml 5).

   At the start of a major cycle a pool is handed over to the collector's marker, which visits its
   slots in the slices of the cycle (scan.h). The marker must see a snapshot of the start of the
   cycle:

   snapshot: A slot that was handed over with a block of the major heap keeps that block until the
      marker has visited the slot. The barrier darkens nothing. Instead, a delete of such a root is
      remembered, and its slot is freed later (waiting.h); modify takes another slot. Immediates and
      young values are not in the snapshot, because the minor heap was empty when it was taken.
      Their slots are freed at once.
   closed: The fast paths pay nothing for this. Handing a pool over closes it, and then delete and
      modify fall into the slow paths, which ask bxr_barrier_keeps.
   both-ways: There are two ways into the fast paths, and closing shuts both: the pool's fast_owner,
      and the field uncounted of the owner's record. The second matters because the current pool may
      be young when it is handed over: hooks of the collector may create roots between the minor
      scan and the start of the cycle.
   visited: The pool is opened again when its domain has nothing left to mark. By then the marker
      has visited it, and the next cycle has not begun.
   on-a-stack: A closed pool may be on a mark stack: it is not unmapped, and its block header does
      not change.
   finished: Before a domain ends, it makes its marker visit all that is left, so that all its pools
      are open when another domain adopts them. So a marker visits pools only on their owner's
      thread.

   All functions are called by the pool's owner, under its lock. bxr_barrier_try_open also needs a
   running OCaml runtime. */
#ifndef BXR_BARRIER_H
#define BXR_BARRIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Makes the slots look like an unmarked block, closes the pool, and returns the block's value.
   Called in a scan that darkens. */
uintptr_t bxr_barrier_hand_over(struct bxr_domain_head *owner, struct bxr_pool *pool);

/* Opens the pool, which the marker has visited. */
void bxr_barrier_open(struct bxr_pool *pool);

/* Opens the pool if the marker has visited it (visited). Returns whether it is open. */
bool bxr_barrier_try_open(struct bxr_pool *pool);

/* Whether a slot of a closed pool must stay as it is: its value may be in the snapshot. */
bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r);

/* At teardown: overwrites the young values in the pool. They are not updated any more, but the
   marker may still visit the pool. By then the minor heap may have moved, and the marker would
   treat them as old blocks. */
void bxr_barrier_forget_young_values(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
