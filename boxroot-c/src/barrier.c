/* SPDX-License-Identifier: MIT */
/* Short comments in the code, such as "visited", name the claims of barrier.h. */
#include "barrier.h"

#include "runtime.h"

uintptr_t bxr_barrier_hand_over(struct bxr_domain_head *owner, struct bxr_pool *pool) {
  pool->closed = true;
  bxr_publish(&pool->head.fast_owner, bxr_owner_of_closed(owner));
  if (owner->uncounted == bxr_pool_start(pool)) owner->uncounted = BXR_NO_POOL; /* both-ways */
  pool->waits_in_snapshot = false;
  pool->block_header = bxr_runtime_unmarked_header(pool->high_water);
  return (uintptr_t)pool->slots;
}

void bxr_barrier_open(struct bxr_pool *pool) {
  if (!pool->closed) return;
  pool->closed = false;
  bxr_publish(&pool->head.fast_owner, bxr_pool_owner_head(pool));
}

bool bxr_barrier_try_open(struct bxr_pool *pool) {
  if (pool->closed && bxr_runtime_marking_done()) bxr_barrier_open(pool); /* visited */
  return !pool->closed;
}

bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r) {
  /* An old pool has no young value and few immediates: its slot is not worth a cache miss. */
  bool old = !pool->head.young && pool->kind != BXR_CURRENT;
  if (old) return true;
  value v = boxroot_get(r);
  return Is_block(v) && !bxr_may_be_young(v); /* snapshot */
}

void bxr_barrier_forget_young_values(struct bxr_pool *pool) {
  if (!pool->closed) return;
  struct bxr_range minor_heap = bxr_minor_heap();
  for (uintptr_t *slot = pool->slots; slot < pool->slots + pool->high_water; slot++)
    if (bxr_is_block_in(minor_heap, *slot)) bxr_publish(slot, (uintptr_t)Val_unit);
}
