/* SPDX-License-Identifier: MIT */
/* Many creates and deletes. In the loops, the record's free list is in a variable, so that the
   compiler can keep it in a register. It is put back before a slow path is called, which looks for
   it in the record. */
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

/* The next free slot is often as far from this one as this one is from the one before. So the link
   is guessed: then the processor predicts the comparison, and need not wait for the link. This is
   value speculation, Per Vognsen's idea; see F. Mazzoli, "Beating the L1 cache with value
   speculation", 2021. The compiler must not know that `guess` is compared with the link, because it
   would then use the link itself. Guesses that fail now and then cost more than they save. If the
   slots are in random order, all guesses fail, and the processor also predicts that. */
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
