/* SPDX-License-Identifier: MIT */
/* The call stacks of the profile (profile.h). */
#ifndef BXR_STACKS_H
#define BXR_STACKS_H

#include "core.h"

#pragma GCC visibility push(hidden)

/* A call stack of roots that were sampled at this rate. It is never freed. Each stack is kept once,
   or twice if two threads add it at the same time. */
struct bxr_stack {
  struct bxr_stack *next; /* in its bucket */
  uint32_t rate, depth;
  uint64_t live;      /* for the writer of the profile */
  uintptr_t frames[]; /* return addresses, from the function that created a root on */
};

enum { BXR_STACK_BUCKETS = 1024 };
extern struct bxr_stack *bxr_stacks[BXR_STACK_BUCKETS];

/* The index of this thread's call stack, from the return address `caller` on. 0 if there is no room
   for another stack. */
uint32_t bxr_stack_find(void const *caller, uint32_t rate);

struct bxr_stack *bxr_stack_at(uint32_t index);

#pragma GCC visibility pop

#endif
