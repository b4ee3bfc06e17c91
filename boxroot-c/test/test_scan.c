/* SPDX-License-Identifier: MIT */
/* The roots that a scan hands to the collector. The collector here only counts and marks. */
#ifndef BXR_FAULT_INJECTION
#define BXR_FAULT_INJECTION
#endif
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/minor_gc.h>
#include <caml/roots.h>

#include "barrier.h"
#include "os.h"
#include "remote.h"
#include "scan.h"
#include "setup.h"
#include "test.h"

#if OCAML_VERSION >= 50000
#include <caml/gc.h>
#include <caml/misc.h>
#include <caml/shared_heap.h>

static size_t visited;

static void mark(void *data, value v, value volatile *root) {
  (void)data, (void)root;
  visited++;
  *Hp_val(v) = With_status_hd(Hd_val(v), caml_global_heap_state.MARKED);
}

static size_t visited_in_scan(enum bxr_scan_kind kind, struct bxr_domain *domain) {
  visited = 0;
  bxr_scan(kind, &domain, NULL, (struct bxr_action){mark, NULL});
  return visited;
}

static struct {
  header_t header;
  value field;
} one_block = {Make_header(1, 0, 0), Val_unit};

/* The least number of pools that are handed over, not scanned slot by slot. */
enum { POOLS = 16 };

static struct bxr_domain *domain_with_pools(value v) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < POOLS * BXR_SLOTS; i++) *(value *)create(domain) = v;
  return domain;
}

/* Fewer pools are scanned slot by slot. */
void test_scan_of_few_pools(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  uint32_t few = (POOLS - 1) * BXR_SLOTS;
  for (uint32_t i = 0; i < few; i++) *(value *)create(domain) = (value)&one_block.field;
  CHECK(visited_in_scan(BXR_SCAN_MINOR, domain) == 0);
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == few);
  CHECK(!bxr_list_pool(domain->old.next)->closed);
}

/* In each cycle, several pools are handed over as one block. Their roots are not also visited
   singly. */
void test_scan_hands_pools_over(void) {
  struct bxr_domain *domain = domain_with_pools((value)&one_block.field);
  CHECK(visited_in_scan(BXR_SCAN_MINOR, domain) == 0);
  for (int cycle = 0; cycle < 2; cycle++) CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == 1);
  CHECK(bxr_list_pool(domain->old.next)->closed);
  CHECK(domain->marking && domain->census.live_roots == POOLS * BXR_SLOTS);
  /* More pools than fit into the directory of the first cycles. */
  for (uint32_t i = 0; i < 2000 * BXR_SLOTS; i++) create(domain);
  CHECK(visited_in_scan(BXR_SCAN_MINOR, domain) == 0);
  /* Without memory for a larger one, every root is visited. */
  bxr_os_fail(1, true);
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == POOLS * BXR_SLOTS);
  bxr_os_fail(0, false);
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == 1);
}

/* In a runtime with unexpected headers, every root is visited. */
void test_scan_of_a_runtime_with_other_headers(void) {
  struct bxr_domain *domain = domain_with_pools((value)&one_block.field);
  visited_in_scan(BXR_SCAN_MINOR, domain);
  struct global_heap_state state = caml_global_heap_state;
  caml_global_heap_state.UNMARKED = state.MARKED;
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == POOLS * BXR_SLOTS);
  caml_global_heap_state.UNMARKED = state.UNMARKED | 1;
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == POOLS * BXR_SLOTS);
  caml_global_heap_state = state;
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == 1);
}

static void ignore(void *data, value v, value volatile *root) {
  (void)data, (void)v, (void)root;
  visited++;
}

/* Nor are pools handed over if the directory is not marked after it was darkened. */
void test_scan_of_a_runtime_that_does_not_mark(void) {
  struct bxr_domain *domain = domain_with_pools((value)&one_block.field);
  visited_in_scan(BXR_SCAN_MINOR, domain);
  visited = 0;
  bxr_scan(BXR_SCAN_DARKEN, &domain, NULL, (struct bxr_action){ignore, NULL});
  CHECK(visited == 1 + POOLS * BXR_SLOTS);
  CHECK(!bxr_list_pool(domain->old.next)->closed && !domain->marking);
}

/* The work of forced cycles is owed later, and the work of each cycle is owed only once. */
void test_scan_owes_the_work_of_forced_cycles(void) {
#if OCAML_VERSION >= 50100 && OCAML_VERSION < 50500
  struct bxr_domain *domain = domain_with_pools((value)&one_block.field);
  visited_in_scan(BXR_SCAN_MINOR, domain);
  size_t of_a_cycle = (1 + BXR_WORDS_OF_A_VALUE) * POOLS * BXR_SLOTS;
  for (size_t cycles = 1; cycles <= 3; cycles++) {
    visited_in_scan(BXR_SCAN_DARKEN, domain);
    CHECK(domain->pacing.words == of_a_cycle &&
          domain->pacing.carried == (cycles - 1) * of_a_cycle);
  }
  intnat before = Caml_state->major_work_done_between_slices;
  domain->pacing.expected = 1;
  visited_in_scan(BXR_SCAN_MINOR, domain);
  CHECK(before - Caml_state->major_work_done_between_slices == (intnat)(3 * of_a_cycle));
  visited_in_scan(BXR_SCAN_DARKEN, domain);
  CHECK(domain->pacing.words == of_a_cycle && domain->pacing.carried == 0);
  /* A cycle that was not forced has more minor scans, and no work is carried to the next one. */
  for (int i = 0; i < 4; i++) visited_in_scan(BXR_SCAN_MINOR, domain);
  visited_in_scan(BXR_SCAN_DARKEN, domain);
  CHECK(domain->pacing.carried == 0 && domain->pacing.expected == 4);
#endif
}

/* If a cycle was forced, slots that wait or were deleted remotely are freed before their pools are
   handed over again. If it was short, but not forced, only some of them are freed then. Otherwise
   only minor scans free shares of them. */
void test_scan_frees_what_waits(void) {
  enum { WAITING = 640 };
  static boxroot roots[MANY];
  enum { FORCED, SHORT, LONG } cycle;
  caml_minor_collection();
  for (cycle = FORCED; cycle <= LONG; cycle++) {
    struct bxr_domain *domain = bxr_orphans_obtain();
    struct bxr_pool *pools[WAITING];
    begin_marking(domain);
    for (int i = 0; i < WAITING; i++) {
      pools[i] = fill(domain, roots);
      bxr_domain_retire(domain);
      bxr_barrier_hand_over(&domain->head, pools[i]);
      bxr_remote_collect(domain, roots[0]);
    }
    bxr_remote_flush(domain);
    boxroot remote = create(domain);
    for (int i = 0; i < WAITING; i++)
      pools[i]->waits_in_snapshot = false; /* as if handed over again */
#if OCAML_VERSION >= 50100
    Caml_state->slice_budget = cycle == FORCED ? 10000000 : 0;
#else
    if (cycle == SHORT) continue;
#endif
    for (int i = 0; i < (cycle == LONG ? 4 : cycle == SHORT); i++)
      visited_in_scan(BXR_SCAN_MINOR, domain);
    size_t waiting = domain->waiting_count;
    CHECK(cycle == FORCED ? waiting == WAITING : waiting > WAITING / 2);
    bxr_remote_delete(remote);
    end_marking();
    visited_in_scan(BXR_SCAN_DARKEN, domain);
    size_t least = cycle == FORCED ? 0 : cycle == SHORT ? 1 : waiting;
    CHECK(domain->waiting_count >= least);
    CHECK(domain->waiting_count <= (cycle == SHORT ? waiting - 1 : least));
    CHECK(bxr_pool_of_root(remote)->announced == (cycle == LONG));
  }
}

static void hand_over(struct bxr_pool *pool, void *domain) { bxr_barrier_hand_over(domain, pool); }

/* A pool in which all roots were deleted is not handed over again. */
void test_scan_empties_pools(void) {
  static boxroot roots[POOLS][MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (int i = 0; i < POOLS; i++) {
    struct bxr_pool *pool = fill(domain, roots[i]);
    bxr_domain_retire(domain);
    bxr_barrier_hand_over(&domain->head, pool);
  }
  for (int left = 1; left >= 0; left--) {
    begin_marking(domain);
    for (int i = 0; i < POOLS - left; i++)
      for (uint32_t j = 0; j < BXR_SLOTS - (uint32_t)left; j++)
        if (left == 1 || j == BXR_SLOTS - 1 || i == POOLS - 1)
          bxr_remote_collect(domain, roots[i][j]);
    bxr_remote_flush(domain);
    end_marking();
    visited_in_scan(BXR_SCAN_DARKEN, domain);
    CHECK(domain->empty_count == (left == 1 ? 0 : POOLS));
  }
  CHECK(boxroot_get(roots[0][0]) == Val_long(0) && used(domain) == 0);
}

/* Pools that became empty while the marker was visiting them are unmapped when it has finished,
   even before the next cycle. */
void test_scan_unmaps_what_was_visited(void) {
  enum { VISITED = 3000, ROOTS = VISITED * BXR_SLOTS };
  boxroot *roots = malloc(ROOTS * sizeof *roots);
  CHECK(roots != NULL);
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < ROOTS; i++) roots[i] = create(domain);
  bxr_domain_retire(domain);
  begin_marking(domain);
  bxr_domain_each_pool(domain, hand_over, domain);
  for (uint32_t i = 0; i < ROOTS; i++) bxr_domain_free(roots[i]);
  free(roots);
  visited_in_scan(BXR_SCAN_MINOR, domain);
  CHECK(domain->empty_count == VISITED);
  end_marking();
  for (int i = 0; i < 40; i++) visited_in_scan(BXR_SCAN_MINOR, domain);
  CHECK(domain->empty_count < VISITED / 2);
}

/* The system takes back only whole pages. The directory is given back when it has become too
   small. */
void test_scan_with_large_pages(void) {
  bxr_os_pretend_page_size(4 * BXR_POOL_SIZE);
  struct bxr_domain *domain = domain_with_pools(Val_unit);
  visited_in_scan(BXR_SCAN_MINOR, domain);
  CHECK(visited_in_scan(BXR_SCAN_DARKEN, domain) == 1);
  CHECK(domain->directory_size != 0);
  bxr_domain_end_marking(domain);
  CHECK(domain->directory_size == 0);
  bxr_os_pretend_page_size(0);
}
void test_scan_hastens_slices(void) {}
#else
/* OCaml 4 marks roots slot by slot, or copies them. */
void test_scan_of_few_pools(void) {}
void test_scan_hands_pools_over(void) {}
void test_scan_of_a_runtime_with_other_headers(void) {}
void test_scan_of_a_runtime_that_does_not_mark(void) {}
void test_scan_owes_the_work_of_forced_cycles(void) {}
void test_scan_frees_what_waits(void) {}
void test_scan_empties_pools(void) {}
void test_scan_with_large_pages(void) {}
void test_scan_unmaps_what_was_visited(void) {}
#endif

#if OCAML_VERSION < 50000
#if OCAML_VERSION >= 41400 && !defined(NO_NAKED_POINTERS)
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>

extern uintnat caml_percent_free; /* in no header */

static int slices, markings;
static void count_slice(void) { slices++; }
static void count_marking(void) { markings++; }

/* How many words a slice counts in addition to those that were allocated. They do not count in
   Gc.stat. */
static double words_beyond(uintnat allocated) {
  double before = Caml_state->stat_major_words;
  caml_allocated_words = allocated;
  caml_major_slice_begin_hook();
  double beyond = (double)caml_allocated_words - (double)allocated;
  CHECK(before - Caml_state->stat_major_words >= beyond);
  CHECK(before - Caml_state->stat_major_words < beyond + 1);
  caml_allocated_words = 0;
  return beyond;
}

static void begin_cycle(void) {
  caml_finish_major_cycle();
  caml_minor_collection();
  if (caml_gc_phase == Phase_idle) caml_major_collection_slice(0);
  CHECK(caml_gc_phase == Phase_mark);
}

/* Copies make the heap larger, and are also marked. Slices do more in proportion, so that a cycle
   is not longer than without them. The rest of a cycle's work is estimated from the last cycle that
   was not forced. Hooks that were there before are called. */
void test_scan_hastens_slices(void) {
  enum { POOLS = 100, FEW = 10000, MANY = 1000000 };
  caml_major_slice_begin_hook = count_slice;
  caml_major_gc_hook = count_marking;
  CHECK(boxroot_setup());
  value large = caml_alloc_shr((mlsize_t)20 * POOLS * BXR_SLOTS, String_tag);
  for (uint32_t i = 0; i < POOLS * BXR_SLOTS; i++) CHECK(boxroot_create(large) != NULL);
  CHECK(words_beyond(FEW) == 0 && slices == 1);
  double expected = 0.6;
  int const allocated_in_cycle[] = {MANY, FEW, FEW, MANY, MANY};
  for (int cycle = 0; cycle < 5; cycle++) {
    begin_cycle();
    CHECK(markings == cycle + 1);
    double allocated = allocated_in_cycle[cycle], copied = POOLS * BXR_SLOTS;
    double heap = (double)Caml_state->stat_heap_wsz, overhead = (double)caml_percent_free;
    double for_copies = 3 * copied * (100 + overhead) / 250 / heap;
    double haste = heap / (heap - copied) * (1 + for_copies / expected);
    double beyond = words_beyond((uintnat)allocated);
    CHECK(beyond > allocated * (haste - 1) * 0.99 && beyond < allocated * (haste - 1) * 1.01);
    CHECK(words_beyond((uintnat)allocated) == beyond);
    if (allocated == FEW) continue; /* as in a cycle that is forced to end */
    expected = 2 * (allocated + beyond) * 1.5 * (100 + overhead) / overhead / heap - for_copies;
  }
  /* When the cycle has ended, its copies are free. If a compaction follows, the heap may become
     smaller than they were. */
  begin_cycle();
  uintnat heap = Caml_state->stat_heap_wsz;
  for (int part = 1; part < 100; part *= 2) {
    Caml_state->stat_heap_wsz = 2 * POOLS * BXR_SLOTS / (uintnat)part;
    double beyond = words_beyond(MANY);
    CHECK(beyond >= 0 && beyond < 2 * MANY);
  }
  Caml_state->stat_heap_wsz = heap;
}
#else
void test_scan_hastens_slices(void) {}
#endif
#endif

/* The collector's action may run a finaliser that deletes a root. The library's hook is called as
   in a minor collection, or, on OCaml 4, as by any code that visits the roots. */
static boxroot to_delete;

static void delete_one(void) {
  if (to_delete != NULL) boxroot_delete(to_delete);
  to_delete = NULL;
}

#if OCAML_VERSION >= 50000
static void visit(void *data, value v, value volatile *root) {
  (void)data, (void)v, (void)root;
  delete_one();
}
static struct bxr_action const visiting = {visit, NULL};
static void call_hook(void) {
  caml_scan_roots_hook(visit, SCANNING_ONLY_YOUNG_VALUES, NULL, Caml_state);
}
#else
static void visit(value v, value *root) {
  (void)v, (void)root;
  delete_one();
}
static struct bxr_action const visiting = {visit};
static void call_hook(void) { caml_scan_roots_hook(visit); }
#endif

void test_scan_defers_deletes(void) {
  CHECK(boxroot_setup());
  boxroot block = boxroot_create(caml_alloc_small(1, 0));
  CHECK(block != NULL);
  to_delete = boxroot_create(Val_unit);
  struct bxr_pool *pool = bxr_pool_of_root(to_delete);
  call_hook();
  CHECK(to_delete == NULL);
  CHECK(pool->announced == 1 && bxr_pool_posted(pool) == 1 && bxr_pool_used(pool) == 2);
  bxr_remote_drain(bxr_setup_enter());
  CHECK(pool->announced == 0 && bxr_pool_used(pool) == 1);
}

/* Domains come and go, and no major cycle begins. Their pools become empty before or after they are
   adopted. */
void test_scan_after_many_ends(void) {
  enum { DOMAINS = 200, EACH = 20 };
  static boxroot roots[EACH][MANY];
  struct bxr_domain *adopter = bxr_orphans_obtain();
  create(adopter);
  for (int i = 0; i < DOMAINS; i++) {
    struct bxr_domain *domain = bxr_orphans_obtain();
    for (int j = 0; j < EACH; j++) fill(domain, roots[j]);
    if (i % 2 != 0) {
      bxr_orphans_add(domain);
      bxr_scan(BXR_SCAN_MINOR, &adopter, NULL, visiting);
    }
    for (int j = 0; j < EACH; j++)
      for (uint32_t slot = 0; slot < BXR_SLOTS; slot++) bxr_domain_free(roots[j][slot]);
    if (i % 2 == 0) {
      bxr_orphans_add(domain);
      bxr_scan(BXR_SCAN_MINOR, &adopter, NULL, visiting);
    }
  }
  CHECK(adopter->pools_adopted == DOMAINS * EACH);
  CHECK(adopter->pool_count > DOMAINS * EACH / 4 && adopter->pool_count < DOMAINS * EACH / 2);
  bxr_scan(BXR_SCAN_DARKEN, &adopter, NULL, visiting);
  size_t spared = adopter->empty_low;
  bxr_scan(BXR_SCAN_MINOR, &adopter, NULL, visiting);
  CHECK(adopter->empty_count < spared && adopter->empty_low == adopter->empty_count);
}
