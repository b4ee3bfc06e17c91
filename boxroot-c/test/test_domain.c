/* SPDX-License-Identifier: MIT */
/* Promotion and trimming, without a running OCaml runtime. */
#ifndef BXR_FAULT_INJECTION
#define BXR_FAULT_INJECTION
#endif

#include "barrier.h"
#include "os.h"
#include "remote.h"
#include "test.h"
#include "release.h"

void test_domain_promotion(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < 3 * BXR_SLOTS + 10; i++) create(domain);
  struct bxr_pool *current = domain->current;
  CHECK(length(&domain->young) == 3 && length(&domain->old) == 0);
  CHECK(current->head.young);
  promote(domain);
  CHECK(length(&domain->young) == 0 && length(&domain->old) == 3);
  CHECK(domain->current == current && domain->head.free == BXR_NO_SLOT);
  CHECK(!current->head.young);
  /* The next create goes on in this pool, which becomes young again. */
  create(domain);
  CHECK(domain->current == current);
  CHECK(current->head.young && bxr_pool_used(current) == 11);
  CHECK(used(domain) == 3 * BXR_SLOTS + 11);
}

/* An old current pool of which the first 20 slots and the last two are free, and all others
   used. */
static struct bxr_pool *old_current(struct bxr_domain *domain, boxroot *roots) {
  struct bxr_pool *pool = fill(domain, roots);
  for (uint32_t i = 0; i < 20; i++) bxr_domain_free(roots[i]);
  bxr_domain_free(roots[BXR_SLOTS - 1]);
  bxr_domain_free(roots[BXR_SLOTS - 2]);
  promote(domain);
  CHECK(domain->current == pool);
  return pool;
}

static bool is_listed(struct bxr_domain *domain, boxroot r) {
  for (uint32_t i = 0; i < domain->listed.count; i++)
    if (domain->listed.slots[i] == r) return true;
  return false;
}

/* The first roots after a scan are in listed slots, even if other roots of the pool are deleted
   meanwhile. */
void test_domain_lists_few_roots(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = old_current(domain, roots);
  boxroot few[22];
  for (uint32_t i = 0; i < 22; i++) {
    few[i] = create(domain);
    CHECK(domain->current == pool && !pool->head.young);
    CHECK(is_listed(domain, few[i]) && !is_listed(domain, roots[100 + i]));
    if (i < 10) bxr_domain_free(roots[100 + i]);
    CHECK(bxr_pool_used(pool) == BXR_SLOTS - 22 + i + 1 - (i < 10 ? i + 1 : 10));
  }
  /* In the end, all slots are reused. */
  for (uint32_t i = 0; i < 10; i++) CHECK(is_listed(domain, create(domain)));
  CHECK(is_full(domain, pool) && domain->listed.count == 32);
  promote(domain);
  CHECK(domain->current == pool && domain->listed.count == 0 && bxr_pool_used(pool) == BXR_SLOTS);
}

void test_domain_lists_what_modify_stores(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = old_current(domain, roots);
  CHECK(!bxr_domain_admit_young(domain, roots[100]));
  create(domain);
  CHECK(bxr_domain_admit_young(domain, roots[100]) && is_listed(domain, roots[100]));
  /* When no more slots can be listed, the pool becomes young, and has all its free slots again. */
  for (uint32_t i = 101; !pool->head.young; i++) {
    CHECK(i < 300);
    CHECK(bxr_domain_admit_young(domain, roots[i]));
  }
  CHECK(domain->listed.count == 0 && domain->head.uncounted == bxr_pool_start(pool));
  for (uint32_t i = 0; i < 21; i++) create(domain);
  CHECK(is_full(domain, pool));
}

/* The list has room for BXR_LISTED slots. */
void test_domain_lists_as_many_as_fit(void) {
  static boxroot roots[MANY];
  enum { FREE = 100, AT_A_TIME = 16 };
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = fill(domain, roots);
  for (uint32_t i = 0; i < FREE; i++) bxr_domain_free(roots[i]);
  promote(domain);
  create(domain);
  CHECK(domain->listed.count == AT_A_TIME);
  for (uint32_t i = FREE; domain->listed.count < BXR_LISTED - AT_A_TIME; i++)
    CHECK(bxr_domain_admit_young(domain, roots[i]));
  for (int i = 0; i < AT_A_TIME; i++) create(domain);
  CHECK(domain->listed.count == BXR_LISTED && !pool->head.young);
  CHECK(bxr_domain_admit_young(domain, roots[BXR_SLOTS - 1]));
  CHECK(domain->listed.count == 0 && pool->head.young);
}

/* A listed pool becomes young when it is filed, and when very many roots are made in it. */
void test_domain_lists_no_more(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = old_current(domain, roots);
  create(domain);
  bxr_domain_free(roots[100]);
  CHECK(domain->listed.count != 0);
  bxr_domain_retire(domain);
  CHECK(domain->listed.count == 0 && length(&domain->young) == 1);
  CHECK(pool->kind == BXR_FULL && bxr_pool_used(pool) == BXR_SLOTS - 22);

  pool = fill(domain, roots);
  for (uint32_t i = 0; i < BXR_SLOTS / 2; i++) bxr_domain_free(roots[i]);
  promote(domain);
  for (uint32_t i = 0; i < BXR_SLOTS / 2; i++) {
    create(domain);
    CHECK(domain->current == pool);
    CHECK(pool->head.young == (domain->listed.count == 0));
  }
  CHECK(domain->listed.count == 0 && is_full(domain, pool));
}

/* Creates use a pool that has roots rather than an empty one, so that more pools become empty. */
void test_domain_fills_partial_pools_first(void) {
  static boxroot roots[2][MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *partial = fill(domain, roots[0]);
  fill(domain, roots[1]);
  fill(domain, roots[1] + BXR_SLOTS);
  promote(domain);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) bxr_domain_free(roots[1][i]);
  for (uint32_t i = 1; i < BXR_SLOTS; i++) bxr_domain_free(roots[0][i]);
  CHECK(partial->kind == BXR_PARTIAL && domain->empty_count == 1);
  create(domain);
  CHECK(domain->current == partial && domain->empty_count == 1);
}

/* Each minor scan unmaps a share of the pools that are not needed, for any number of pools. */
void test_domain_releases_a_share(void) {
  enum { ROOTS = 3000 * BXR_SLOTS };
  struct bxr_domain *domain = bxr_orphans_obtain();
  boxroot *roots = malloc(ROOTS * sizeof *roots);
  CHECK(roots != NULL);
  for (uint32_t i = 0; i < ROOTS; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < ROOTS; i++) bxr_domain_free(roots[i]);
  free(roots);
  CHECK(domain->empty_count == 3000);
  bxr_release_begin_cycle(domain); /* they are not needed any more when a cycle has passed */
  bxr_release_begin_cycle(domain);
  for (int scan = 0; domain->empty_count > 0; scan++) {
    /* System calls also count, but they are few. */
    size_t before = domain->empty_count, share = before / 16 + 1;
    bxr_release_share(domain, 0);
    CHECK(before - domain->empty_count <= share && scan < 100);
    CHECK(before - domain->empty_count >= share - share / 16);
  }
}

/* The pools that became empty first are unmapped first. The latest ones are still in the caches,
   and are used next. */
void test_domain_releases_the_coldest(void) {
  enum { FULL = 4 };
  static boxroot roots[FULL][MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (int i = 0; i < FULL; i++) fill(domain, roots[i]);
  create(domain);
  for (int i = 0; i < FULL; i++)
    for (uint32_t j = 0; j < BXR_SLOTS; j++) bxr_domain_free(roots[i][j]);
  domain->empty_low = FULL - 1; /* as if one of them had been needed in this cycle */
  begin_cycle_and_release(domain);
  CHECK(domain->empty_count == 1 && is_mapped((void *)bxr_start_of(roots[FULL - 1][0])));
}

void test_domain_trim(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  uint32_t n = 4 * BXR_SLOTS;
  CHECK(n < MANY);
  for (uint32_t i = 0; i < n; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < n; i++) bxr_domain_free(roots[i]);
  CHECK(domain->empty_count == 4 && domain->pool_count == 5);
  /* They became empty just now. First a cycle must pass in which they are not needed. */
  begin_cycle_and_release(domain);
  CHECK(domain->pool_count == 5);
  /* Three of them are used in the next cycle, and empty again at its end: only the fourth is
     unmapped. */
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) roots[i] = create(domain);
  CHECK(domain->empty_count == 1);
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) bxr_domain_free(roots[i]);
  CHECK(domain->empty_low == 1 && domain->empty_count > 1);
  size_t pools = domain->pool_count;
  begin_cycle_and_release(domain);
  CHECK(domain->pool_count == pools - 1 && domain->empty_low == domain->empty_count);
  begin_cycle_and_release(domain);
  CHECK(domain->empty_count == 0);
}

/* Trimming carries out remote deletes first. */
void test_domain_trim_remote_deletes(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  bxr_remote_delete(create(domain));
  CHECK(bxr_domain_trim_empty(&domain->head) == BXR_POOL_SIZE && domain->pool_count == 0);
}

/* Pools that are neighbours in memory are unmapped by one call, in whichever order they became
   empty. */
void test_domain_trim_neighbours(void) {
  enum { FULL = 6 };
  static boxroot roots[FULL][MANY];
  for (int backwards = 0; backwards < 2; backwards++) {
    struct bxr_domain *domain = bxr_orphans_obtain();
    for (int i = 0; i < FULL; i++) fill(domain, roots[i]);
    create(domain);
    for (int i = 0; i < FULL; i++)
      for (uint32_t j = 0; j < BXR_SLOTS; j++)
        bxr_domain_free(roots[backwards ? FULL - 1 - i : i][j]);
    bxr_os_refuse_unmap(false);
    CHECK(bxr_release_all(domain) == FULL && bxr_os_refuse_unmap(false) == 1);
  }
}

/* A second teardown unmaps nothing, because others may be using the addresses now. */
void test_domain_tear_down_twice(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  create(domain);
  bxr_os_refuse_unmap(false);
  bxr_release_at_teardown(domain);
  CHECK(bxr_os_refuse_unmap(false) == 1);
  bxr_release_at_teardown(domain);
  CHECK(bxr_os_refuse_unmap(false) == 0);
}

/* Pools that the system refuses to unmap are reused. */
void test_domain_trim_refused(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) bxr_domain_free(roots[i]);
  bxr_os_refuse_unmap(true);
  CHECK(bxr_release_all(domain) == 0);
  bxr_os_refuse_unmap(false);
  CHECK(domain->pool_count == 4 && domain->empty_count == 3 && length(&domain->empty) == 3);
  for (uint32_t i = 0; i < 2 * BXR_SLOTS; i++) create(domain);
  CHECK(domain->pool_count == 4 && domain->empty_count == 1);
  CHECK(bxr_release_all(domain) == 1 && domain->pool_count == 3);
}
