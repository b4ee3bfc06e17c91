/* SPDX-License-Identifier: MIT */
/* Major marking without a pause: at the start of a major cycle a domain's pools are handed
   over to the collector's own marker, which visits them in its slices.

   The word before the slots of each pool is made to look like the header of an unmarked
   block; a directory, one such block per domain, has the pools as its fields; and the
   directory is darkened like any root. The marker only looks at the header's colour and tag,
   so it never learns that the memory is not OCaml's; the sweeper never sees it.

   Marking sees a snapshot of the beginning of the cycle, so a value that a handed-over slot
   holds must be darkened before it is overwritten. Pools that were handed over are closed to
   the fast paths; the slow paths darken that value, and some more of the pool, so that a pool
   with many deletes is soon open again. It is also when the domain has finished marking. Values
   that are created meanwhile are not in the snapshot, and need nothing. */
#ifndef BXR_MARK_H
#define BXR_MARK_H

#include "domain.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Starts a major cycle for the domain's roots: hands its pools over, or, if they are few or
   there is no memory for a directory, lets the caller scan them. All mark stacks are empty:
   the only moment when memory of the last cycle may be unmapped or used for something else. */
bool bxr_mark_hand_over(struct bxr_domain *domain, struct bxr_action action);

/* After teardown, when a major cycle starts and all mark stacks are empty: the marker does not come by
   any more, and the memory of the directory is given back. */
void bxr_mark_end(struct bxr_domain *domain);

/* Before the owner overwrites a slot: darkens the slot's value if need be. */
void bxr_mark_before_overwrite(struct bxr_pool *pool, boxroot r);

/* Re-opens the pool if that is possible now, and returns what it is then. The owner may allocate
   in a pool that is not BXR_FOREIGN, and unmap an empty one that is BXR_IDLE. */
enum bxr_marking bxr_mark_state(struct bxr_pool *pool);

/* When the owner's domain ends: its marker may not have visited the pool yet. */
void bxr_mark_make_foreign(struct bxr_pool *pool);

#pragma GCC visibility pop

#endif
