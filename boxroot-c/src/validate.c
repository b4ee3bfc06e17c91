/* SPDX-License-Identifier: MIT */
/* Recounts everything, and compares with the invariants of pool.h and domain.h. */
#include "runtime.h"
#include "setup.h"

struct check {
  struct bxr_domain *domain;
  struct bxr_range minor_heap;
  size_t pools, empty;
  char const *broken;
};

static void require(struct check *check, bool holds, char const *invariant) {
  if (!holds && check->broken == NULL) check->broken = invariant;
}

/* The length of the free list, or more than mark if it is not a list of free slots. */
static uint32_t free_length(struct bxr_pool *pool) {
  uint32_t length = 0;
  for (boxroot r = pool->head.free; r != NULL; r = (boxroot)(*bxr_slot(r) - 1)) {
    uintptr_t *slot = bxr_slot(r);
    bool sane = (uintptr_t)slot % sizeof(value) == 0 && slot >= pool->slots &&
                slot < pool->slots + pool->high_water && length++ < pool->high_water;
    if (!sane) return UINT32_MAX;
  }
  return length;
}

static void check_pool(struct bxr_pool *pool, void *context) {
  struct check *check = context;
  check->pools++;
  check->empty += pool->kind == BXR_EMPTY;
  require(check, bxr_pool_owner(pool) == check->domain,
          "a pool's owner is the domain that lists it");
  require(check,
          pool->head.fast_owner == (pool->marking > BXR_REOPENED ? NULL : &check->domain->head),
          "a pool's fast owner is its owner, or NULL while the pool is closed");
  require(check, pool->head.epoch <= check->domain->head.epoch, "no pool's epoch is in the future");
  require(check, pool->high_water <= BXR_SLOTS, "the high-water mark is within the pool");
  uint32_t free = free_length(pool);
  require(check, free <= pool->high_water,
          "the free list holds distinct slots below the high-water mark");
  if (check->broken != NULL) return;
  require(check, bxr_pool_used(pool) == pool->high_water - free, "countdown and free list agree");
  require(check, pool->kind == BXR_EMPTY || pool->head.countdown > 0, "countdown is positive");
  uint64_t posted = bxr_pool_posted(pool);
  require(check, posted <= bxr_load(&pool->announced),
          "remote deletes are announced before they are posted");
  if (pool->head.epoch == check->domain->head.epoch) return;
  for (uint32_t i = 0; i < pool->high_water; i++) {
    uintptr_t v = pool->slots[i];
    require(check, (v & 1) != 0 || !bxr_may_be_in(check->minor_heap, (value)v),
            "an old pool holds no young value");
  }
}

static void check_list(struct check *check, struct bxr_link *list, enum bxr_kind kind, bool young) {
  for (struct bxr_link *link = list->next; link != list; link = link->next) {
    struct bxr_pool *pool = bxr_list_pool(link);
    require(check, link->next->prev == link && link->prev->next == link, "lists are doubly linked");
    require(check, pool->kind == (uint32_t)kind, "a pool is in the list of its kind");
    require(check, (pool->head.epoch == check->domain->head.epoch) == young,
            "a pool is in the list of its generation");
    if (check->broken != NULL) return;
  }
}

char const *boxroot_validate(void) {
  struct bxr_domain *domain = bxr_enter_if_trusted();
  if (domain == NULL) return NULL;
  struct check check = {.domain = domain, .minor_heap = bxr_minor_heap()};
  check_list(&check, &domain->young, BXR_FULL, true);
  check_list(&check, &domain->young_partial, BXR_PARTIAL, true);
  check_list(&check, &domain->old, BXR_FULL, false);
  check_list(&check, &domain->old_partial, BXR_PARTIAL, false);
  check_list(&check, &domain->empty, BXR_EMPTY, false);
  if (check.broken != NULL) return check.broken;
  bxr_domain_each_pool(domain, check_pool, &check);
  struct bxr_pool_head *uncounted = domain->head.uncounted;
  require(&check, uncounted == &bxr_no_pool || uncounted == domain->head.current,
          "only the current pool is not counted");
  require(&check, uncounted == &bxr_no_pool || uncounted->fast_owner == &domain->head,
          "a closed pool is closed to deletes that are not counted, too");
  require(&check, check.pools == domain->pool_count, "the pools are counted");
  require(&check, check.empty == domain->empty_count, "the empty pools are counted");
  require(&check, domain->empty_low <= domain->empty_count,
          "no more empty pools were spared than there are");
  require(&check, domain->parked == NULL || bxr_domain_current(domain) == NULL,
          "a pool is parked only while none is current");
  return check.broken;
}
