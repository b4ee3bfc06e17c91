/* SPDX-License-Identifier: MIT */
/* The marking state of one pool (OCaml 5).

   At the start of a major cycle a pool is handed over to the collector's marker, which visits its slots
   in the slices of the cycle (scan.c). Marking is of a snapshot, of the beginning of the cycle:

   1. A slot that was handed over and holds a block of the major heap keeps it until the marker has visited
      it. Nothing is darkened: a delete of such a root is remembered, and its slot freed later, as if it
      were a remote one (remote.c); modify takes another slot. Immediates and young values are not in the
      snapshot, and their slots are freed at once: the minor heap was empty when it was taken.
   2. The fast paths pay nothing for this. Handing a pool over closes it, and then delete and modify fall
      into the slow paths, which ask bxr_barrier_keeps.
   3. There are two ways into the fast paths, and closing shuts both: fast_owner, and, of the owner's
      record, uncounted, for a pool may be handed over while it is current (hooks of the collector may
      create roots between the minor scan and the start of the cycle).
   4. A pool is opened again (a) when the cycle in which it was handed over has ended, or when the domain
      that handed it over, and still owns it, has nothing left to mark: the marker has visited it; it is
      idle then. Or (b) when it is empty: it held nothing that must stay; it is reopened, and idle only
      later.
   5. A pool that is not idle may be on a mark stack: it is not unmapped, and its block header not used.
   6. The marker of a domain that has ended may still visit its pools: these are foreign until the next
      cycle starts. No slot of theirs is written to, for that marker may run on another thread.

   All functions are called by the pool's owner, under its lock; keeps and state also need a running
   OCaml. */
#ifndef BXR_BARRIER_H
#define BXR_BARRIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Dresses the slots up as an unmarked block, whose value is the result, and closes the pool. In a scan
   that darkens. */
uintptr_t bxr_barrier_hand_over(struct bxr_pool *pool);

/* The cycle in which the pool was handed over has ended; all mark stacks are empty. */
void bxr_barrier_end(struct bxr_pool *pool);

/* Whether the slot must stay as it is: the marker may still have to visit its value (1). */
bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r);

/* Opens the pool again if that is possible now, and returns its state then. The owner may allocate
   in a pool that is not BXR_FOREIGN, and unmap an empty one that is BXR_IDLE. */
enum bxr_marking bxr_barrier_state(struct bxr_pool *pool);

/* The owner's domain ends: its marker may not have visited the pool yet. */
void bxr_barrier_make_foreign(struct bxr_pool *pool);

/* At teardown: young values in the pool are not updated any more, but the marker may still come by. By
   then the minor heap may have moved, and what was a young value would be taken for an old block. */
void bxr_barrier_forget_young_values(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
