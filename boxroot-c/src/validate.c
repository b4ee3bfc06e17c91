/* SPDX-License-Identifier: MIT */
/* Recounts everything, and checks the invariants of pool.h and domain.h. */
#include "runtime.h"
#include "setup.h"

/* The usual cause of a broken invariant. */
#define MISUSE "; was a root deleted twice, or used after its delete?"

struct check {
  struct bxr_domain *domain;
  struct bxr_range minor_heap;
  size_t pools, empty, waiting;
  char const *broken;
};

static void require(struct check *check, bool holds, char const *invariant) {
  if (!holds && check->broken == NULL) check->broken = invariant;
}

/* `length` plus the length of a free list. UINT32_MAX if an element of the list is not a slot below
   the high-water mark, or if the sum exceeds that mark. */
static uint32_t free_length(struct bxr_pool *pool, uintptr_t list, uint32_t length) {
  for (boxroot r = bxr_linked(list); r != NULL; r = bxr_next_free(r)) {
    uintptr_t *slot = bxr_slot(r);
    bool sane = (uintptr_t)slot % sizeof(value) == 0 && slot >= pool->slots &&
                slot < pool->slots + pool->high_water && length++ < pool->high_water;
    if (!sane) return UINT32_MAX;
  }
  return length;
}

static bool is_listed(struct bxr_domain *domain, struct bxr_pool *pool) {
  return pool == domain->current && domain->listed.count != 0;
}

static bool is_listed_slot(struct bxr_listed *listed, uintptr_t *slot) {
  for (uint32_t i = 0; i < listed->count; i++)
    if (bxr_slot(listed->slots[i]) == slot) return true;
  return false;
}

static void check_waiting(struct check *check, struct bxr_pool *pool) {
  uint64_t const *bits = pool->waiting_bits;
  uint32_t waiting = 0;
  for (size_t i = 0; i < BXR_BITS_WORDS; i++) {
    waiting += (uint32_t)__builtin_popcountll(bits[i]);
    require(check, (bits[i] & bxr_peek(&bxr_pool_pending(pool)[i])) == 0,
            "no waiting delete is also a remote delete");
  }
  require(check, waiting == pool->waiting, "the count of waiting deletes is right");
  check->waiting += waiting != 0;
}

static void check_pool(struct bxr_pool *pool, void *context) {
  struct check *check = context;
  check->pools++;
  check->empty += pool->kind == BXR_EMPTY;
  require(check, bxr_pool_owner(pool) == check->domain,
          "a pool's owner is the domain that lists it");
  require(check,
          pool->head.fast_owner ==
            (pool->closed ? bxr_owner_of_closed(&check->domain->head) : &check->domain->head),
          "a pool's fast owner is its owner, or no record if the pool is closed");
  require(check, pool->high_water <= BXR_SLOTS, "the high-water mark is within the pool");
  uint32_t free = free_length(pool, pool->head.free, 0);
  require(check,
          pool->kind != BXR_CURRENT || pool->head.countdown <= BXR_NOT_COUNTED ||
            INTPTR_MAX - pool->head.countdown == free,
          "the countdown of the current pool matches the number of deleted slots" MISUSE);
  if (pool->kind == BXR_CURRENT && free != UINT32_MAX) free = free_length(pool, pool->aside, free);
  if (pool == check->domain->current && free != UINT32_MAX)
    free = free_length(pool, check->domain->head.free, free);
  require(check, free <= pool->high_water,
          "the free list holds distinct slots below the high-water mark" MISUSE);
  if (check->broken != NULL) return;
  require(check, bxr_pool_used(pool) == pool->high_water - free,
          "countdown and free list agree" MISUSE);
  require(check, pool->kind == BXR_EMPTY || pool->head.countdown > 0, "countdown is positive");
  uint64_t posted = bxr_pool_posted(pool);
  require(check, posted <= bxr_load(&pool->announced),
          "remote deletes are announced before they are posted");
  check_waiting(check, pool);
  if (pool->head.young) return;
  bool listed = is_listed(check->domain, pool);
  for (uint32_t i = 0; i < pool->high_water; i++) {
    bool young = bxr_is_block_in(check->minor_heap, pool->slots[i]);
    require(check, !young || (listed && is_listed_slot(&check->domain->listed, &pool->slots[i])),
            "an old pool has young values only in listed slots");
  }
  for (boxroot r = bxr_linked(check->domain->head.free); listed && r != NULL; r = bxr_next_free(r))
    require(check, is_listed_slot(&check->domain->listed, bxr_slot(r)),
            "create takes only listed slots of a listed pool");
}

static void check_list(struct check *check, struct bxr_link *list, enum bxr_kind kind, bool young) {
  for (struct bxr_link *link = list->next; link != list; link = link->next) {
    struct bxr_pool *pool = bxr_list_pool(link);
    require(check, link->next->prev == link && link->prev->next == link, "lists are doubly linked");
    require(check, pool->kind == (uint32_t)kind, "a pool is in the list of its kind");
    require(check, pool->head.young == young, "a pool is in the list of its generation");
    if (check->broken != NULL) return;
  }
}

/* The invariant that is broken, or NULL. */
static char const *check_record(struct bxr_domain *domain) {
  struct check check = {.domain = domain, .minor_heap = bxr_minor_heap()};
  check_list(&check, &domain->young, BXR_FULL, true);
  check_list(&check, &domain->young_partial, BXR_PARTIAL, true);
  check_list(&check, &domain->old, BXR_FULL, false);
  check_list(&check, &domain->old_partial, BXR_PARTIAL, false);
  check_list(&check, &domain->empty, BXR_EMPTY, false);
  if (check.broken != NULL) return check.broken;
  bxr_domain_each_pool(domain, check_pool, &check);
  uintptr_t uncounted = domain->head.uncounted;
  struct bxr_pool *current = domain->current;
  require(&check,
          uncounted == BXR_NO_POOL || (current != NULL && uncounted == bxr_pool_start(current)),
          "only the current pool can be uncounted");
  require(&check,
          current == NULL ||
            (current->head.young ? domain->listed.count == 0 : uncounted == BXR_NO_POOL),
          "a young current pool has no listed slots, and an old one is not uncounted");
  require(&check,
          domain->head.free == BXR_NO_SLOT ||
            (current != NULL && (current->head.young || domain->listed.count != 0)),
          "create takes slots of the current pool, which is young or listed");
  require(&check, current != NULL || domain->listed.count == 0,
          "slots are listed only if there is a current pool");
  require(&check, uncounted == BXR_NO_POOL || bxr_pool_at(uncounted)->fast_owner == &domain->head,
          "an uncounted pool is not closed");
  require(&check, check.pools == domain->pool_count, "the count of pools is right");
  require(&check, check.empty == domain->empty_count, "the count of empty pools is right");
  require(&check, check.waiting == domain->waiting_count,
          "the count of pools with waiting deletes is right");
  require(&check, domain->empty_low <= domain->empty_count,
          "the lowest count of empty pools is not above the present one");
  return check.broken;
}

char const *boxroot_validate(void) {
  struct bxr_domain *domain = bxr_setup_enter_if_trusted();
  if (domain == NULL) return NULL;
  char const *broken = check_record(domain);
  return broken != NULL || domain->shadow == NULL ? broken : check_record(domain->shadow);
}
