/* SPDX-License-Identifier: MIT */
#include "stacks.h"

#include <string.h>
#include <unwind.h>

#include "os.h"
#include "runtime.h"

/* ---- the stacks ---- */

/* A stack has the last DEPTH calls. */
enum { DEPTH = 20, STACK_WORDS = 1 << 19 };

/* Pages of this array that were never used take no memory. A stack is named by the index of its
   first word; 0 is no stack. */
static uint64_t stack_words[STACK_WORDS];
static uint64_t used_words = 1; /* atomic */
struct bxr_stack *bxr_stacks[BXR_STACK_BUCKETS];

struct bxr_stack *bxr_stack_at(uint32_t index) {
  return (struct bxr_stack *)&stack_words[index];
}

struct trace {
  uintptr_t caller; /* 0 when it was found */
  uint32_t depth;
  uintptr_t frames[DEPTH];
};

static struct bxr_stack *find_stack(struct bxr_stack *stack, uint32_t rate,
                                    struct trace const *trace) {
  for (; stack != NULL; stack = stack->next)
    if (stack->rate == rate && stack->depth == trace->depth &&
        memcmp(stack->frames, trace->frames, trace->depth * sizeof(uintptr_t)) == 0)
      return stack;
  return NULL;
}

/* NULL if there is no room. */
static struct bxr_stack *add_stack(struct bxr_stack **bucket, uint32_t rate,
                                   struct trace const *trace) {
  uint64_t size = sizeof(struct bxr_stack) / sizeof(uint64_t) + trace->depth;
  if (bxr_peek(&used_words) + size > STACK_WORDS) return NULL;
  uint64_t start = bxr_add(&used_words, size);
  if (start + size > STACK_WORDS) return NULL;
  struct bxr_stack *stack = bxr_stack_at((uint32_t)start);
  *stack = (struct bxr_stack){.next = bxr_peek(bucket), .rate = rate, .depth = trace->depth};
  memcpy(stack->frames, trace->frames, trace->depth * sizeof(uintptr_t));
  while (!bxr_compare_exchange(bucket, &stack->next, stack)) {}
  return stack;
}

/* ---- unwinding, which is most of what a sample costs ---- */

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *data) {
  struct trace *trace = data;
  uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
  if (address == 0 || trace->depth == DEPTH) return _URC_END_OF_STACK;
  if (address == trace->caller) trace->caller = trace->depth = 0; /* frames before it are ours */
  trace->frames[trace->depth++] = address;
  bool is_last = bxr_runtime_hides_callers((uintptr_t)_Unwind_GetRegionStart(context));
  return is_last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

uint32_t bxr_stack_find(void const *caller, uint32_t rate) {
  struct trace trace = {.caller = (uintptr_t)caller};
  if (bxr_os_can_unwind())
    (void)_Unwind_Backtrace(visit_frame, &trace);
  else
    trace.frames[trace.depth++] = trace.caller;
  uint64_t hash = rate;
  for (uint32_t i = 0; i < trace.depth; i++)
    hash = (hash ^ trace.frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
  struct bxr_stack **bucket = &bxr_stacks[(hash >> 40) % BXR_STACK_BUCKETS];
  struct bxr_stack *stack = find_stack(bxr_load(bucket), rate, &trace);
  if (stack == NULL) stack = add_stack(bucket, rate, &trace);
  return stack == NULL ? 0 : (uint32_t)((uint64_t *)stack - stack_words);
}
