/* SPDX-License-Identifier: MIT */
/* The atomic operations of the allocator, on integers and pointers. Fields that several threads use
   at the same time are accessed only through these, except for two relaxed loads in the inlined
   fast paths. Exchange, add, or and compare_exchange are used only on 4 or 8 bytes: for fewer, gcc
   before version 14 needs libatomic on RISC-V. */
#ifndef BXR_ATOMIC_H
#define BXR_ATOMIC_H

/* Relaxed: the reader may rely on the value, but does not see earlier writes of the value's
   writer. */
#define bxr_peek(p) __atomic_load_n(p, __ATOMIC_RELAXED)

/* Release: a thread that reads this value with one of the operations below also sees all that its
   writer wrote before it. */
#define bxr_publish(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

/* The operations below are sequentially consistent: those of all threads happen in a single order.
   The argument in remote.c relies on that. They are rare. bxr_exchange, bxr_add and bxr_or return
   the old value. */
#define bxr_load(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define bxr_exchange(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define bxr_add(p, n) __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST)
#define bxr_or(p, bits) __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST)

/* Stores v and returns true if the value is *expected. Otherwise sets *expected to the value, and
   returns false. May fail spuriously. A failure is relaxed. */
#define bxr_compare_exchange(p, expected, v)                                                       \
  __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
