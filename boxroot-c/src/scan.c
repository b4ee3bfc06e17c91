/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include "mark.h"
#include "os.h"
#include "setup.h"

/* Slots may be deleted while these loops run (a finaliser may run inside the action);
   such deletes are deferred, so no slot changes under the loop but by the action. */

static void scan_young(struct bxr_pool *pool, struct bxr_range minor_heap,
                       struct bxr_action action) {
  uintptr_t *end = pool->slots + pool->high_water;
  for (uintptr_t *slot = pool->slots; slot < end; slot++) {
    value v = (value)*slot;
    /* Nearly all slots fail the first test, immediates too. */
    if (!BXR_LIKELY(!bxr_may_be_in(minor_heap, v)) && Is_block(v)) bxr_act(action, slot);
  }
}

static void scan_minor(struct bxr_domain *domain, struct bxr_action action) {
  struct bxr_range minor_heap = bxr_minor_heap();
  struct bxr_link *lists[] = {&domain->young, &domain->young_partial};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    for (struct bxr_link *link = lists[i]->next; link != lists[i]; link = link->next)
      scan_young(bxr_list_pool(link), minor_heap, action);
  if (bxr_domain_current(domain) != NULL)
    scan_young(bxr_domain_current(domain), minor_heap, action);
}

struct full_scan {
  struct bxr_action action;
  struct bxr_census census;
};

static void scan_blocks(struct bxr_pool *pool, void *context) {
  struct full_scan *scan = context;
  struct bxr_action action = scan->action;
  uintptr_t *end = pool->slots + pool->high_water;
  uintptr_t *ahead = pool->high_water > BXR_AHEAD ? end - BXR_AHEAD : pool->slots;
  uintptr_t *slot = pool->slots;
  for (; slot < ahead; slot++) {
    bxr_prefetch_header(slot[BXR_AHEAD]);
    if ((*slot & 1) == 0) bxr_act(action, slot);
  }
  for (; slot < end; slot++)
    if ((*slot & 1) == 0) bxr_act(action, slot);
  bxr_census_add(&scan->census, pool);
}

static void scan_all(struct bxr_domain *domain, struct bxr_action action) {
  struct full_scan scan = {.action = action};
  bxr_domain_each_pool(domain, scan_blocks, &scan);
  bxr_domain_publish(domain, scan.census);
}

static void count(uint64_t *scans, uint64_t *longest, uint64_t start) {
  bxr_domain_count(scans, 1);
  uint64_t took = bxr_os_nanoseconds() - start;
  if (took > *longest) __atomic_store_n(longest, took, __ATOMIC_RELAXED);
}

void bxr_scan(enum bxr_scan_kind kind, struct bxr_domain **record, void *runtime_state,
              struct bxr_action action) {
  if (kind == BXR_SCAN_MINOR && bxr_domain_has_orphans() && BXR_WITHOUT != 12)
    *record = bxr_domain_adopt(*record);
  struct bxr_domain *domain = *record;
  if (domain == NULL) return;
  uint64_t start = bxr_os_nanoseconds();
  bxr_domain_close(domain);
  domain->scanning = BXR_WITHOUT != 11;
  if (kind == BXR_SCAN_MINOR) {
    if (BXR_WITHOUT != 15) bxr_domain_flush(domain);
    bxr_domain_drain(domain);
    scan_minor(domain, action);
    bxr_domain_promote(domain);
    count(&domain->minor_scans, &domain->longest_minor_scan, start);
  } else {
    bool darkens = kind == BXR_SCAN_DARKEN || BXR_WITHOUT == 7;
    if (!darkens || !bxr_mark_hand_over(domain, action)) scan_all(domain, action);
    if (kind == BXR_SCAN_DARKEN) bxr_domain_trim(domain);
    count(&domain->major_scans, &domain->longest_major_scan, start);
  }
  domain->scanning = false;
  if (bxr_status() == BOXROOT_RUNNING) bxr_domain_open(domain, runtime_state);
}
