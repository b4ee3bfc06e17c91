/* SPDX-License-Identifier: MIT */
/* Pools that are handed over. No OCaml runtime marks them. */
#include "barrier.h"
#include "test.h"

static bool fast_paths_are_open(struct bxr_domain *domain, struct bxr_pool *pool) {
  return pool->head.fast_owner == &domain->head || domain->head.uncounted == bxr_pool_start(pool);
}

/* A pool that is handed over while it is current is also closed to deletes that are not counted. */
void test_barrier_closes_both_ways(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  create(domain);
  struct bxr_pool *pool = domain->current;
  CHECK(pool->head.fast_owner == &domain->head && domain->head.uncounted == bxr_pool_start(pool));
  CHECK(bxr_barrier_hand_over(&domain->head, pool) == (uintptr_t)pool->slots);
  CHECK(pool->closed && !fast_paths_are_open(domain, pool));
  bxr_barrier_open(pool);
  CHECK(!pool->closed && pool->head.fast_owner == &domain->head);
}
