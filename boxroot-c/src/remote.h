/* SPDX-License-Identifier: MIT */
/* Deletes of a root by a thread other than its owner, by the owner inside its own root scan, and of a
   root that the marker may still have to visit (barrier.h). The slot is left as it is; the owner frees it
   when it drains. The argument why this is right opens remote.c. */
#ifndef BXR_REMOTE_H
#define BXR_REMOTE_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* Deletes r, which some pool of any domain holds, without touching its slot. Any thread. */
void bxr_remote_delete(boxroot r);

/* The same, by the owner of `self`, outside scans. Deletes of neighbouring slots are sent together,
   at the latest when `self` is flushed: at its next minor scan, or its end. */
void bxr_remote_delete_batched(struct bxr_domain *self, boxroot r);
void bxr_remote_flush(struct bxr_domain *self);

static inline struct bxr_batch bxr_remote_batch_of(boxroot r) {
  uintptr_t word = (uintptr_t)r / sizeof(value);
  return (struct bxr_batch){word / 64 * 64 * sizeof(value), (uint64_t)1 << (word % 64)};
}

/* Frees the slots of the domain's pools that were deleted remotely, and that the marker does not have to
   visit any more, of some pools, or of all. Called by its owner. */
void bxr_remote_drain(struct bxr_domain *domain);
void bxr_remote_drain_all(struct bxr_domain *domain);

/* No pool of the domain is foreign any more: those that were wait for its own marker. */
void bxr_remote_wait_as_own(struct bxr_domain *domain);

/* Pools whose deletes wait for the marker go back to the domain's drain list: it ends. */
void bxr_remote_stop_waiting(struct bxr_domain *domain);

/* After all pools of a record were given to other owners: sends its drain list after them, and has
   pushes notice that are under way. Called by the adopter, to which the record belongs. */
void bxr_remote_forward(struct bxr_domain *from);

/* In the child of a fork: forgets remote deletes that other threads had begun. By the owner of the
   record, or where no other domain is left. */
void bxr_remote_after_fork(struct bxr_domain *domain);

/* The steps of a delete, for tests: announcing is true if the caller must push the pool next; posting
   is its last access to the pool. */
bool bxr_remote_announce(struct bxr_batch batch);
void bxr_remote_post(struct bxr_batch batch);

#pragma GCC visibility pop

#endif
