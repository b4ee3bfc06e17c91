/* SPDX-License-Identifier: MIT */
/* The marking state of one pool (OCaml 5).

   At the start of a major cycle a pool is handed over to the collector's marker, which visits its slots
   in the slices of the cycle (scan.c). Marking is of a snapshot, of the beginning of the cycle:

   1. The value that a handed-over slot holds must be darkened before it is overwritten: the
      *deletion barrier*. Values in slots that were taken since are not in the snapshot.
   2. The fast paths pay nothing for this. Handing a pool over closes it, and then delete and modify fall
      into the slow paths, which call bxr_barrier_before_overwrite.
   3. There are two ways into the fast paths, and closing shuts both: fast_owner, and, of the owner's
      record, uncounted, for a pool may be handed over while it is current (hooks of the collector may
      create roots between the minor scan and the start of the cycle).
   4. A pool is opened again (a) when the marking of the cycle in which it was handed over has ended, or
      when the domain that handed it over, and still owns it, has nothing left to mark: the marker has
      visited it; it is idle then. (After the end of the cycle nothing may be darkened: at the start of
      the next one a compaction may run finalisers, and there a marked block is one that has moved.) Or
      (b) when all of its snapshot has been darkened by the barrier, which does some more with each
      delete: it is reopened, and idle only later. An empty pool is of that kind: each of its roots
      passed the barrier.
   5. A pool that is not idle may be on a mark stack: it is not unmapped, and its block header not used.
   6. The marker of a domain that has ended may still visit its pools: these are foreign until the next
      cycle starts. Nothing is created in them, for that marker may run on another thread.

   7. Nothing is darkened in a minor collection after the owner's roots were scanned, where hooks and
      finalisers may run: values were just promoted, and their blocks may not be complete (the header in
      front of an infix pointer is copied late, up to OCaml 5.4). A delete that comes there, in a closed pool, is a remote
      one, and modify takes another slot (bxr_domain_must_wait). What was deleted remotely is freed at the
      beginning of the owner's minor scan, which finds each value where it was before, or later on.

   All functions are called by the pool's owner, under its lock; before_overwrite and state also need
   a running OCaml. */
#ifndef BXR_BARRIER_H
#define BXR_BARRIER_H

#include "pool.h"

#pragma GCC visibility push(hidden)

/* Dresses the slots up as an unmarked block, whose value is the result, and closes the pool. In a scan
   that darkens. */
uintptr_t bxr_barrier_hand_over(struct bxr_pool *pool);

/* The cycle in which the pool was handed over has ended; all mark stacks are empty. */
void bxr_barrier_end(struct bxr_pool *pool);

/* Before a slot is overwritten (7: not in a minor collection after the scan): darkens its value if need be. True if it did. */
bool bxr_barrier_before_overwrite(struct bxr_pool *pool, boxroot r);

/* Opens the pool again if that is possible now, and returns its state then. The owner may allocate
   in a pool that is not BXR_FOREIGN, and unmap an empty one that is BXR_IDLE. */
enum bxr_marking bxr_barrier_state(struct bxr_pool *pool);

/* The owner's domain ends: its marker may not have visited the pool yet. */
void bxr_barrier_make_foreign(struct bxr_pool *pool);

/* At teardown: young values in the pool are not updated any more, but the marker may still come by. By then the minor
   heap may have moved, and what was a young value would be taken for an old block. */
void bxr_barrier_forget_young_values(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
