/* SPDX-License-Identifier: MIT */
/* Deletes that wait for the marker (OCaml 5): deletes of roots whose value must stay in its slot,
   because the marker may still have to visit it (barrier.h).

   begin: If the owner deletes the root, outside scans, its record collects the delete (remote.h),
      and the slot begins to wait before the next minor scan at the latest. After any other delete,
      the slot begins to wait when the owner takes the delete from the drain list (remote.c).
   ripe: A slot that waits may be freed as soon as its snapshot has been visited, or a later
      snapshot was taken: a root that was deleted before a hand-over is not in the new snapshot. So,
      when the pool is handed over again, the slot may become a link at any time, even while the
      marker visits the pool: a link looks like an immediate, and the marker skips it. A pool with
      such slots is *ripe*.
   all-alike: All waiting slots of a pool are ripe, or none are. Before another slot begins to wait
      in a pool that has been ripe since an earlier cycle, the others are freed.
   emptied: No slot waits forever. A pool in which no root is left is not handed over again, but
      emptied at once. After the next hand-over every other pool that waits is ripe. Each minor scan
      frees a share of the pools, the oldest first. Creates that look for slots, and deletes
      (all-alike), free others, so that no new memory is mapped while old memory is ripe. A cycle
      with only the minor scans of its own end was forced, or had almost nothing to collect. After
      it, the slots of ripe pools are freed before the next hand-over, and in each minor scan of the
      next cycle. This frees a share and a few hundred pools, or all pools if the program does not
      run meanwhile, so that Gc.full_major finds all garbage.
   share: Unless collections are forced, a minor scan frees no more than a share, so that no pause
      is long. A share is a number of pools. Looking at a pool, or freeing one that becomes empty at
      once, takes some cache misses; freeing all slots of one takes a few microseconds.

   Called by the owner, under its lock, or in its scans. */
#ifndef BXR_WAITING_H
#define BXR_WAITING_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* Slots of one of the domain's pools, given as bits of word `word`, wait from now on. Returns their
   number. */
uint64_t bxr_waiting_add(struct bxr_pool *pool, size_t word, uint64_t bits);

/* Whether it is certain at a glance that r must wait if the domain deletes it: r is old, and in one
   of the domain's closed pools. So a delete among many old roots touches one cache line of the
   pool, and the processor goes on with the program. If the marker has visited the pool since the
   last scan, r waits a little longer than it must. */
static inline bool bxr_waiting_is_certain(struct bxr_domain_head *self, boxroot r) {
  struct bxr_pool *pool = bxr_pool_of_root(r);
  return bxr_peek(&pool->head.fast_owner) == bxr_owner_of_closed(self) && !pool->head.young &&
         pool->kind != BXR_CURRENT &&
         ((struct bxr_domain *)self)->marking; /* not bxr_no_domain, which has no pools */
}

/* Frees the slots of ripe pools, the oldest first, in up to n pools. */
void bxr_waiting_free(struct bxr_domain *domain, size_t n);

/* If no root is left in the pool, which the marker has visited, frees its waiting slots, without
   touching them. Returns whether it did. */
bool bxr_waiting_empty(struct bxr_pool *pool);

/* How many of n waiting pools a minor scan looks at. If no other pools join, forty scans look at
   3000 pools (six million slots), and thirteen scans at 300. */
static inline size_t bxr_waiting_share(size_t n) { return n / 16 + 16; }

/* More pools than can exist. */
#define BXR_ALL_POOLS (SIZE_MAX / 16)

#pragma GCC visibility pop

#endif
