/* SPDX-License-Identifier: MIT */
#include "uses.h"

#include "atomic.h"

/* The number of threads that have a use, which begins before they wait for the lock; and two bits that forbid
   new uses: DOWN those of threads that wait for the lock, FORKED all. */
static uintptr_t uses;
#define DOWN ((uintptr_t)1 << 63)
#define FORKED ((uintptr_t)1 << 62)

/* The number of this thread's uses, each nested in the one before; `uses` counts the outermost one. */
static BXR_THREAD_LOCAL int own;

/* Added to `own` when uses become FORKED, so that uses which began before do not go on (bxr_uses_go_on). */
#define LEFT_BEHIND (1 << 30)

bool bxr_uses_forked(void) { return (bxr_peek(&uses) & FORKED) != 0; }

/* A first use is refused as DOWN if there is the bit `down`. */
static int begin(uintptr_t down) {
  if (own > 0) {
    if (bxr_uses_forked()) return BXR_USE_FORKED;
    return ++own;
  }
  uintptr_t seen = bxr_add(&uses, 1);
  int answer = (seen & down) != 0 ? BXR_USE_DOWN : (seen & FORKED) != 0 ? BXR_USE_FORKED : 1;
  if (answer == 1)
    own = 1;
  else
    bxr_add(&uses, (uintptr_t)-1);
  return answer;
}

int bxr_use_begin(void) { return begin(0); }
int bxr_uses_begin_to_lock(void) { return begin(DOWN); }

void bxr_use_end(void) {
  if (--own == 0) bxr_add(&uses, (uintptr_t)-1);
}

size_t bxr_uses_forbid(void) {
  if (own > 1) return (size_t)own - 1;
  uintptr_t seen = 1;
  while (!bxr_compare_exchange(&uses, &seen, DOWN | 1))
    if (seen != 1) return (size_t)(seen & ~(DOWN | FORKED)) - 1;
  return 0;
}

bool bxr_uses_go_on(int number) { return own == number; }

void bxr_uses_after_fork(bool goes_on) {
  uintptr_t kept = bxr_load(&uses) & (DOWN | FORKED);
  bxr_publish(&uses, kept | (goes_on ? 0 : FORKED) | (own > 0 ? 1 : 0));
  if (!goes_on) own |= LEFT_BEHIND;
}
