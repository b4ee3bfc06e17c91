/* SPDX-License-Identifier: MIT */
/* The memory of empty pools goes back to the system. Called by the owner, under its lock. */
#ifndef BXR_TRIM_H
#define BXR_TRIM_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* Returns empty pools that were not needed since the last call to the system; not too many at a time. */
void bxr_domain_trim(struct bxr_domain *domain);

/* Returns all empty pools to the system that the marker does not visit any more, and the others
   at the next bxr_domain_trim. The number of pools returned now. */
size_t bxr_domain_trim_all(struct bxr_domain *domain);

/* Disables the domain, and gives all memory back but pools that hold roots, and what the marker may
   visit; no thread may be using the domain. Deletes remain safe. */
void bxr_domain_tear_down(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
