/* SPDX-License-Identifier: MIT */
/* Private. Functions that only the Rust crates need, because these start the runtime, wait for its
   lock, and end it. */
#ifndef BOXROOT_HOST_H
#define BOXROOT_HOST_H

#include "../boxroot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* boxroot_trim and boxroot_stats, for a caller that has a boxroot_domain. */
size_t bxr_domain_trim_empty(struct bxr_domain_head *self);
void bxr_domain_stats(struct bxr_domain_head *self, struct boxroot_stats *s, size_t size);

/* A fast bxr_domain_attach for a thread that OCaml has called, and that already has a use (below).
   Returns NULL if only bxr_domain_attach can tell, or if OCaml runs on the stack of an effect
   handler. */
struct bxr_domain_head *bxr_domain_reenter(void);

/* Does this thread hold a domain's lock? ENDED: no, and it never will again, because its domain
   ended. UNCERTAIN: yes, unless it is running its thread-local destructors. The library does not
   trust such a thread (DESIGN.md, "Who may take the fast paths"). On OCaml 4 the answer is NOT_HELD
   before boxroot_setup. Any thread. */
enum bxr_lock {
  BXR_LOCK_NOT_HELD = 0,
  BXR_LOCK_HELD = 1,
  BXR_LOCK_ENDED = 2,
  BXR_LOCK_UNCERTAIN = 3
};
int bxr_lock_state(void);

/* OCaml 4: call this on a thread that holds the lock although bxr_lock_state says NOT_HELD. This
   happens once: to a thread that was waiting for the lock when another thread set the library up,
   because our hook was not installed yet. */
void bxr_lock_confirm(void);

/* Uses of the runtime, which the domain lock of the Rust crates begins and ends. A use begins
   before a thread waits for the lock, and ends after the thread has released it. Uses of one thread
   may be nested. bxr_uses_forbid fails while there are uses other than the caller's, so that no
   thread shuts the runtime down while others use it.

   bxr_use_begin is for a thread that holds the lock. If the use has begun, it returns the number of
   the thread's uses: 1, 2, and so on. It returns FORKED if the use is refused, because this is the
   child of a fork that was made without the lock, or after another domain was made.

   bxr_use_begin_to_lock is for a thread that waits for the lock next. It also refuses a use as DOWN
   after boxroot_teardown, and, if it is the thread's first, after bxr_uses_forbid has succeeded; as
   HELD if the thread seems to hold the lock already (BXR_LOCK_HELD, BXR_LOCK_UNCERTAIN); as ENDED
   if the thread's domain ended (BXR_LOCK_ENDED); as NOT_RUNNING unless boxroot_status is
   BOXROOT_RUNNING; and as PAUSED, if it is the thread's first, between bxr_uses_pause and
   bxr_uses_resume (the thread should try again later). */
enum bxr_use {
  BXR_USE_DOWN = 0,
  BXR_USE_FORKED = -1,
  BXR_USE_HELD = -2,
  BXR_USE_ENDED = -3,
  BXR_USE_NOT_RUNNING = -4,
  BXR_USE_PAUSED = -5
};
/* bxr_use_begin and bxr_use_begin_to_lock return such a number, or an enum bxr_use. Any thread. */
int bxr_use_begin(void);
int bxr_use_begin_to_lock(void);
void bxr_use_end(void);

/* The calling thread must have a use. If this is the only use, returns 0, and from now on
   bxr_use_begin_to_lock refuses every thread that has no use yet. Otherwise returns the number of
   other uses: nested ones of this thread, or, if it has none, those of other threads. */
size_t bxr_uses_forbid(void);

/* From bxr_uses_pause to bxr_uses_resume, other threads that wait for the lock begin no first uses.
   The number of uses falls meanwhile, so bxr_uses_forbid succeeds even if threads come and go all
   the time. The same thread calls both, and no other thread calls bxr_uses_pause between them. */
void bxr_uses_pause(void);
void bxr_uses_resume(void);

/* The number of other threads that have uses. Any thread. */
size_t bxr_uses_of_others(void);

/* Whether uses are refused as FORKED. Any thread. */
bool bxr_uses_forked(void);

/* The number of the calling thread's innermost use, or 0 if it has none. */
int bxr_uses_innermost(void);

/* Whether the use with this number is the calling thread's innermost one, and uses are not refused
   as FORKED. */
bool bxr_uses_go_on(int number);

/* Ends the library while other domains may still use it. No memory is freed, and existing roots
   stay readable. Roots are not scanned any more, so the calling thread must keep the lock of its
   domain until the process ends, without polling: then no collection ends. */
void bxr_close(void);

/* Call this after caml_shutdown and boxroot_teardown, when nothing visits pools any more. Unmaps
   the pools that the collector might have been visiting. From now on statistics count all remaining
   pools. */
void bxr_runtime_gone(void);
/* Whether bxr_runtime_gone was called. After that, lists of pools no longer change. Any thread. */
bool bxr_is_gone(void);

/* Keeps the shared object that contains this address loaded until the process ends. The library
   does the same for its own shared object at load time. Call this for code that uses the library
   and that OCaml will call. Any thread, at any time. It is best called from a constructor, which
   already has the dynamic linker's lock; elsewhere it may wait for that lock. */
void bxr_pin(void const *address);

#ifdef __cplusplus
}
#endif

#endif /* BOXROOT_HOST_H */
