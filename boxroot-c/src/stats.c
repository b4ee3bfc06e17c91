/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "runtime.h"
#include "setup.h"

static void visit(struct bxr_pool *pool, void *census) { bxr_census_add(census, pool); }

/* A counter that its owner may be changing. */
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

void boxroot_get_statistics(struct boxroot_statistics *s) {
  *s = (struct boxroot_statistics){.pool_bytes = BXR_POOL_SIZE, .slots_per_pool = BXR_SLOTS};
  struct bxr_domain *self = bxr_enter_if_possible();
  if (self != NULL && bxr_runtime_owns(self)) {
    bxr_domain_drain(self); /* or roots deleted elsewhere would count as live */
    struct bxr_census census = {0};
    bxr_domain_each_pool(self, visit, &census);
    bxr_domain_publish(self, census);
  }
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) {
    s->live_roots += LOAD(d->census.live_roots);
    s->pools += LOAD(d->pool_count);
    s->pools_with_room += LOAD(d->census.roomy);
    s->pools_empty += LOAD(d->census.empty);
    s->domains += LOAD(d->pool_count) != 0;
    s->minor_scans += LOAD(d->minor_scans);
    s->major_scans += LOAD(d->major_scans);
    s->remote_deletes += LOAD(d->remote_deletes);
    s->pools_adopted += LOAD(d->pools_adopted);
  }
}

void boxroot_print_stats(void) {
  struct boxroot_statistics s;
  boxroot_get_statistics(&s);
  printf("boxroot: %zu live roots in %zu pools of %zu KiB (%zu slots each), %zu domains\n"
         "boxroot: %zu pools with room, %zu empty, %zu adopted from ended domains\n"
         "boxroot: %" PRIu64 " minor scans, %" PRIu64 " major scans, %" PRIu64
         " remote deletes\n",
         s.live_roots, s.pools, s.pool_bytes / 1024, s.slots_per_pool, s.domains,
         s.pools_with_room, s.pools_empty, (size_t)s.pools_adopted, s.minor_scans,
         s.major_scans, s.remote_deletes);
}
