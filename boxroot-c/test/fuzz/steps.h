/* SPDX-License-Identifier: MIT */
/* Included before each file of the allocator. It lets other threads run before every atomic
   operation, and makes memory come from an arena. */
#ifndef FUZZ_STEPS_H
#define FUZZ_STEPS_H

#include "atomic.h"

/* The number of atomic operations after which other threads run; 0: they do not. */
extern unsigned fuzz_countdown;
void fuzz_preempt(void);

static inline void fuzz_step(void) {
  if (__builtin_expect(fuzz_countdown != 0, 0) && --fuzz_countdown == 0) fuzz_preempt();
}

#undef bxr_load
#undef bxr_exchange
#undef bxr_add
#undef bxr_or
#undef bxr_publish
#undef bxr_compare_exchange
#define bxr_publish(p, v) (fuzz_step(), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#define bxr_load(p) (fuzz_step(), __atomic_load_n(p, __ATOMIC_SEQ_CST))
#define bxr_exchange(p, v) (fuzz_step(), __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST))
#define bxr_add(p, n) (fuzz_step(), __atomic_fetch_add(p, n, __ATOMIC_SEQ_CST))
#define bxr_or(p, bits) (fuzz_step(), __atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST))
#define bxr_compare_exchange(p, expected, v)                                                       \
  (fuzz_step(),                                                                                    \
   __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))

/* os.c maps memory through these. */
#define mmap fake_mmap
#define munmap fake_munmap
#define pthread_atfork fake_atfork

#endif
