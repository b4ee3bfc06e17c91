/* SPDX-License-Identifier: MIT */
#include "pool.h"

_Static_assert(BXR_POOL_LOG >= 12 && BXR_POOL_LOG <= 22, "a pool holds 4 KiB to 4 MiB");
_Static_assert(offsetof(struct bxr_pool, slots) ==
                 offsetof(struct bxr_pool, block_header) + sizeof(uintptr_t),
               "the block header is just before the slots");
_Static_assert(offsetof(struct bxr_pool, owner) == 64, "the owner's part is one cache line");

/* The number of slots that are initialised at a time: enough to make the slow path rare, few enough
   that they are still in the first-level cache when they are taken. */
enum { EXTENT = 64 };

/* ---- lists ---- */

void bxr_list_init(struct bxr_link *list) { list->next = list->prev = list; }

bool bxr_list_is_empty(struct bxr_link const *list) { return list->next == list; }

static void check_link(struct bxr_link const *link) {
  BXR_ASSERT(link->next->prev == link && link->prev->next == link);
  (void)link;
}

void bxr_list_insert(struct bxr_link *before, struct bxr_link *element) {
  check_link(before);
  element->next = before->next;
  element->prev = before;
  before->next->prev = element;
  before->next = element;
}

void bxr_list_unlink(struct bxr_link *element) {
  check_link(element);
  element->prev->next = element->next;
  element->next->prev = element->prev;
}

void bxr_list_splice(struct bxr_link *before, struct bxr_link *from) {
  check_link(before);
  check_link(from);
  if (bxr_list_is_empty(from)) return;
  from->prev->next = before->next;
  before->next->prev = from->prev;
  before->next = from->next;
  from->next->prev = before;
  bxr_list_init(from);
}

void bxr_list_push(struct bxr_link *list, struct bxr_pool *pool) {
  bxr_list_insert(list, &pool->link);
}

void bxr_list_remove(struct bxr_pool *pool) { bxr_list_unlink(&pool->link); }

struct bxr_pool *bxr_list_pool(struct bxr_link *link) {
  return (struct bxr_pool *)((char *)link - offsetof(struct bxr_pool, link));
}

/* ---- slots ---- */

void bxr_pool_init(struct bxr_pool *pool, struct bxr_domain *owner) {
  pool->kind = BXR_EMPTY;
  pool->head.free = BXR_NO_SLOT;
  bxr_pool_set_owner(pool, owner);
}

/* Puts fresh slots on the free list, which is empty. False if there are none left. */
static bool add_fresh_slots(struct bxr_pool *pool) {
  uint32_t start = pool->high_water;
  uint32_t end = BXR_SLOTS - start < EXTENT ? BXR_SLOTS : start + EXTENT;
  BXR_ASSERT(pool->head.free == BXR_NO_SLOT && start <= end);
  if (start == end) return false;
  for (uint32_t i = start; i < end - 1; i++)
    pool->slots[i] = bxr_link_to((boxroot)&pool->slots[i + 1]);
  pool->slots[end - 1] = BXR_NO_SLOT;
  pool->head.free = bxr_link_to((boxroot)&pool->slots[start]);
  pool->high_water = end;
  return true;
}

uintptr_t *bxr_free_list_end(uintptr_t *list, uint32_t *length) {
  uint32_t slots = 0;
  for (; *list != BXR_NO_SLOT; list = bxr_slot(bxr_linked(*list))) {
    BXR_ASSERT(slots < BXR_SLOTS && "was a root deleted twice, or used after its delete?");
    slots++;
  }
  *length += slots;
  return list;
}

bool bxr_pool_has_free_slot(struct bxr_pool *pool) {
  return pool->head.free != BXR_NO_SLOT || add_fresh_slots(pool);
}

bool bxr_pool_free(struct bxr_pool *pool, boxroot r) {
  BXR_ASSERT((uintptr_t)r >= (uintptr_t)pool->slots &&
             (uintptr_t)r < (uintptr_t)(pool->slots + pool->high_water));
  BXR_ASSERT(pool->kind != BXR_EMPTY && pool->head.countdown > 0);
  bxr_push(&pool->head.free, r);
  return --pool->head.countdown == 0;
}

uint32_t bxr_pool_used(struct bxr_pool *pool) {
  switch ((enum bxr_kind)pool->kind) {
  case BXR_FULL: return (uint32_t)pool->head.countdown + BXR_SLOTS - BXR_PARTIAL_FREE;
  case BXR_PARTIAL: return (uint32_t)pool->head.countdown;
  case BXR_EMPTY: return 0;
  case BXR_CURRENT: break;
  }
  uintptr_t *taken = &bxr_pool_owner_head(pool)->free;
  uint32_t unused = 0;
  bxr_free_list_end(&pool->head.free, &unused);
  bxr_free_list_end(&pool->aside, &unused);
  if (bxr_pool_of_root(bxr_linked(*taken)) == pool) bxr_free_list_end(taken, &unused);
  BXR_ASSERT(unused <= pool->high_water);
  return pool->high_water - unused;
}

uint64_t bxr_pool_posted(struct bxr_pool *pool) {
  uint64_t posted = 0;
  for (size_t i = 0; i < BXR_BITS_WORDS; i++)
    posted += (uint64_t)__builtin_popcountll(bxr_load(&bxr_pool_pending(pool)[i]));
  return posted;
}

void bxr_pool_set_kind(struct bxr_pool *pool, uint32_t used) {
  if (used == 0) {
    pool->kind = BXR_EMPTY;
    pool->high_water = 0;
    pool->head.free = BXR_NO_SLOT;
    pool->head.young = false;
  } else if (BXR_SLOTS - used >= BXR_PARTIAL_FREE) {
    pool->kind = BXR_PARTIAL;
    pool->head.countdown = (intptr_t)used;
  } else {
    pool->kind = BXR_FULL;
    pool->head.countdown = (intptr_t)(used - (BXR_SLOTS - BXR_PARTIAL_FREE));
  }
}

void bxr_pool_set_owner(struct bxr_pool *pool, struct bxr_domain *owner) {
  BXR_ASSERT(!pool->closed);
  bxr_publish(&pool->head.fast_owner, (struct bxr_domain_head *)owner);
  (void)bxr_exchange(&pool->owner, owner);
}
