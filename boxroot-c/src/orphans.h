/* SPDX-License-Identifier: MIT */
/* Records without a domain, and domains that end.

   When a domain ends, its record goes on the stack of orphans, with its pools. A record without
   pools goes on the stack of spares. The next minor scan of any domain takes the whole stack of
   orphans. If the scanned domain has no record, one of the orphans becomes its record. The pools of
   the other orphans move to the domain's record.

   always-scanned: Orphans are always scanned. A record is pushed by code of a running domain, that
      is, between stop-the-world sections. So its pools are scanned, by the domain that takes the
      stack, in the next minor collection and in every later one. Each domain's part of a minor
      collection can move values of any domain's minor heap, so it does not matter which domain
      scans a root. A domain that is ending adopts no orphans: our hooks recognise it
      (runtime_ocaml5.c). A major cycle starts with a minor scan, so orphans are marked.
   scans-adopt: Only minor scans take orphans, and they put none back. A domain that needs a record
      at another time, to make its first root for instance, takes a spare or a new one. It may need
      one in a hook or a finaliser inside a stop-the-world section. If it took an orphan there,
      other domains, which scan at the same time, would miss that orphan. Orphans do not pile up
      meanwhile: the end of a domain includes a minor collection, in which the other domains adopt
      its pools.
   no-ABA: Records are pushed one by one, and only whole stacks are taken. */
#ifndef BXR_ORPHANS_H
#define BXR_ORPHANS_H

#include "domain.h"

#pragma GCC visibility push(hidden)

/* A record without pools for a domain that has no record: a spare or a new one (scans-adopt). Its
   fast paths are closed. NULL if out of memory. */
struct bxr_domain *bxr_orphans_obtain(void);

/* To be called when the record's domain ends, after its marker has visited all pools that were
   handed over. Leaves the record, with its pools, to an adopter, and closes its fast paths. */
void bxr_orphans_add(struct bxr_domain *domain);

/* True if there may be orphans. Any thread. */
bool bxr_orphans_exist(void);

/* Takes over all orphans, during a minor scan. If `domain` is NULL, one of the orphans becomes the
   caller's record. Returns the caller's record, or NULL if there was neither a record nor an
   orphan. */
struct bxr_domain *bxr_orphans_adopt(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
