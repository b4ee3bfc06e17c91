/* SPDX-License-Identifier: MIT */
/* The general paths of create, delete and modify. */
#include "barrier.h"
#include "profile.h"
#include "remote.h"
#include "setup.h"

/* Out-of-line copies of the functions that boxroot.h inlines. All are in this file, so that each
   copy of the library has all of them. */
extern inline uintptr_t *bxr_slot(boxroot r);
extern inline uintptr_t bxr_start_of(boxroot r);
extern inline struct bxr_pool_head *bxr_pool_at(uintptr_t start);
extern inline bool bxr_is_fast_owner(struct bxr_domain_head *self, struct bxr_pool_head *pool);
extern inline bool bxr_delete_beside(struct bxr_domain_head *self, boxroot r);
extern inline void bxr_push(uintptr_t *free, boxroot r);
extern inline boxroot bxr_pop(uintptr_t *free, value v);
extern inline bool bxr_may_be_young(value v);
extern inline bool bxr_modify_moved(boxroot *r, boxroot moved);
extern inline bool boxroot_setup(void);
extern inline boxroot_domain boxroot_domain_self(void);
extern inline boxroot boxroot_create_in(boxroot_domain self, value v);
extern inline void boxroot_delete_in(boxroot_domain self, boxroot r);
extern inline bool boxroot_modify_in(boxroot_domain self, boxroot *r, value v);
extern inline boxroot boxroot_create(value v);
extern inline value boxroot_get(boxroot r);
extern inline value const *boxroot_get_ref(boxroot r);
extern inline void boxroot_delete(boxroot r);
extern inline bool boxroot_modify(boxroot *r, value v);

/* Puts slots on head.free, which is empty. */
static bool find_slots(struct bxr_domain *domain) {
  if (bxr_domain_continue(domain)) return true;
  bxr_domain_retire(domain);
  bxr_remote_drain_a_few(domain);
  if (bxr_domain_choose(domain)) return true;
  bxr_setup_fail(BXR_OUT_OF_MEMORY);
  return false;
}

/* Creates a root that has this sample. Returns NULL if out of memory. */
static boxroot create_sampled(struct bxr_domain *domain, value v, uint64_t sample) {
  struct bxr_domain *shadow = bxr_profile_shadow(domain);
  if (shadow == NULL || (shadow->head.free == BXR_NO_SLOT && !find_slots(shadow))) return NULL;
  if (!bxr_profile_keep(bxr_linked(shadow->head.free), sample)) return NULL;
  return bxr_pop(&shadow->head.free, v);
}

/* Puts slots on head.free, which is empty, for the creates before the next sample. */
static bool find_limited_slots(struct bxr_domain *domain) {
  if (bxr_profile_continue(domain)) return true;
  if (!find_slots(domain)) return false;
  bxr_profile_limit(domain);
  return true;
}

/* Creates a root for v that is not sampled, and is not counted for the next sample. */
static boxroot take_slot(struct bxr_domain *domain, value v) {
  bool is_on = bxr_peek(&bxr_profile_rate) != 0;
  if (is_on) bxr_profile_skip(domain);
  if (domain->head.free == BXR_NO_SLOT &&
      !(is_on ? find_limited_slots(domain) : find_slots(domain)))
    return NULL;
  return bxr_pop(&domain->head.free, v);
}

/* The general path of create while profiling is on and head.free is empty. */
__attribute__((noinline)) static boxroot create_or_sample(struct bxr_domain *domain, value v,
                                                          void const *caller) {
  if (bxr_profile_is_due(domain)) {
    uint64_t sample = bxr_profile_sample(caller);
    boxroot r = sample == 0 ? NULL : create_sampled(domain, v, sample);
    return r != NULL ? r : take_slot(domain, v);
  }
  if (!find_limited_slots(domain)) return NULL;
  return bxr_pop(&domain->head.free, v);
}

boxroot bxr_create_slow(value v) {
  struct bxr_domain *domain =
    (struct bxr_domain *)bxr_domain_attach(); /* quicker than bxr_setup_enter */
  if (domain == NULL) return NULL;
  /* head.free may hold slots already: a thread that has not cached its record also comes here. */
  if (domain->head.free == BXR_NO_SLOT) {
    if (bxr_peek(&bxr_profile_rate) != 0)
      return create_or_sample(domain, v, __builtin_return_address(0));
    if (!find_slots(domain)) return NULL;
  }
  return bxr_pop(&domain->head.free, v);
}

static bool must_stay(struct bxr_pool *pool, boxroot r) {
  return !bxr_barrier_try_open(pool) && bxr_barrier_keeps(pool, r);
}

/* Not inlined, so that bxr_delete_slow need not save registers. */
__attribute__((noinline)) static void delete_slowly(boxroot r) {
  struct bxr_domain *self = bxr_setup_enter_if_trusted();
  struct bxr_pool *pool = bxr_pool_of_root(r);
  if (self == NULL && bxr_setup_is_second_copy()) return;
  if (bxr_profile_forget(r) || self == NULL) {
    bxr_remote_delete(r);
  } else if (bxr_pool_owner(pool) != self || must_stay(pool, r)) {
    bxr_remote_collect(self, r);
  } else {
    bxr_domain_free(r);
  }
}

void bxr_delete_slow(boxroot r) {
  if (r == NULL) return;
  /* On OCaml 4, every record counts as open below, but no pool is closed there. */
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_runtime_cached();
  /* This is OCaml 4, on a trusted thread other than the main one. boxroot_delete_in takes one of
     its fast paths. */
  if (self != bxr_owner && bxr_is_fast_owner(self, bxr_pool_at(bxr_start_of(r))))
    boxroot_delete_in(self, r);
  else if (BXR_IS_OPEN(self, witness) && bxr_waiting_is_certain(self, r))
    bxr_remote_collect((struct bxr_domain *)self, r);
  else
    delete_slowly(r);
}

static bool is_young_block(value v) { return Is_block(v) && bxr_may_be_young(v); }

boxroot bxr_modify_slow(boxroot r, value v) {
  struct bxr_domain *domain = bxr_setup_enter();
  if (domain == NULL) return NULL;
  struct bxr_pool *pool = bxr_pool_of_root(r);
  struct bxr_domain *owner = bxr_pool_owner(pool);
  if ((owner == domain || owner == domain->shadow) && !must_stay(pool, r) &&
      (!is_young_block(v) || bxr_domain_admit_young(owner, r))) {
    *bxr_slot(r) = (uintptr_t)v;
    return r;
  }
  /* The value gets a new slot, in the record's current pool, which may hold any value. */
  uint64_t sample = bxr_profile_of(r);
  boxroot moved = sample != 0 ? create_sampled(domain, v, sample) : take_slot(domain, v);
  if (moved == NULL)
    bxr_setup_fail(BXR_OUT_OF_MEMORY);
  else
    boxroot_delete(r);
  return moved;
}
