/* SPDX-License-Identifier: MIT */
/* Gives the memory of empty pools back to the system. Called by the owner, under its lock. */
#ifndef BXR_RELEASE_H
#define BXR_RELEASE_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* To be called when a major cycle begins. Empty pools that the last cycle never needed become
   superfluous. */
static inline void bxr_release_begin_cycle(struct bxr_domain *domain) {
  domain->unneeded = domain->empty_low;
  domain->empty_low = domain->empty_count;
}

/* Unmaps a share of the superfluous empty pools, and `more`. Pools are superfluous if a whole cycle
   did not need them, or if empty pools exceed those in use: cycles may be rare while domains end
   and leave their pools. Called in minor scans while the marker visits no pool, and when a cycle
   begins after a short one: a forced cycle may have no minor scan. */
void bxr_release_share(struct bxr_domain *domain, size_t more);

/* Unmaps all empty pools that the marker will not visit any more, and returns their number. The
   next cycle unmaps the other empty pools, if they are not needed until then. */
size_t bxr_release_all(struct bxr_domain *domain);

/* Disables the domain, and unmaps all its memory except pools that hold roots or that the marker
   may still visit. No thread may be using the domain, but any thread may delete its roots, even
   later. */
void bxr_release_at_teardown(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
