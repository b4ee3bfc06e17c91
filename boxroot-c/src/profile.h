/* SPDX-License-Identifier: MIT */
/* The profile of live roots. On average one create in `rate` is *sampled*: its call stack is kept
   until the root is deleted.

   shadow: Sampled roots are in pools of a second record of their domain, its *shadow* (domain.h). A
      shadow is never open, and no thread caches it, so every fast path is closed to its pools.
      Other roots pay nothing. Every root of a shadow has a sample, and no other root has one.
   drawn: While the rate is not 0, create gets no more slots than there are creates before the next
      sample (`until_sample` of the record). That number is drawn anew after each sample, and when
      slots that were handed out are taken back. So each create is sampled with the same
      probability, independently of all other operations.
   aside: Walking a free list takes a cache miss for each slot. Slots that were deleted since the
      last hand-out are handed out first, all at once: the pool's countdown tells their number. The
      other free slots of the current pool are put aside, and handed out a few at a time.
   uncounted: While the rate is not 0, no pool is `uncounted`: create would reuse deleted slots
      without counting down to the next sample.
   alone: A sampled root is deleted alone, never in a batch, and bxr_delete_slow forgets its sample
      first. Deletes of neighbouring roots would join the batch in inlined code, and bxr_delete_slow
      would not see them.
   moves: Modify takes slots without a draw. If it moves a sampled root, the sample also moves.
   signals: The memory that boxroot_profile_write reads is never unmapped, and only atomic
      operations write it. */
#ifndef BXR_PROFILE_H
#define BXR_PROFILE_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* Called if the rate is not 0 and head.free is empty. Returns whether to sample the next create. If
   so, the caller does that, or gives up this sample. */
bool bxr_profile_is_due(struct bxr_domain *domain);

/* To be called before a slot is taken by modify, or by a create whose sample could not be kept. */
void bxr_profile_skip(struct bxr_domain *domain);

/* bxr_profile_continue puts slots of the current pool on head.free, which is empty: deleted ones,
   or some that were put aside. It returns false if there are too few of these. In that case, the
   caller finds slots in the usual way, and bxr_profile_limit puts aside those beyond the next
   sample. */
bool bxr_profile_continue(struct bxr_domain *domain);
void bxr_profile_limit(struct bxr_domain *domain);

/* The domain's shadow, which is made when it is first needed. NULL if out of memory. */
struct bxr_domain *bxr_profile_shadow(struct bxr_domain *domain);

/* A sample of this call stack (bxr_stack_find). 0 if there is no room for another stack. */
uint64_t bxr_profile_sample(void const *caller);

/* Keeps a sample for a slot of one of the owner's pools. Returns false if out of memory. */
bool bxr_profile_keep(boxroot r, uint64_t sample);

/* Return and forget the sample of a root. Without a sample, they return 0 and false. Any thread
   that may delete the root may call them. */
uint64_t bxr_profile_of(boxroot r);
bool bxr_profile_forget(boxroot r);

/* To be called in a scan that darkens: the age of samples is counted in major cycles. */
void bxr_profile_begin_cycle(void);

/* Sets the rate to that of the environment variable BOXROOT_PROFILE, if there is one. */
void bxr_profile_setup(void);

/* To be called in the child of a fork. */
void bxr_profile_after_fork(void);

#pragma GCC visibility pop

#endif
