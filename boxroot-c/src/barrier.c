/* SPDX-License-Identifier: MIT */
/* The words in comments at the code are those of barrier.h. */
#include "barrier.h"

#include "runtime.h"

static void set_marking(struct bxr_pool *pool, enum bxr_marking marking) {
  struct bxr_domain_head *owner = bxr_pool_owner_head(pool);
  pool->marking = (uint8_t)marking;
  bxr_publish(&pool->head.fast_owner, bxr_fast_owner(owner, marking));
  if (!bxr_marking_is_open(marking) && owner->uncounted == bxr_pool_start(pool))
    owner->uncounted = BXR_NO_POOL; /* both-ways */
}

uintptr_t bxr_barrier_hand_over(struct bxr_pool *pool) {
  pool->block_header = bxr_runtime_unmarked_header(pool->high_water);
  pool->cycle = bxr_runtime_cycle();
  set_marking(pool, BXR_ACTIVE);
  pool->waits_in_snapshot = false;
  return (uintptr_t)pool->slots;
}

void bxr_barrier_end(struct bxr_pool *pool) {
  if (pool->marking != BXR_IDLE) set_marking(pool, BXR_IDLE);
}

enum bxr_marking bxr_barrier_update(struct bxr_pool *pool) {
  if (pool->marking == BXR_IDLE) return BXR_IDLE;
  if (bxr_runtime_marking_done() || pool->cycle != bxr_runtime_cycle())
    set_marking(pool, BXR_IDLE); /* reopen-visited */
  else if (pool->marking == BXR_ACTIVE && pool->kind == BXR_EMPTY)
    set_marking(pool, BXR_REOPENED); /* reopen-empty */
  return (enum bxr_marking)pool->marking;
}

bool bxr_barrier_keeps(struct bxr_pool *pool, boxroot r) {
  if (bxr_marking_is_open(bxr_barrier_update(pool))) return false;
  /* An old pool has no young value, and few immediates: so its slot is not brought to the cache. */
  bool old = !pool->head.young && pool->kind != BXR_CURRENT;
  if (old) return true;
  value v = boxroot_get(r);
  return Is_block(v) && !bxr_may_be_young(v); /* snapshot */
}

void bxr_barrier_forget_young_values(struct bxr_pool *pool) {
  if (pool->marking == BXR_IDLE) return;
  struct bxr_range minor_heap = bxr_minor_heap();
  for (uintptr_t *slot = pool->slots; slot < pool->slots + pool->high_water; slot++)
    if (bxr_is_block_in(minor_heap, *slot)) bxr_publish(slot, (uintptr_t)Val_unit);
}
