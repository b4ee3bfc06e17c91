/* SPDX-License-Identifier: MIT */
/* The general paths of create, delete and modify. */
#include "mark.h"
#include "setup.h"

/* The functions that boxroot.h inlines are in the library too. */
extern inline uintptr_t *bxr_slot(boxroot r);
extern inline struct bxr_pool_head *bxr_pool_of(boxroot r);
extern inline bool bxr_is_fast_owner(struct bxr_domain_head *self, struct bxr_pool_head *pool);
extern inline void bxr_push(struct bxr_pool_head *pool, boxroot r);
extern inline boxroot bxr_pop(struct bxr_pool_head *pool, value v);
extern inline struct bxr_range bxr_minor_heap(void);
extern inline bool bxr_may_be_in(struct bxr_range range, value v);
extern inline boxroot boxroot_create(value v);
extern inline value boxroot_get(boxroot r);
extern inline value const *boxroot_get_ref(boxroot r);
extern inline void boxroot_delete(boxroot r);
extern inline bool boxroot_modify(boxroot *r, value v);

static boxroot create_in(struct bxr_domain *domain, value v) {
  struct bxr_pool *pool = bxr_domain_next_pool(domain);
  if (pool == NULL) {
    bxr_fail(BXR_OUT_OF_MEMORY);
    return NULL;
  }
  return bxr_pop(&pool->head, v);
}

boxroot bxr_create_slow(value v) {
  struct bxr_domain *domain = bxr_enter();
  return domain == NULL ? NULL : create_in(domain, v);
}

void bxr_delete_slow(boxroot r) {
  if (r == NULL) return;
  struct bxr_domain *self = bxr_enter_if_certain();
  struct bxr_pool *pool = bxr_pool_full(bxr_pool_of(r));
  if (self == NULL) {
    if (!bxr_is_second_copy()) bxr_domain_delete_remotely(r);
  } else if (&pool->head != self->head.remote && bxr_pool_owner(pool) == self) {
    bxr_pool_free(pool, r);
  } else {
    bxr_domain_delete_batched(self, r);
  }
}

static bool is_young_block(value v) {
  return Is_block(v) && bxr_may_be_in(bxr_minor_heap(), v);
}

boxroot bxr_modify_slow(boxroot r, value v) {
  struct bxr_domain *domain = bxr_enter();
  if (domain == NULL) return NULL;
  struct bxr_pool *pool = bxr_pool_full(bxr_pool_of(r));
  if (bxr_pool_owner(pool) == domain &&
      (pool->head.epoch == domain->head.epoch || !is_young_block(v))) {
    bxr_mark_before_overwrite(pool, r);
    __atomic_store_n(bxr_slot(r), (uintptr_t)v, __ATOMIC_RELEASE);
    return r;
  }
  /* A young value may not be in an old pool, and only the owner knows which pools of
     its own are young. */
  struct bxr_pool *target = bxr_pool_full(domain->head.current);
  boxroot moved = target->head.free != NULL ? bxr_pop(&target->head, v) : create_in(domain, v);
  if (moved != NULL) boxroot_delete(r);
  return moved;
}
