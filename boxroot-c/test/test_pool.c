/* SPDX-License-Identifier: MIT */
/* Pools and records on their own: no OCaml runtime runs. */
#include "domain.h"
#include "test.h"

static struct bxr_domain *new_domain(void) {
  struct bxr_domain *domain = bxr_domain_obtain();
  CHECK(domain != NULL);
  return domain;
}

/* A current pool with all slots taken; roots[i] holds the immediate i. */
static struct bxr_pool *fill(struct bxr_domain *domain, boxroot *roots) {
  struct bxr_pool *pool = bxr_domain_next_pool(domain);
  CHECK(pool != NULL && pool->kind == BXR_CURRENT);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) {
    if (pool->head.free == NULL) CHECK(bxr_pool_extend(pool));
    roots[i] = bxr_pop(&pool->head, Val_long(i));
    CHECK(bxr_pool_of(roots[i]) == &pool->head);
  }
  CHECK(pool->high_water == BXR_SLOTS && pool->head.free == NULL && !bxr_pool_extend(pool));
  return pool;
}

void test_pool_slots(void) {
  static boxroot roots[1 << 16];
  struct bxr_domain *domain = new_domain();
  struct bxr_pool *pool = bxr_domain_next_pool(domain);
  CHECK((uintptr_t)pool % BXR_POOL_SIZE == 0);
  /* Fresh slots are initialised a few at a time, and every slot is an odd word or a value. */
  CHECK(pool->high_water > 0 && pool->high_water < BXR_SLOTS);
  CHECK(bxr_pool_used(pool) == 0);
  fill(domain, roots);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) CHECK(boxroot_get(roots[i]) == Val_long(i));
  /* Last freed, first taken; links are odd. */
  bxr_pool_free(pool, roots[5]);
  bxr_pool_free(pool, roots[9]);
  CHECK(*bxr_slot(roots[5]) == 1 && *bxr_slot(roots[9]) == ((uintptr_t)roots[5] | 1));
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 2);
  CHECK(bxr_pop(&pool->head, Val_unit) == roots[9]);
  CHECK(bxr_pop(&pool->head, Val_unit) == roots[5]);
}

/* A pool goes from full to roomy to empty exactly when its count of free slots says so. */
void test_pool_kinds(void) {
  static boxroot roots[1 << 16], more[1 << 16];
  struct bxr_domain *domain = new_domain();
  struct bxr_pool *pool = fill(domain, roots);
  struct bxr_pool *next = bxr_domain_next_pool(domain);
  CHECK(next != pool && pool->kind == BXR_FULL);
  uint32_t i = 0;
  for (; i < BXR_PARTIAL_FREE - 1; i++) bxr_pool_free(pool, roots[i]);
  CHECK(pool->kind == BXR_FULL && bxr_pool_used(pool) == BXR_SLOTS - i);
  bxr_pool_free(pool, roots[i++]);
  CHECK(pool->kind == BXR_PARTIAL && bxr_pool_used(pool) == BXR_SLOTS - i);
  CHECK(bxr_list_pool(domain->young_partial.next) == pool);
  for (; i < BXR_SLOTS - 1; i++) bxr_pool_free(pool, roots[i]);
  CHECK(pool->kind == BXR_PARTIAL && domain->empty_count == 0);
  bxr_pool_free(pool, roots[i]);
  CHECK(pool->kind == BXR_EMPTY && domain->empty_count == 1 && pool->high_water == 0);
  /* It is used again before a new one is made. */
  fill(domain, more);
  CHECK(bxr_domain_next_pool(domain) == pool && domain->empty_count == 0);
  CHECK(domain->pool_count == 2);
}

void test_pool_remote_deletes(void) {
  static boxroot roots[1 << 16];
  struct bxr_domain *domain = new_domain();
  struct bxr_pool *pool = fill(domain, roots);
  bxr_domain_next_pool(domain);
  /* Announced once: on the drain list; the slots are untouched until the drain. */
  for (uint32_t i = 0; i < 100; i++) bxr_domain_delete_remotely(roots[3 * i]);
  CHECK(domain->drain == pool && pool->next_to_drain == NULL && pool->announced == 100);
  CHECK(boxroot_get(roots[0]) == Val_long(0) && bxr_pool_used(pool) == BXR_SLOTS);
  bxr_domain_drain(domain);
  CHECK(domain->drain == NULL && pool->announced == 0);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 100 && domain->deferred_deletes == 100);
  /* A delete that is announced and not yet marked keeps the pool on the list. */
  CHECK(bxr_pool_announce(bxr_batch_of(roots[1])));
  pool->next_to_drain = NULL;
  domain->drain = pool;
  bxr_domain_drain(domain);
  CHECK(domain->drain == pool && pool->announced == 1);
  bxr_pool_post(bxr_batch_of(roots[1]));
  bxr_domain_drain(domain);
  CHECK(domain->drain == NULL && pool->announced == 0);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 101);
}
