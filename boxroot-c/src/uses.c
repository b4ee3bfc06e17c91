/* SPDX-License-Identifier: MIT */
#include "uses.h"

#include "atomic.h"

/* The number of threads that have a use, which begins before they wait for the lock; and bits about
   new uses. DOWN refuses those of threads that must wait for the lock, PAUSED delays them, and
   FORKED refuses all new uses. */
static uintptr_t uses;
#define DOWN ((uintptr_t)1 << 63)
#define FORKED ((uintptr_t)1 << 62)
#define PAUSED ((uintptr_t)1 << 61)
#define BITS (DOWN | FORKED | PAUSED)
#define NUMBER(uses) ((size_t)((uses) & ~BITS))

/* The number of this thread's uses, each nested in the one before; `uses` counts the outermost
   one. */
BXR_THREAD_LOCAL intnat bxr_own_uses;

/* Whether this thread has set PAUSED, which does not affect its own uses. */
static BXR_THREAD_LOCAL bool pauses;

/* Added to bxr_own_uses when uses become FORKED, so that earlier uses do not go on
   (bxr_uses_go_on). The sum is negative. */
#define LEFT_BEHIND INTPTR_MIN

bool bxr_uses_forked(void) { return (bxr_peek(&uses) & FORKED) != 0; }

/* The answer to a first use if `uses` was `seen`: 1 if it may begin, else the reason why not. */
static int answer_to_first(uintptr_t seen, bool to_lock) {
  if (BXR_LIKELY((seen & BITS) == 0)) return 1;
  if (to_lock && (seen & DOWN) != 0) return BXR_USE_DOWN;
  if ((seen & FORKED) != 0) return BXR_USE_FORKED;
  return to_lock && (seen & PAUSED) != 0 && !pauses ? BXR_USE_PAUSED : 1;
}

static inline __attribute__((always_inline)) int begin(bool to_lock) {
  if (bxr_own_uses != 0) return bxr_own_uses < 0 ? BXR_USE_FORKED : (int)++bxr_own_uses;
  int answer = answer_to_first(bxr_add(&uses, 1), to_lock);
  if (answer == 1)
    bxr_own_uses = 1;
  else
    bxr_add(&uses, (uintptr_t)-1);
  return answer;
}

int bxr_use_begin(void) { return begin(false); }
int bxr_uses_begin_to_lock(void) { return begin(true); }

void bxr_use_end(void) {
  if (--bxr_own_uses == 0) bxr_add(&uses, (uintptr_t)-1);
}

int bxr_uses_innermost(void) { return bxr_own_uses < 0 ? 0 : (int)bxr_own_uses; }

size_t bxr_uses_forbid(void) {
  if (bxr_own_uses > 1) return (size_t)bxr_own_uses - 1;
  uintptr_t seen = bxr_load(&uses);
  do {
    if (NUMBER(seen) != 1) return NUMBER(seen) - 1;
  } while (!bxr_compare_exchange(&uses, &seen, seen | DOWN));
  return 0;
}

void bxr_uses_pause(void) {
  pauses = true;
  bxr_add(&uses, PAUSED);
}

void bxr_uses_resume(void) {
  pauses = false;
  bxr_add(&uses, -PAUSED);
}

size_t bxr_uses_of_others(void) { return NUMBER(bxr_load(&uses)) - (bxr_own_uses != 0); }

bool bxr_uses_go_on(int number) { return bxr_own_uses == number; }

void bxr_uses_after_fork(bool goes_on) {
  uintptr_t kept = bxr_load(&uses) & (DOWN | FORKED | (pauses ? PAUSED : 0));
  bxr_publish(&uses, kept | (goes_on ? 0 : FORKED) | (bxr_own_uses > 0 ? 1 : 0));
  if (!goes_on) bxr_own_uses += LEFT_BEHIND;
}
