/* SPDX-License-Identifier: MIT */
/* Private. The fast paths of boxroot.h, and the few structs that they need. The names
   here (bxr_*, BXR_*) may change in any release; only boxroot.h is the interface. */
#ifndef BOXROOT_INLINE_H
#define BOXROOT_INLINE_H

#include "names.h"
#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pools are aligned to their size, so a slot's address, masked, is the start of its pool. The
   pool's head is at an offset from there that varies with the address: if all heads were at the
   start, those of many pools would fall into the same few sets of the processor's caches. */
#define BXR_POOL_SIZE ((uintptr_t)1 << BXR_POOL_LOG)
#define BXR_HEAD_OFFSETS 0x1c0            /* the bits that may be set: 0, 64, ... 448 */
#define BXR_HEAD_SHIFT (BXR_POOL_LOG - 6) /* moves a pool's number to these bits */

/* A handle is the address of its slot. A free list is a link: the handle of its first slot, plus 1,
   or BXR_NO_SLOT. Each of its slots holds the link to the rest. A link looks like an OCaml
   immediate, so each slot that was ever used holds a valid OCaml value, even if it is free. */
#define BXR_NO_SLOT ((uintptr_t)1)

struct bxr_domain_head;

/* Deletes of roots in the 64 slots from `start` on, which is 512-byte-aligned. Bit i is slot i. */
struct bxr_batch {
  uintptr_t start;
  uint64_t bits;
};

/* The head of a pool. The domain in fast_owner owns it, under its lock. */
struct bxr_pool_head {
  struct bxr_domain_head *fast_owner; /* the owner if the pool is open; otherwise no record */
  uintptr_t free;                     /* the list of free slots that create does not take yet */
  bool young;                         /* may hold young values in any slot */
  intptr_t countdown;                 /* local deletes until bxr_domain_refile is due; > 0 */
};

/* Differs from the start of every pool. It is not 0, because bxr_start_of(NULL) is 0. */
#define BXR_NO_POOL ((uintptr_t)1)

/* The start of a domain's record. The domain owns it, under its lock. */
struct bxr_domain_head {
  void *runtime_state; /* the runtime's record of the domain; (void *)1: closed */
  uintptr_t free;      /* the list of free slots for create, all of one pool */
  uintptr_t uncounted; /* the start of the pool of `free`, if open and young, or BXR_NO_POOL */
  struct bxr_batch outgoing; /* remote deletes, to be sent together */
};

/* The Rust crates rely on this layout. (C99 has no static assertions, but the library is C11.) */
#ifdef __cplusplus
#define BXR_STATIC_ASSERT(e) static_assert(e, #e)
#elif __STDC_VERSION__ >= 201112L
#define BXR_STATIC_ASSERT(e) _Static_assert(e, #e)
#endif
#ifdef BXR_STATIC_ASSERT
BXR_STATIC_ASSERT(sizeof(void *) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, free) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, young) == 16);
BXR_STATIC_ASSERT(offsetof(struct bxr_pool_head, countdown) == 24);
BXR_STATIC_ASSERT(offsetof(struct bxr_domain_head, free) == 8);
BXR_STATIC_ASSERT(offsetof(struct bxr_domain_head, uncounted) == 16);
BXR_STATIC_ASSERT(offsetof(struct bxr_domain_head, outgoing) == 24);
#endif

/* The general paths, for the cases that the fast paths do not handle. */
boxroot bxr_create_slow(value v);
void bxr_delete_slow(boxroot r);
/* Returns the root, which may have moved. NULL after an error, when nothing has changed. */
boxroot bxr_modify_slow(boxroot r, value v);
/* A pool's countdown reached 0. Called with the lock, after the slot was freed. */
void bxr_domain_refile(struct bxr_pool_head *pool);

/* The code of boxroot_setup and boxroot_domain_self. The linker's names of these two contain the
   layout (names.h). So a caller whose inlined code has one layout is linked with functions for the
   same layout, and both use the same domain. If the first copy of the library has another layout,
   these functions refuse to work (src/setup.c). */
bool bxr_setup(void);
struct bxr_domain_head *bxr_domain_attach(void);

#if defined(__GNUC__)

inline uintptr_t *bxr_slot(boxroot r) { return (uintptr_t *)r; }

inline value boxroot_get(boxroot r) { return (value)*bxr_slot(r); }
inline value const *boxroot_get_ref(boxroot r) { return (value const *)bxr_slot(r); }

#define BXR_LIKELY(e) __builtin_expect(!!(e), 1)

inline uintptr_t bxr_start_of(boxroot r) { return (uintptr_t)r & ~(BXR_POOL_SIZE - 1); }

inline struct bxr_pool_head *bxr_pool_at(uintptr_t start) {
  return (struct bxr_pool_head *)(start | (start >> BXR_HEAD_SHIFT & BXR_HEAD_OFFSETS));
}

/* Relaxed: a thread that does not own the pool may look while the owner changes the
   field, and reads a value other than `self` either way. */
inline bool bxr_is_fast_owner(struct bxr_domain_head *self, struct bxr_pool_head *pool) {
  return __atomic_load_n(&pool->fast_owner, __ATOMIC_RELAXED) == self;
}

/* Stores to slots, free lists and counts are plain, because only the owner writes them. The owner's
   own scans and marking read them, under the same lock, and boxroot_get reads the slot of a live
   root. So a loop of creates or deletes can keep most of this in registers. */

/* Puts a slot on a free list. */
inline void bxr_push(uintptr_t *free, boxroot r) {
  *bxr_slot(r) = *free;
  *free = (uintptr_t)r + 1;
}

/* Takes the first slot of a free list, which is not empty, for value v. */
inline boxroot bxr_pop(uintptr_t *free, value v) {
  boxroot r = (boxroot)(*free - 1);
  *free = *bxr_slot(r);
  *bxr_slot(r) = (uintptr_t)v;
  return r;
}

/* Adds a delete to the domain's batch. Returns false, and does nothing, if the slot is not among
   the batch's 64. */
inline bool bxr_delete_beside(struct bxr_domain_head *self, boxroot r) {
  uintptr_t offset = (uintptr_t)r - self->outgoing.start;
  if (offset >= 64 * sizeof(value)) return false;
  self->outgoing.bits |= (uint64_t)1 << (offset / sizeof(value));
  return true;
}

/* Stores the new handle of a root that has moved. False if `moved` is NULL, after an error. */
inline bool bxr_modify_moved(boxroot *r, boxroot moved) {
  if (moved == NULL) return false;
  *r = moved;
  return true;
}

inline bool boxroot_setup(void) { return bxr_setup(); }
inline boxroot_domain boxroot_domain_self(void) { return bxr_domain_attach(); }

inline boxroot boxroot_create_in(boxroot_domain self, value v) {
  return BXR_LIKELY(self->free != BXR_NO_SLOT) ? bxr_pop(&self->free, v) : bxr_create_slow(v);
}

/* Whether r is in the current pool depends on the program, so the first comparison has no branch
   hint. The comparison of the owner has one, because most roots are deleted by the domain that owns
   their pool: without it, compilers put the path for foreign roots first. */
inline void boxroot_delete_in(boxroot_domain self, boxroot r) {
  uintptr_t start = bxr_start_of(r);
  /* Deletes in this pool are not counted. */
  if (start == self->uncounted) {
    bxr_push(&self->free, r);
    return;
  }
  if (r == NULL) return;
  struct bxr_pool_head *pool = bxr_pool_at(start);
  if (BXR_LIKELY(bxr_is_fast_owner(self, pool))) {
    bxr_push(&pool->free, r);
    if (BXR_LIKELY(--pool->countdown != 0)) return;
    bxr_domain_refile(pool);
    return;
  }
  if (!BXR_LIKELY(bxr_delete_beside(self, r))) bxr_delete_slow(r);
}

/* In an open, young pool of the domain, any value may be stored; in an open, old one, only an old
   value or an immediate. Other cases take the slow path. The pool of `uncounted` is open and young.
   */
inline bool boxroot_modify_in(boxroot_domain self, boxroot *r, value v) {
  boxroot root = *r;
  uintptr_t start = bxr_start_of(root);
  struct bxr_pool_head *pool = bxr_pool_at(start);
  if (start == self->uncounted ||
      BXR_LIKELY(bxr_is_fast_owner(self, pool) && (!bxr_may_be_young(v) || pool->young))) {
    *bxr_slot(root) = (uintptr_t)v;
    return true;
  }
  return bxr_modify_moved(r, bxr_modify_slow(root, v));
}

inline boxroot boxroot_create(value v) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_self;
  return BXR_LIKELY(BXR_IS_OPEN(self, witness)) ? boxroot_create_in(self, v) : bxr_create_slow(v);
}

inline void boxroot_delete(boxroot r) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_owner;
  if (BXR_LIKELY(BXR_IS_OPEN(self, witness)))
    boxroot_delete_in(self, r);
  else
    bxr_delete_slow(r);
}

inline bool boxroot_modify(boxroot *r, value v) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_owner;
  if (BXR_LIKELY(BXR_IS_OPEN(self, witness))) return boxroot_modify_in(self, r, v);
  return bxr_modify_moved(r, bxr_modify_slow(*r, v));
}

#endif /* __GNUC__ */

#ifdef __cplusplus
}
#endif

#endif /* BOXROOT_INLINE_H */
