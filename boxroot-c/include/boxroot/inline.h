/* SPDX-License-Identifier: MIT */
/* Private. The fast paths of boxroot.h, and the few structs that they need. The names
   here (bxr_*, BXR_*) may change in any release; only boxroot.h is the interface. */
#ifndef BOXROOT_INLINE_H
#define BOXROOT_INLINE_H

#include "runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools are aligned to their size: the pool of a slot is its address, masked.
   BXR_POOL_LOG may be set at compile time, alike for the library and its users. */
#ifndef BXR_POOL_LOG
#define BXR_POOL_LOG 14
#endif
#define BXR_POOL_SIZE ((uintptr_t)1 << BXR_POOL_LOG)

/* A free slot holds a link: the address of the next free slot with its low bit set,
   or BXR_NO_SLOT at the end. A link is odd, so it looks like an OCaml immediate: all
   the slots that were ever used are valid OCaml values, free or not. */
#define BXR_NO_SLOT 1

struct bxr_domain_head;

/* The start of a pool. Owner: the domain in fast_owner, under its lock. */
struct bxr_pool_head {
  struct bxr_domain_head *fast_owner; /* who may take the fast paths; NULL: nobody */
  uintptr_t free;                     /* first free slot, as a link */
  uint64_t epoch;                     /* young iff equal to the owner's epoch */
  intptr_t countdown;                 /* local deletes until bxr_pool_event is due; > 0 */
};

/* The start of a domain's record. Owner: the domain, under its lock. */
struct bxr_domain_head {
  void *runtime_state;           /* the runtime's record of the domain; (void *)1: closed */
  struct bxr_pool_head *current; /* where create takes slots; never NULL */
  uint64_t epoch;                /* 1 + the minor scans so far; no pool's epoch exceeds it */
};

#ifdef __cplusplus
#define BXR_STATIC_ASSERT(e) static_assert(e, #e)
#else
#define BXR_STATIC_ASSERT(e) _Static_assert(e, #e)
#endif
/* The Rust crates read these structs too. */
BXR_STATIC_ASSERT(sizeof(void *) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, free) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, epoch) == 16);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, countdown) == 24);
BXR_STATIC_ASSERT(offsetof(struct bxr_domain_head, current) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_domain_head, epoch) == 16);

/* The general paths, which the fast paths fall into. */
boxroot bxr_create_slow(value v);
void bxr_delete_slow(boxroot r);
bool bxr_modify_slow(boxroot *r, value v);
/* A pool's countdown reached 0. Called with the lock, after the slot was freed. */
void bxr_pool_event(struct bxr_pool_head *pool);

/* For callers that prove once that they hold the lock (the Rust domain lock): sets the
   library up if need be, and returns the record of the caller's domain, which stays
   the same until the domain ends. NULL with errno EPERM or ENOMEM. */
struct bxr_domain_head *bxr_domain_attach(void);

/* Does this thread hold a domain's lock? ENDED: no, and it never will again, because its
   domain ended. On OCaml 4 the answer is NOT_HELD before boxroot_setup. Any thread. */
enum bxr_lock { BXR_LOCK_NOT_HELD = 0, BXR_LOCK_HELD = 1, BXR_LOCK_ENDED = 2 };
int bxr_lock_state(void);

#if defined(__GNUC__)

inline value boxroot_get(boxroot r) { return *(value *)r; }
inline value const *boxroot_get_ref(boxroot r) { return (value const *)r; }

#define BXR_LIKELY(e) __builtin_expect(!!(e), 1)

inline struct bxr_pool_head *bxr_pool_of(void *slot) {
  return (struct bxr_pool_head *)((uintptr_t)slot & ~(BXR_POOL_SIZE - 1));
}

/* Relaxed: a thread that does not own the pool may look while the owner changes the
   field, and sees somebody else's name either way. */
inline bool bxr_is_fast_owner(struct bxr_domain_head *self, struct bxr_pool_head *pool) {
  return __atomic_load_n(&pool->fast_owner, __ATOMIC_RELAXED) == self;
}

/* Release: on OCaml 5 another domain's marker may be reading the slot, and must see
   the initialised block behind the value. A plain store on x86. */
inline void bxr_store(void *slot, uintptr_t word) {
  __atomic_store_n((uintptr_t *)slot, word, __ATOMIC_RELEASE);
}

inline boxroot boxroot_create(value v) {
  struct bxr_domain_head *self = bxr_self;
  if (BXR_LIKELY(BXR_OPEN(self))) {
    struct bxr_pool_head *pool = self->current;
    uintptr_t free = pool->free;
    if (BXR_LIKELY(free != BXR_NO_SLOT)) {
      uintptr_t *slot = (uintptr_t *)(free - 1);
      pool->free = *slot;
      bxr_store(slot, (uintptr_t)v);
      return (boxroot)slot;
    }
  }
  return bxr_create_slow(v);
}

inline void boxroot_delete(boxroot r) {
  struct bxr_domain_head *self = bxr_owner;
  struct bxr_pool_head *pool = bxr_pool_of(r);
  if (BXR_LIKELY(r != NULL && BXR_OPEN(self) && bxr_is_fast_owner(self, pool))) {
    bxr_store(r, pool->free);
    pool->free = (uintptr_t)r | 1;
    if (BXR_LIKELY(--pool->countdown != 0)) return;
    bxr_pool_event(pool);
  } else {
    bxr_delete_slow(r);
  }
}

/* In a young pool any value may be stored. */
inline bool boxroot_modify(boxroot *r, value v) {
  struct bxr_domain_head *self = bxr_owner;
  struct bxr_pool_head *pool = bxr_pool_of(*r);
  if (BXR_LIKELY(BXR_OPEN(self) && bxr_is_fast_owner(self, pool) &&
                 pool->epoch == self->epoch)) {
    bxr_store(*r, (uintptr_t)v);
    return true;
  }
  return bxr_modify_slow(r, v);
}

#endif /* __GNUC__ */

#ifdef __cplusplus
}
#endif

#endif /* BOXROOT_INLINE_H */
