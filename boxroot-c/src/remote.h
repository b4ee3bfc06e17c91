/* SPDX-License-Identifier: MIT */
/* Remote deletes: by a thread that is not the owner of the root's pool, and by the owner inside its
   own root scan. The slot is left as it is. When the owner drains, it frees the slot, or makes it
   wait if the marker may still have to visit it (waiting.h). The top of remote.c argues that this
   is correct. */
#ifndef BXR_REMOTE_H
#define BXR_REMOTE_H

#include "waiting.h"

#pragma GCC visibility push(hidden)

/* Deletes r, a root of any domain, without touching its slot. Any thread. */
void bxr_remote_delete(boxroot r);

/* Collects the delete of r in `self`. r is a root of another domain, or a root of this one whose
   slot must wait. Called by the owner of `self`, outside scans. Successive deletes in the same 64
   neighbouring slots are one batch. */
void bxr_remote_collect(struct bxr_domain *self, boxroot r);

/* Sends the batches collected in `self` to the owners of the pools. In pools of `self`, the slots
   begin to wait instead. Called when there are BXR_BATCHES batches, at the domain's next minor
   scan, at its end, at teardown, for statistics, and by boxroot_trim. */
void bxr_remote_flush(struct bxr_domain *self);

/* Frees slots of the domain's pools that were deleted remotely or that wait, unless the marker may
   still have to visit them. Does so in a share of the pools (waiting.h), and in n more. Called by
   the owner. */
void bxr_remote_drain_more(struct bxr_domain *domain, size_t n);

static inline void bxr_remote_drain(struct bxr_domain *domain) { bxr_remote_drain_more(domain, 0); }

static inline void bxr_remote_drain_all(struct bxr_domain *domain) {
  bxr_remote_drain_more(domain, BXR_ALL_POOLS);
}

/* Frees such slots in only a few pools, because a create waits for this. */
void bxr_remote_drain_a_few(struct bxr_domain *domain);

/* To be called when the domain ends: puts pools that it took from its drain list back there. */
void bxr_remote_put_back(struct bxr_domain *domain);

/* To be called after all pools of the record `from` were given to another owner: pushes the pools
   of its drain list on their owner's list, and makes pushes that are under way notice the change.
   Called by the adopter, to which the record belongs. */
void bxr_remote_forward(struct bxr_domain *from);

/* To be called in the child of a fork: forgets remote deletes that other threads had announced but
   not posted. Called by the owner of the record, or if no other domain is left. */
void bxr_remote_after_fork(struct bxr_domain *domain);

/* The steps of a delete, for tests. bxr_remote_announce returns true if the caller must push the
   pool next. bxr_remote_post is the last access to the pool. */
bool bxr_remote_announce(struct bxr_batch batch);
void bxr_remote_post(struct bxr_batch batch);

#pragma GCC visibility pop

#endif
