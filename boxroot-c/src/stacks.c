/* SPDX-License-Identifier: MIT */
#include "stacks.h"

#include <errno.h>
#include <string.h>
#include <unwind.h>

#include "os.h"
#include "runtime.h"

/* ---- the stacks ---- */

/* A stack has the last DEPTH calls. */
enum { DEPTH = 20, STACK_WORDS = 1 << 19 };

/* Pages of this array that were never used take no memory. The index of its first word names a stack; 0 is no stack. */
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
  uintptr_t const *places[DEPTH]; /* where these return addresses are, on many processors */
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

/* ---- unwinding ---- */

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *data) {
  struct trace *trace = data;
  uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
  if (address == 0 || trace->depth == DEPTH) return _URC_END_OF_STACK;
  if (address == trace->caller) trace->caller = trace->depth = 0; /* frames before it are ours */
  trace->places[trace->depth] = (uintptr_t const *)(uintptr_t)_Unwind_GetCFA(context) - 1;
  trace->frames[trace->depth++] = address;
  bool is_last = bxr_runtime_hides_callers((uintptr_t)_Unwind_GetRegionStart(context));
  return is_last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static struct trace unwind(void const *caller) {
  struct trace trace = {.caller = (uintptr_t)caller};
  if (bxr_os_can_unwind())
    (void)_Unwind_Backtrace(visit_frame, &trace);
  else
    trace.frames[trace.depth++] = trace.caller;
  return trace;
}

/* ---- stacks that were found before ---- */

/* Unwinding takes microseconds, because it interprets the tables of frames of each function. But most samples have a stack that
   another one had a moment ago, at the same place. So each domain remembers some stacks, and where their return addresses
   were. If all of these are there again, it is the same stack: where the next return address is follows from where the one before
   is, and from the function to which this one returns. (Functions whose frames have no constant size could be an exception;
   then a sample may have a wrong stack.) So the addresses are read in this order, as the unwinder does, and each of them is on a
   stack that is in use. */
struct remembered {
  uintptr_t start[4]; /* where the search began: a frame, the thread, the bounds of OCaml's stack */
  uint32_t stack;     /* its index */
  uint32_t depth;     /* 0: nothing is remembered */
  uintptr_t const *places[DEPTH];
};

enum { REMEMBERED = 16 };

/* Owner: the domain. */
struct bxr_memory_of_stacks {
  uint32_t next; /* the number of the entry that is replaced next */
  struct remembered entries[REMEMBERED];
};

static bool is_there(struct remembered const *entry, uintptr_t const *start, void const *caller,
                     uint32_t rate) {
  struct bxr_stack *stack = bxr_stack_at(entry->stack);
  if (entry->depth == 0 || memcmp(entry->start, start, sizeof entry->start) != 0 ||
      stack->rate != rate || stack->frames[0] != (uintptr_t)caller)
    return false;
  for (uint32_t i = 0; i < entry->depth; i++)
    if (*entry->places[i] != stack->frames[i]) return false;
  return true;
}

static void remember(struct bxr_memory_of_stacks *memory, uintptr_t const *start,
                     struct trace const *trace, uint32_t stack) {
  /* Some unwinders, and some processors, have the addresses elsewhere. */
  if (trace->caller != 0) return;
  for (uint32_t i = 0; i < trace->depth; i++)
    if (*trace->places[i] != trace->frames[i]) return;
  struct remembered *entry = &memory->entries[memory->next++ % REMEMBERED];
  *entry = (struct remembered){.stack = stack, .depth = trace->depth};
  memcpy(entry->start, start, sizeof entry->start);
  memcpy(entry->places, trace->places, sizeof entry->places);
}

static struct bxr_memory_of_stacks *memory_of(struct bxr_domain *domain) {
  if (domain->stacks == NULL) {
    size_t page = bxr_os_page_size();
    domain->stacks = bxr_os_map(bxr_os_whole_pages(sizeof *domain->stacks), page);
  }
  return domain->stacks;
}

uint32_t bxr_stack_find(struct bxr_domain *domain, void const *caller, uint32_t rate) {
  struct bxr_memory_of_stacks *memory = memory_of(domain);
  uintptr_t start[4] = {(uintptr_t)__builtin_frame_address(0), (uintptr_t)&errno};
  bxr_runtime_stack(&start[2]);
  if (memory != NULL)
    for (int i = 0; i < REMEMBERED; i++)
      if (is_there(&memory->entries[i], start, caller, rate)) return memory->entries[i].stack;

  struct trace trace = unwind(caller);
  uint64_t hash = rate;
  for (uint32_t i = 0; i < trace.depth; i++)
    hash = (hash ^ trace.frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
  struct bxr_stack **bucket = &bxr_stacks[(hash >> 40) % BXR_STACK_BUCKETS];
  struct bxr_stack *stack = find_stack(bxr_load(bucket), rate, &trace);
  if (stack == NULL) stack = add_stack(bucket, rate, &trace);
  if (stack == NULL) return 0;
  uint32_t index = (uint32_t)((uint64_t *)stack - stack_words);
  if (memory != NULL) remember(memory, start, &trace, index);
  return index;
}
