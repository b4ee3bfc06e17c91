/* SPDX-License-Identifier: MIT */
/* Gives the memory of empty pools back to the system. Called by the owner, under its lock. */
#ifndef BXR_RELEASE_H
#define BXR_RELEASE_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* Unmaps empty pools that were not needed since this function was called before; not too many at a
   time. */
void bxr_release_unneeded(struct bxr_domain *domain);

/* Unmaps a share of the empty pools, if there are very many of them. Major cycles may be rare,
   while domains come and go, and leave theirs. To be called when the marker visits no pool. */
void bxr_release_excess(struct bxr_domain *domain);

/* Unmaps all empty pools that the marker does not visit any more, and returns their number. The
   next bxr_release_unneeded unmaps the other empty ones, if they are not needed until then. */
size_t bxr_release_all(struct bxr_domain *domain);

/* Disables the domain, and unmaps all its memory except pools that hold roots, and what the marker
   may still visit. No thread may be using the domain; but any thread may delete its roots, also
   later. */
void bxr_release_at_teardown(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
