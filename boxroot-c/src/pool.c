/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include "mark.h"

#include <string.h>

_Static_assert(BXR_POOL_LOG >= 12 && BXR_POOL_LOG <= 22, "a pool holds 4 KiB to 4 MiB");
_Static_assert(offsetof(struct bxr_pool, slots) ==
                 offsetof(struct bxr_pool, block_header) + sizeof(uintptr_t),
               "the block header is just before the slots");
_Static_assert(offsetof(struct bxr_pool, owner) == 64, "the owner's part is one cache line");

/* Slots initialised at a time: enough to make the slow path rare, few enough that they
   are still in the first-level cache when they are taken. */
enum { EXTENT = 64 };

/* ---- lists ---- */

void bxr_list_init(struct bxr_link *list) { list->next = list->prev = list; }

bool bxr_list_is_empty(struct bxr_link const *list) { return list->next == list; }

void bxr_list_push(struct bxr_link *list, struct bxr_pool *pool) {
  pool->link.next = list->next;
  pool->link.prev = list;
  list->next->prev = &pool->link;
  list->next = &pool->link;
}

void bxr_list_remove(struct bxr_pool *pool) {
  pool->link.prev->next = pool->link.next;
  pool->link.next->prev = pool->link.prev;
}

void bxr_list_splice(struct bxr_link *to, struct bxr_link *from) {
  if (bxr_list_is_empty(from)) return;
  from->prev->next = to->next;
  to->next->prev = from->prev;
  to->next = from->next;
  from->next->prev = to;
  bxr_list_init(from);
}

struct bxr_pool *bxr_list_pool(struct bxr_link *link) {
  return (struct bxr_pool *)((char *)link - offsetof(struct bxr_pool, link));
}

/* ---- slots ---- */

void bxr_pool_init(struct bxr_pool *pool, struct bxr_domain *owner) {
  pool->kind = BXR_EMPTY;
  bxr_pool_set_owner(pool, owner);
}

bool bxr_pool_extend(struct bxr_pool *pool) {
  uint32_t start = pool->high_water;
  uint32_t end = BXR_SLOTS - start < EXTENT ? BXR_SLOTS : start + EXTENT;
  if (start == end) return false;
  for (uint32_t i = start; i < end - 1; i++)
    pool->slots[i] = (uintptr_t)&pool->slots[i + 1] + 1;
  pool->slots[end - 1] = (uintptr_t)NULL + 1;
  pool->head.free = (boxroot)&pool->slots[start];
  pool->high_water = end;
  return true;
}

void bxr_pool_free(struct bxr_pool *pool, boxroot r) {
  if (pool->marking != BXR_IDLE) bxr_mark_before_overwrite(pool, r);
  bxr_push(&pool->head, r);
  if (--pool->head.countdown == 0) bxr_domain_refile(&pool->head);
}

uint32_t bxr_pool_used(struct bxr_pool *pool) {
  switch ((enum bxr_kind)pool->kind) {
  case BXR_FULL: return (uint32_t)pool->head.countdown + BXR_SLOTS - BXR_PARTIAL_FREE;
  case BXR_PARTIAL: return (uint32_t)pool->head.countdown;
  case BXR_EMPTY: return 0;
  case BXR_CURRENT: break;
  }
  uint32_t used = pool->high_water;
  for (boxroot r = pool->head.free; r != NULL; r = (boxroot)(*bxr_slot(r) - 1)) used--;
  return used;
}

/* ---- remote deletes ---- */

void bxr_pool_set_owner(struct bxr_pool *pool, struct bxr_domain *owner) {
  if (pool->marking == BXR_IDLE)
    __atomic_store_n(&pool->head.fast_owner, (struct bxr_domain_head *)owner, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->owner, owner, __ATOMIC_SEQ_CST);
}

bool bxr_pool_announce(struct bxr_batch batch) {
  uint64_t count = (uint64_t)__builtin_popcountll(batch.bits);
  return __atomic_fetch_add(&batch.pool->announced, count, __ATOMIC_ACQ_REL) == 0;
}

void bxr_pool_post(struct bxr_batch batch) {
  __atomic_fetch_or(&batch.pool->pending[batch.word], batch.bits, __ATOMIC_RELEASE);
}

bool bxr_pool_harvest(struct bxr_pool *pool, uint64_t *freed) {
  uint64_t count = 0;
  for (size_t i = 0; i < BXR_PENDING_WORDS; i++) {
    if (__atomic_load_n(&pool->pending[i], __ATOMIC_RELAXED) == 0) continue;
    uint64_t bits = __atomic_exchange_n(&pool->pending[i], 0, __ATOMIC_ACQUIRE);
    for (; bits != 0; bits &= bits - 1, count++)
      bxr_pool_free(pool, (boxroot)((uintptr_t *)pool + 64 * i + (size_t)__builtin_ctzll(bits)));
  }
  *freed += count;
  return __atomic_sub_fetch(&pool->announced, count, __ATOMIC_ACQ_REL) != 0;
}

bool bxr_pool_forget_unmarked(struct bxr_pool *pool) {
  uint64_t marked = 0;
  for (size_t i = 0; i < BXR_PENDING_WORDS; i++)
    marked += (uint64_t)__builtin_popcountll(pool->pending[i]);
  pool->announced = marked;
  return marked != 0;
}
