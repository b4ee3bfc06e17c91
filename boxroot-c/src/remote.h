/* SPDX-License-Identifier: MIT */
/* Remote deletes: by a thread that is not the owner of the root's pool, and by the owner inside its
   own root scan. The slot is left as it is; the owner frees it when it drains, or lets it wait if
   the marker may still have to visit it (waiting.h). The argument why this is right is at the top
   of remote.c. */
#ifndef BXR_REMOTE_H
#define BXR_REMOTE_H

#include "waiting.h"

#pragma GCC visibility push(hidden)

/* Deletes r, a root of any domain, without touching its slot. Any thread. */
void bxr_remote_delete(boxroot r);

/* Collects in `self` the delete of r, a root of another domain, or of this one if it must wait.
   Called by the owner of `self`, outside scans. Deletes in 64 neighbouring slots, one after the
   other, are one batch. */
void bxr_remote_collect(struct bxr_domain *self, boxroot r);

/* Sends the batches that are collected in `self`: to the owners of the pools, or, in pools of its
   own, the slots wait from now on. This is done when there are BXR_BATCHES of them, at the domain's
   next minor scan, at its end, at teardown, for statistics, and by boxroot_trim. */
void bxr_remote_flush(struct bxr_domain *self);

/* Frees slots of the domain's pools that were deleted remotely, or that wait, unless the marker may
   still have to visit them: in a share of the pools (waiting.h), and in n more. Called by the
   owner. */
void bxr_remote_drain_more(struct bxr_domain *domain, size_t n);

static inline void bxr_remote_drain(struct bxr_domain *domain) { bxr_remote_drain_more(domain, 0); }

static inline void bxr_remote_drain_all(struct bxr_domain *domain) {
  bxr_remote_drain_more(domain, BXR_ALL_POOLS);
}

/* Frees as many such slots as one create can wait for. */
void bxr_remote_drain_a_few(struct bxr_domain *domain);

/* When the domain ends: pools that it took from its drain list go back there. */
void bxr_remote_put_back(struct bxr_domain *domain);

/* After all pools of the record `from` were given to another owner: pushes the pools of its drain
   list on their owner's list, and makes pushes that are under way notice the change. Called by the
   adopter, to which the record belongs. */
void bxr_remote_forward(struct bxr_domain *from);

/* In the child of a fork: forgets remote deletes that other threads had announced and not posted.
   Called by the owner of the record, or if no other domain is left. */
void bxr_remote_after_fork(struct bxr_domain *domain);

/* The steps of a delete, for tests. bxr_remote_announce returns true if the caller must push the
   pool next. bxr_remote_post is the last access to the pool. */
bool bxr_remote_announce(struct bxr_batch batch);
void bxr_remote_post(struct bxr_batch batch);

#pragma GCC visibility pop

#endif
