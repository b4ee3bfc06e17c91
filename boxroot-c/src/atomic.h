/* SPDX-License-Identifier: MIT */
/* The atomic operations of the allocator, on integers and pointers. Fields that several threads use
   at the same time are accessed by these only, except for two relaxed loads in the inlined fast
   paths. Whatever is exchanged, added to or compared has 4 or 8 bytes, because gcc before version
   14 needs libatomic for fewer on RISC-V. */
#ifndef BXR_ATOMIC_H
#define BXR_ATOMIC_H

/* Relaxed: the reader may rely on the value, but not on what was written before it. */
#define bxr_peek(p) __atomic_load_n(p, __ATOMIC_RELAXED)

/* Release: a thread that reads this value by one of the operations below also sees all that was
   written before it. */
#define bxr_publish(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/* The operations below are sequentially consistent: all of them, of all threads, happen in one
   order, on which the argument of remote.c relies. They are rare. exchange, add and or return the
   old value. */
#define bxr_load(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define bxr_exchange(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define bxr_add(p, n) __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST)
#define bxr_or(p, bits) __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)

/* Stores v if the value is *expected. Otherwise it returns false, and *expected becomes the value.
   It may also fail without a reason. A failure is relaxed. */
#define bxr_compare_exchange(p, expected, v)                                                       \
  __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
