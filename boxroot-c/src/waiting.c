/* SPDX-License-Identifier: MIT */
/* Short comments in the code name the claims of waiting.h. */
#include "waiting.h"

#include <string.h>

#include "barrier.h"
#include "runtime.h"

static struct bxr_pool *pool_of_link(struct bxr_link *link) {
  return (struct bxr_pool *)((char *)link - offsetof(struct bxr_pool, waits));
}

/* Whether the slots that wait may be freed (ripe). */
static bool is_ripe(struct bxr_pool *pool) { return !pool->closed || !pool->waits_in_snapshot; }

/* Frees the waiting slots of the pool. */
static void free_slots(struct bxr_domain *domain, struct bxr_pool *pool) {
  uint64_t *bits = pool->waiting_bits;
  bxr_list_unlink(&pool->waits);
  domain->waiting_count--;
  bxr_domain_count(&domain->deferred_deletes, pool->waiting);
  bxr_domain_free_all(pool, bits, pool->waiting);
  pool->waiting = 0;
  pool->waits_in_snapshot = false;
  memset(bits, 0, BXR_BITS_SIZE);
}

/* Called before slots of the pool begin to wait for the first time since its last hand-over. */
__attribute__((noinline)) static void prepare_pool(struct bxr_pool *pool) {
  struct bxr_domain *domain = bxr_pool_owner(pool);
  bxr_barrier_try_open(pool);
  if (pool->waiting != 0) free_slots(domain, pool); /* all-alike: they are ripe */
  bxr_list_insert(domain->waiting.prev, &pool->waits);
  domain->waiting_count++;
  pool->waits_in_snapshot = true;
}

uint64_t bxr_waiting_add(struct bxr_pool *pool, size_t word, uint64_t bits) {
  if (!pool->waits_in_snapshot) prepare_pool(pool);
  uint64_t count = bxr_count_bits(bits);
  pool->waiting_bits[word] |= bits;
  pool->waiting += (uint32_t)count;
  return count;
}

bool bxr_waiting_empty(struct bxr_pool *pool) {
  if (pool->waiting == 0 || pool->kind == BXR_CURRENT || pool->waiting != bxr_pool_used(pool))
    return false;
  bxr_barrier_open(pool);
  free_slots(bxr_pool_owner(pool), pool);
  return true;
}

void bxr_waiting_free(struct bxr_domain *domain, size_t n) {
  struct bxr_link *link = domain->waiting.next;
  for (; n > 0 && link != &domain->waiting; n--) {
    struct bxr_pool *pool = pool_of_link(link);
    link = link->next;
    bxr_barrier_try_open(pool);
    if (!is_ripe(pool)) return; /* neither is any pool that began to wait later */
    free_slots(domain, pool);
  }
}
