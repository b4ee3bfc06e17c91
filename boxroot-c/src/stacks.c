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

/* Where the search for a stack begins. */
struct start {
  uintptr_t frame, thread;       /* a frame of the library; an address that tells the thread */
  uintptr_t ocaml, end_of_ocaml; /* the stack of OCaml's own, if there is one */
};

/* What the unwinder has found so far. */
struct trace {
  struct start start;
  struct bxr_memory_of_stacks *memory; /* NULL: nothing is looked up in it */
  uint32_t rate;
  uint32_t known;   /* the index of the stack, when it is one that is remembered; 0: not yet */
  bool in_ocaml;    /* it has reached the stack of OCaml's own */
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

/* ---- stacks that are remembered ---- */

/* Unwinding takes microseconds, because it interprets a table for each frame. But most samples have a stack that another one had
   a moment ago, at the same place. So each domain remembers some stacks, and where their return addresses were. If all of
   these are there again, it is the same stack: where the next return address is follows from where the one before is, and from the
   function to which this one returns. (C functions whose frames have no constant size could be an exception; then a sample may
   have a wrong stack.) So the addresses are read in this order, as the unwinder does, and each is on a stack that is in use.

   This does not hold where C code is called by OCaml code that has a stack of its own (OCaml 5): C's frames do not depend on how
   deep that stack is, and below its end is what earlier calls have left. So the unwinder goes on until it has found the first
   return address on that stack. */
struct remembered {
  struct start start;
  uint32_t stack;   /* its index */
  uint32_t depth;   /* 0: nothing is remembered */
  uint32_t unwound; /* the number of return addresses that the unwinder must find */
  uintptr_t const *places[DEPTH];
};

enum { REMEMBERED = 16 };

/* Owner: the domain. */
struct bxr_memory_of_stacks {
  uint32_t next; /* the number of the entry that is replaced next */
  struct remembered entries[REMEMBERED];
};

static bool is_on_stack_of_ocaml(uintptr_t const *place, struct start const *start) {
  return (uintptr_t)place - start->ocaml < start->end_of_ocaml - start->ocaml;
}

static bool is_there(struct remembered const *entry, uintptr_t caller, struct trace const *trace) {
  struct bxr_stack *stack = bxr_stack_at(entry->stack);
  if (entry->depth == 0 || entry->unwound != trace->depth || stack->rate != trace->rate ||
      stack->frames[0] != caller || memcmp(&entry->start, &trace->start, sizeof entry->start) != 0)
    return false;
  for (uint32_t i = 0; i < entry->unwound; i++)
    if (entry->places[i] != trace->places[i]) return false;
  for (uint32_t i = 0; i < entry->depth; i++)
    if (*entry->places[i] != stack->frames[i]) return false;
  return true;
}

/* The index of the stack whose first addresses the unwinder has found, or 0. */
static uint32_t recall(uintptr_t caller, struct trace const *trace) {
  if (trace->memory == NULL) return 0;
  for (int i = 0; i < REMEMBERED; i++) {
    struct remembered const *entry = &trace->memory->entries[i];
    if (is_there(entry, caller, trace)) return entry->stack;
  }
  return 0;
}

static void remember(struct trace const *trace, uint32_t stack) {
  if (trace->memory == NULL || trace->caller != 0) return;
  struct remembered entry = {.start = trace->start, .stack = stack, .depth = trace->depth};
  for (uint32_t i = 0; i < trace->depth; i++) {
    /* Some unwinders, and some processors, have the addresses elsewhere. */
    if (*trace->places[i] != trace->frames[i]) return;
    entry.places[i] = trace->places[i];
    if (entry.unwound == 0 && is_on_stack_of_ocaml(entry.places[i], &trace->start))
      entry.unwound = i + 1;
  }
  trace->memory->entries[trace->memory->next++ % REMEMBERED] = entry;
}

/* ---- unwinding ---- */

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *data) {
  struct trace *trace = data;
  uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
  if (address == 0 || trace->depth == DEPTH) return _URC_END_OF_STACK;
  if (address == trace->caller) trace->caller = trace->depth = 0; /* frames before it are ours */
  uintptr_t const *place = (uintptr_t const *)(uintptr_t)_Unwind_GetCFA(context) - 1;
  trace->places[trace->depth] = place;
  trace->frames[trace->depth++] = address;
  if (trace->caller == 0 && !trace->in_ocaml && is_on_stack_of_ocaml(place, &trace->start)) {
    trace->in_ocaml = true;
    trace->known = recall(trace->frames[0], trace);
    if (trace->known != 0) return _URC_END_OF_STACK;
  }
  bool is_last = bxr_runtime_hides_callers((uintptr_t)_Unwind_GetRegionStart(context));
  return is_last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void unwind(struct trace *trace) {
  if (bxr_os_can_unwind())
    (void)_Unwind_Backtrace(visit_frame, trace);
  else
    trace->frames[trace->depth++] = trace->caller;
}

/* ---- the search ---- */

static struct bxr_memory_of_stacks *memory_of(struct bxr_domain *domain) {
  if (domain->stacks == NULL) {
    size_t page = bxr_os_page_size();
    domain->stacks = bxr_os_map(bxr_os_whole_pages(sizeof *domain->stacks), page);
  }
  return domain->stacks;
}

uint32_t bxr_stack_find(struct bxr_domain *domain, void const *caller, uint32_t rate) {
  struct trace trace = {
    .start = {(uintptr_t)__builtin_frame_address(0), (uintptr_t)&errno, 0, 0},
    .memory = memory_of(domain),
    .rate = rate,
    .caller = (uintptr_t)caller,
  };
  bxr_runtime_stack(&trace.start.ocaml, &trace.start.end_of_ocaml);
  trace.known = recall(trace.caller, &trace);
  if (trace.known == 0) unwind(&trace);
  if (trace.known != 0) return trace.known;

  uint64_t hash = rate;
  for (uint32_t i = 0; i < trace.depth; i++)
    hash = (hash ^ trace.frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
  struct bxr_stack **bucket = &bxr_stacks[(hash >> 40) % BXR_STACK_BUCKETS];
  struct bxr_stack *stack = find_stack(bxr_load(bucket), rate, &trace);
  if (stack == NULL) stack = add_stack(bucket, rate, &trace);
  if (stack == NULL) return 0;
  uint32_t index = (uint32_t)((uint64_t *)stack - stack_words);
  remember(&trace, index);
  return index;
}
