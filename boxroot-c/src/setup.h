/* SPDX-License-Identifier: MIT */
/* The life cycle of the library, and its errors. */
#ifndef BXR_SETUP_H
#define BXR_SETUP_H

#include "domain.h"
#include "errors.h"
#include "runtime.h"

#pragma GCC visibility push(hidden)

/* The state of this copy of the library. (A call of boxroot_status may reach another copy: the
   dynamic linker takes the first function of that name.) Any thread. */
int bxr_setup_status(void);

/* Whether the names of another copy of the library hide ours. Then all roots belong to the other
   copy. Any thread. */
bool bxr_setup_is_second_copy(void);

/* Does the work of bxr_use_begin_to_lock, given the state of the lock. */
int bxr_setup_use(enum bxr_lock lock);

/* For functions that need the lock: sets the library up if that is needed and possible, and returns
   the record of this thread's domain, open to the thread. Returns NULL after bxr_setup_fail. */
struct bxr_domain *bxr_setup_enter(void);

/* The record of this thread's domain, if it is open to the thread already, else NULL. */
static inline struct bxr_domain *bxr_setup_entered(void) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_runtime_cached();
  bool open = BXR_IS_OPEN(self, witness) && bxr_peek(&self->runtime_state) != BXR_CLOSED;
  return open ? (struct bxr_domain *)self : NULL;
}

/* For functions that any thread may call (delete, statistics, trim, validate, teardown). Returns
   the record of this thread's domain, open to the thread; makes it if there is none. Returns NULL
   if the library is not running, if this thread may not hold the lock (bxr_runtime_is_trusted), in
   a scan, or if out of memory. Sets no message. */
struct bxr_domain *bxr_setup_enter_if_trusted_slow(void);
static inline struct bxr_domain *bxr_setup_enter_if_trusted(void) {
  struct bxr_domain *self = bxr_setup_entered();
  return self != NULL ? self : bxr_setup_enter_if_trusted_slow();
}

/* After teardown, when a major cycle starts or the runtime is gone: gives back the memory that the
   marker could still visit until now. Any number of domains may call it at the same time. */
void bxr_setup_give_memory_back(void);

/* If the state is RUNNING, makes it INVALID, and disables all records. Roots stay roots. */
void bxr_setup_invalidate(void);

#pragma GCC visibility pop

#endif
