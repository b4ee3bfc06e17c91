/* SPDX-License-Identifier: MIT */
/* Many creates and deletes. In the loops, the record's free list is in a local variable, so that
   the compiler can keep it in a register. It is stored back before a slow path is called, because
   slow paths read it from the record. */
#include "core.h"

void boxroot_delete_many(boxroot_domain domain, boxroot const *roots, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uintptr_t uncounted = domain->uncounted;
    uintptr_t free = domain->free;
    for (; i < n && bxr_start_of(roots[i]) == uncounted; i++) bxr_push(&free, roots[i]);
    domain->free = free;
    if (i < n) boxroot_delete_in(domain, roots[i]);
  }
}

/* Free slots that follow one another in the list often have the same distance. So the link is
   guessed. The processor then predicts the comparison, and need not wait for the link. This is
   value speculation, Per Vognsen's idea; see F. Mazzoli, "Beating the L1 cache with value
   speculation", 2021. The compiler must not know that `guess` is compared with the link, because it
   would then use the link itself. If only some guesses fail, they cost more than the others save.
   If the slots are in random order, all guesses fail, and the processor predicts that as well. */
static uintptr_t next_link(uintptr_t free, uintptr_t *distance, uintptr_t link) {
  uintptr_t expected = free + *distance, guess = expected;
  __asm__("" : "+r"(guess));
  if (BXR_LIKELY(link == expected)) return guess;
  *distance = link - free;
  return link;
}

bool boxroot_create_many(boxroot_domain domain, boxroot *roots, value const *values, size_t n) {
  uintptr_t distance = sizeof(value);
  for (size_t i = 0;; i++) {
    uintptr_t free = domain->free;
    for (; i < n && free != BXR_NO_SLOT; i++) {
      uintptr_t link = free;
      roots[i] = bxr_pop(&link, values[i]);
      free = next_link(free, &distance, link);
    }
    domain->free = free;
    if (i == n) return true;
    roots[i] = bxr_create_slow(values[i]);
    if (roots[i] != NULL) continue;
    boxroot_delete_many(domain, roots, i);
    return false;
  }
}
