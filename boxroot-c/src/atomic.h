/* SPDX-License-Identifier: MIT */
/* The atomic operations of the allocator, on integers and pointers. Fields that several threads use
   are accessed by these only. (The inlined fast paths have two relaxed loads of their own.) */
#ifndef BXR_ATOMIC_H
#define BXR_ATOMIC_H

/* The value alone: nothing else follows from having read it. Relaxed. */
#define bxr_peek(p) __atomic_load_n(p, __ATOMIC_RELAXED)

/* Who reads the value by bxr_load, or changes it, sees all that was written before. Release. */
#define bxr_publish(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/* The others are sequentially consistent: there is one order of all of them, of all threads, on which
   the argument of remote.c relies. They are rare. exchange, add and or return the old value. */
#define bxr_load(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define bxr_exchange(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define bxr_add(p, n) __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST)
#define bxr_or(p, bits) __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)

/* False, and *expected is the value, if that was not *expected; may also fail for no reason. */
#define bxr_compare_exchange(p, expected, v)                                                       \
  __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
