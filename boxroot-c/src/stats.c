/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remote.h"
#include "setup.h"

/* Reads a counter that its owner may be changing. */
#define LOAD(field) bxr_peek(&(field))

static void keep_greatest(uint64_t *greatest, uint64_t x) {
  if (x > *greatest) *greatest = x;
}

static struct bxr_census published_census(struct bxr_domain *domain) {
  struct bxr_census census = {.live_roots = LOAD(domain->census.live_roots),
                              .waiting_deletes = LOAD(domain->census.waiting_deletes)};
  for (int kind = 0; kind < BXR_KINDS; kind++)
    census.pools[kind] = LOAD(domain->census.pools[kind]);
  return census;
}

static void publish_census(struct bxr_domain *domain) {
  /* Otherwise roots that were deleted would count as live. */
  bxr_remote_flush(domain);
  bxr_remote_drain(domain);
  bxr_domain_publish(domain, bxr_domain_census(domain));
}

static bool has_pools(struct bxr_domain *domain) {
  return domain != NULL && LOAD(domain->pool_count) != 0;
}

/* `self` is the caller's domain, whose lock it holds, or NULL. */
static struct boxroot_stats collect_stats(struct bxr_domain *self) {
  struct boxroot_stats s = {.slots_per_pool = BXR_SLOTS};
  if (self != NULL) publish_census(self);
  if (self != NULL && self->shadow != NULL) publish_census(self->shadow);
  bool gone = bxr_is_gone();
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) {
    struct bxr_census census = gone ? bxr_domain_census(d) : published_census(d);
    s.live_roots += census.live_roots;
    s.waiting_deletes += census.waiting_deletes;
    s.pools += LOAD(d->pool_count);
    s.pools_current += census.pools[BXR_CURRENT];
    s.pools_full += census.pools[BXR_FULL];
    s.pools_partial += census.pools[BXR_PARTIAL];
    s.pools_empty += census.pools[BXR_EMPTY];
    keep_greatest(&s.longest_minor_scan, LOAD(d->longest_minor_scan));
    keep_greatest(&s.longest_major_scan, LOAD(d->longest_major_scan));
    s.deferred_deletes += LOAD(d->deferred_deletes);
    s.barrier_hits += LOAD(d->barrier_hits);
    s.pools_adopted += LOAD(d->pools_adopted);
    if (bxr_load(&d->is_shadow)) continue; /* its domain counts already */
    s.domains += has_pools(d) || has_pools(bxr_load(&d->shadow));
    s.minor_scans += LOAD(d->minor_scans);
    s.major_scans += LOAD(d->major_scans);
  }
  s.bytes = s.pools * BXR_POOL_SIZE;
  return s;
}

/* Fills the fields that both the caller and this library know. The caller's other fields become
   0. */
static void fill(struct boxroot_stats *to, size_t size, struct boxroot_stats s) {
  size_t known = size < sizeof s ? size : sizeof s;
  memcpy(to, &s, known);
  memset((char *)to + known, 0, size - known);
}

void boxroot_stats(struct boxroot_stats *s, size_t size) {
  fill(s, size, collect_stats(bxr_setup_enter_if_trusted()));
}

void bxr_domain_stats(struct bxr_domain_head *self, struct boxroot_stats *s, size_t size) {
  fill(s, size, collect_stats((struct bxr_domain *)self));
}

void boxroot_print_stats(void) {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  printf("boxroot: %zu live roots of %zu domains in %zu pools of %zu slots (%zu KiB)\n"
         "boxroot: pools: %zu current, %zu full, %zu partial, %zu empty; %" PRIu64 " adopted\n"
         "boxroot: %" PRIu64 " minor scans, the longest %" PRIu64 " us; %" PRIu64
         " major scans, the longest %" PRIu64 " us\n"
         "boxroot: %" PRIu64 " deferred deletes, %zu waiting; %" PRIu64 " barrier hits\n",
         s.live_roots, s.domains, s.pools, s.slots_per_pool, s.bytes / 1024, s.pools_current,
         s.pools_full, s.pools_partial, s.pools_empty, s.pools_adopted, s.minor_scans,
         s.longest_minor_scan / 1000, s.major_scans, s.longest_major_scan / 1000,
         s.deferred_deletes, s.waiting_deletes, s.barrier_hits);
}
