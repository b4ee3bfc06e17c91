/* SPDX-License-Identifier: MIT */
#include "scan.h"

#include "barrier.h"
#include "orphans.h"
#include "os.h"
#include "profile.h"
#include "remote.h"
#include "setup.h"
#include "release.h"

/* ---- slot by slot ---- */

/* Roots may be deleted while these loops run (a finaliser may run inside the action).
   Such deletes are remote, so only the action changes slots meanwhile. */

/* If roots are replaced at random, no processor predicts which of them are young. So the young
   values of CHUNK slots are found first, by additions instead of branches. */
enum { CHUNK = 64 };

struct minor_scan {
  struct bxr_action action;
  struct bxr_range minor_heap;
};

static void scan_pool(struct bxr_pool *pool, void *context) {
  struct minor_scan const scan = *(struct minor_scan *)context;
  uintptr_t *young[CHUNK];
  uintptr_t *slot = pool->slots, *end = slot + pool->high_water;
  while (slot < end) {
    uintptr_t *stop = end - slot > CHUNK ? slot + CHUNK : end;
    size_t count = 0;
    for (; slot < stop; slot++) {
      young[count] = slot;
      count += bxr_is_block_in(scan.minor_heap, *slot);
    }
    for (size_t i = 0; i < count; i++) bxr_act_young(scan.action, young[i]);
  }
}

static void scan_young(struct bxr_domain *domain, struct bxr_action action) {
  struct minor_scan scan = {action, bxr_minor_heap()};
  struct bxr_listed *listed = &domain->listed;
  for (uint32_t i = 0; i < listed->count; i++) {
    uintptr_t *slot = bxr_slot(listed->slots[i]);
    if (bxr_is_block_in(scan.minor_heap, *slot)) bxr_act_young(action, slot);
  }
  bxr_domain_promote(domain, scan_pool, &scan);
}

/* While a scan acts on one value, it prefetches the header of the value this many slots ahead. With
   8 slots, darkening three million roots on 4.14 takes 1.5 times as long (benchmark `cache` without
   copies); with 64, as long as with 32. */
enum { AHEAD = 32 };

struct full_scan {
  struct bxr_action action;
  struct bxr_census census;
};

static void scan_blocks(struct bxr_pool *pool, void *context) {
  struct full_scan *scan = context;
  struct bxr_action action = scan->action;
  uintptr_t *end = pool->slots + pool->high_water;
  uintptr_t *ahead = pool->high_water > AHEAD ? end - AHEAD : pool->slots;
  uintptr_t *slot = pool->slots;
  for (; slot < ahead; slot++) {
    bxr_prefetch_header(slot[AHEAD]);
    if ((*slot & 1) == 0) bxr_act(action, slot);
  }
  for (; slot < end; slot++)
    if ((*slot & 1) == 0) bxr_act(action, slot);
  bxr_census_add(&scan->census, pool);
}

static void scan_all(struct bxr_domain *domain, struct bxr_action action,
                     void (*scan_one)(struct bxr_pool *, void *)) {
  struct full_scan scan = {.action = action};
  bxr_domain_each_pool(domain, scan_one, &scan);
  bxr_domain_publish(domain, scan.census);
}

/* ---- pacing ---- */

/* The collector makes its slices so long that a cycle ends while the program allocates a certain
   number of words, which depends on the size of the heap. It does not know of our pools. If their
   marking were extra work, cycles would be longer, and there would be more garbage: about two words
   for each word that is marked. So the slices also have to do this work: a word for each slot, and
   BXR_WORDS_OF_A_VALUE for each root. Each minor scan makes the next slice owe the same part of it.
   All of it is owed once the cycle has had as many minor scans as the last one. */

/* Until pools are handed over, nothing is owed in this cycle. After a forced cycle the collector
   may book the words that it marked for us as work done in advance, and then idle that long. So the
   unpaid rest, nearly all of it, is owed by the next cycles. */
static void begin_cycle(struct bxr_pacing *pacing, bool forced) {
  bool carry = pacing->scans < pacing->expected && bxr_runtime_rests_after_forced_cycles();
  size_t words = pacing->carried + (forced ? pacing->words : 0);
  pacing->carried = carry ? words - words / pacing->expected * pacing->scans : 0;
  pacing->words = 0;
  if (!forced) pacing->expected = pacing->scans;
  pacing->scans = 0;
}

static void pace_slice(struct bxr_pacing *pacing) {
  if (++pacing->scans > pacing->expected) return;
  bxr_runtime_owe((pacing->words + pacing->carried) / pacing->expected);
}

/* ---- handing over to the marker ---- */

/* Fewer pools than this are scanned slot by slot, and not handed over or copied: 30 000 roots take
   a fraction of a millisecond, and then no delete has to wait for the marker. On 4.14, a limit of 2
   or 16 for copies cut the pause with 50 000 roots to a third, and made `perm_count` a tenth
   faster, but `synthetic` 2 to 4 % slower. With a limit of 256, or without copies, `perm_count`
   took 1.5 times as long. */
#ifndef BXR_HAND_OVER_FROM
#define BXR_HAND_OVER_FROM 16
#endif
enum { COPY_FROM = 64 };

static void copy_blocks(struct bxr_pool *pool, void *context) {
  struct full_scan *scan = context;
  if (bxr_runtime_copy(pool->slots, pool->high_water))
    bxr_census_add(&scan->census, pool);
  else
    scan_blocks(pool, scan);
}

/* Makes room in the directory for one field per pool. */
static bool grow_directory(struct bxr_domain *domain) {
  size_t fields = domain->pool_count + 1; /* one more for the header */
  if (fields * sizeof(uintptr_t) <= domain->directory_size) return true;
  size_t size = bxr_os_whole_pages(2 * fields * sizeof(uintptr_t));
  uintptr_t *directory = bxr_os_map(size, sizeof(uintptr_t));
  if (directory == NULL) return false;
  if (domain->directory != NULL) bxr_os_unmap(domain->directory, domain->directory_size);
  domain->directory = directory;
  domain->directory_size = size;
  return true;
}

struct directory {
  struct bxr_domain_head *owner;
  uintptr_t *fields;
  size_t count, slots;
  struct bxr_census census;
};

/* Adds a pool to the directory. If directory->fields is NULL, or the pool is empty, only opens the
   pool, because the last cycle has ended. */
static void hand_over_pool(struct bxr_pool *pool, void *context) {
  struct directory *directory = context;
  if (bxr_waiting_empty(pool)) return; /* it will be visited among the empty pools */
  if (directory->fields == NULL || pool->kind == BXR_EMPTY) {
    directory->census.pools[BXR_EMPTY] += pool->kind == BXR_EMPTY;
    bxr_barrier_open(pool);
    return;
  }
  directory->fields[directory->count++] = bxr_barrier_hand_over(directory->owner, pool);
  directory->slots += pool->high_water;
  bxr_census_add(&directory->census, pool);
}

/* Hands the pools over to the collector's marker. Returns false if that is impossible or not worth
   it. The caller must then scan the pools slot by slot. */
static bool hand_over_all(struct bxr_domain *domain, struct bxr_action action) {
  struct directory directory = {.owner = &domain->head};
  if (bxr_runtime_marks_ranges() && bxr_domain_pools_in_use(domain) >= BXR_HAND_OVER_FROM &&
      grow_directory(domain))
    directory.fields = domain->directory + 1;
  bxr_domain_each_pool(domain, hand_over_pool, &directory);
  if (directory.count == 0) return false; /* all pools may have been emptied */
  domain->directory[0] = bxr_runtime_unmarked_header(directory.count);
  uintptr_t root = (uintptr_t)directory.fields;
  bxr_act(action, &root);
  if (!bxr_runtime_is_marked(domain->directory[0])) {
    /* This runtime does not treat our memory as a block. */
    directory.fields = NULL;
    bxr_domain_each_pool(domain, hand_over_pool, &directory);
    return false;
  }
  bxr_domain_publish(domain, directory.census);
  domain->marking = true;
  domain->pacing.words = directory.slots + BXR_WORDS_OF_A_VALUE * directory.census.live_roots;
  return true;
}

/* ---- the kinds of scans ---- */

/* A forced cycle has minor scans when it is forced, and when it ends. A cycle of Gc.major has one
   more than a cycle of Gc.full_major. An unforced cycle may be equally short if the heap is
   small. */
enum { SCANS_OF_A_FORCED_CYCLE = 3 };

/* Freeing the slots of this many pools takes a millisecond. */
enum { FEW_POOLS = 256 };

/* How many pools besides a share are freed after a short cycle ("emptied" of waiting.h). */
static size_t more_pools(void) { return bxr_runtime_may_be_forced() ? BXR_ALL_POOLS : FEW_POOLS; }

static void scan_minor(struct bxr_domain *domain, struct bxr_action action) {
  bxr_remote_flush(domain);
  size_t more = domain->after_short_cycle ? more_pools() : 0;
  bxr_remote_drain_more(domain, more);
  pace_slice(&domain->pacing);
  scan_young(domain, action);
  /* If marking has started, every domain darkened its roots in an earlier stop-the-world
     section. */
  if (bxr_runtime_marking_started()) domain->darkened = bxr_runtime_cycle();
  if (bxr_runtime_marking_done()) domain->marking = false;
  if (!domain->marking) bxr_release_share(domain, more);
}

/* If no other domain has darkened its roots before, remote deletes may also be drained
   ("darken-first" of remote.c). */
static void free_what_waits(struct bxr_domain *domain) {
  if (bxr_runtime_is_alone() && !bxr_runtime_marking_started())
    bxr_remote_drain_more(domain, more_pools());
  else
    bxr_waiting_free(domain, more_pools());
}

/* All mark stacks are empty. So everything that was handed over in the last cycle may now be
   unmapped or reused. For the directory, this is the first moment at which that holds. */
static void scan_to_darken(struct bxr_domain *domain, struct bxr_action action) {
  domain->after_short_cycle = domain->pacing.scans <= SCANS_OF_A_FORCED_CYCLE;
  if (domain->after_short_cycle) free_what_waits(domain);
  begin_cycle(&domain->pacing, domain->after_short_cycle);
  if (!hand_over_all(domain, action))
    scan_all(domain, action,
             bxr_domain_pools_in_use(domain) >= COPY_FROM ? copy_blocks : scan_blocks);
  bxr_release_begin_cycle(domain);
  if (domain->after_short_cycle) bxr_release_share(domain, more_pools());
  domain->darkened = bxr_runtime_cycle();
}

static void scan_other(struct bxr_domain *domain, struct bxr_action action) {
  scan_all(domain, action, scan_blocks);
}

static void count_scan(uint64_t *scans, uint64_t *longest, uint64_t start) {
  bxr_domain_count(scans, 1);
  uint64_t took = bxr_os_nanoseconds() - start;
  if (took > *longest) bxr_publish(longest, took);
}

static void scan_and_count(enum bxr_scan_kind kind, struct bxr_domain *domain,
                           struct bxr_action action) {
  uint64_t start = bxr_os_nanoseconds();
  switch (kind) {
  case BXR_SCAN_MINOR: scan_minor(domain, action); break;
  case BXR_SCAN_DARKEN: scan_to_darken(domain, action); break;
  case BXR_SCAN_OTHER: scan_other(domain, action); break;
  }
  if (kind == BXR_SCAN_MINOR)
    count_scan(&domain->minor_scans, &domain->longest_minor_scan, start);
  else
    count_scan(&domain->major_scans, &domain->longest_major_scan, start);
}

void bxr_scan(enum bxr_scan_kind kind, struct bxr_domain **record, void *runtime_state,
              struct bxr_action action) {
  if (kind == BXR_SCAN_MINOR && bxr_orphans_exist()) *record = bxr_orphans_adopt(*record);
  struct bxr_domain *domain = *record;
  if (domain == NULL) return;
  bxr_domain_close(domain);
  domain->scanning = true;
  scan_and_count(kind, domain, action);
  if (domain->shadow != NULL) scan_and_count(kind, domain->shadow, action);
  if (kind == BXR_SCAN_DARKEN) bxr_profile_begin_cycle();
  domain->scanning = false;
  if (bxr_setup_status() == BOXROOT_RUNNING) bxr_domain_open(domain, runtime_state);
}
