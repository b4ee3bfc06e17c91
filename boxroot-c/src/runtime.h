/* SPDX-License-Identifier: MIT */
/* The OCaml runtime, behind one interface. Everything that depends on the version of OCaml is in
   include/boxroot/lock.h (fast paths), here, and in runtime_ocaml4.c and runtime_ocaml5.c, one of
   which compiles to nothing. */
#ifndef BXR_RUNTIME_H
#define BXR_RUNTIME_H

#include "atomic.h"
#include "core.h"

#pragma GCC visibility push(hidden)

struct bxr_domain;

/* The addresses of the minor heap, for loops: `size` bytes from `start`, which is even. */
struct bxr_range {
  uintptr_t start, size;
};

/* With the lock, or in a scan. */
static inline struct bxr_range bxr_minor_heap(void) {
  uintptr_t start = (uintptr_t)BXR_MINOR_HEAP_START;
  return (struct bxr_range){start, (uintptr_t)BXR_MINOR_HEAP_END - start};
}

/* Whether a word is a block with an address in the range. One comparison is enough, because the
   word's offset is rotated: the lowest bit of an immediate or a link makes it larger than any
   offset in the range. */
static inline bool bxr_is_block_in(struct bxr_range range, uintptr_t word) {
  uintptr_t offset = word - range.start;
  return (offset >> 1 | offset << 63) < range.size >> 1;
}

/* The function of the runtime that a scan calls for each root. */
struct bxr_action {
#if OCAML_VERSION >= 50000
  void (*scan)(void *data, value v, value volatile *root);
  void *data;
#else
  void (*scan)(value v, value *root);
#endif
};

/* Loads the header of the block v into the cache. v may be any word, even one that is not a
   block. */
static inline void bxr_prefetch_header(uintptr_t v) {
  __builtin_prefetch((char const *)(v - sizeof(header_t)), 1);
}

static inline void bxr_act(struct bxr_action action, uintptr_t *slot) {
#if OCAML_VERSION >= 50000
  action.scan(action.data, (value)*slot, (value volatile *)slot);
#else
  action.scan((value)*slot, (value *)slot);
#endif
}

/* bxr_act for a slot with a block of the minor heap. The action moves the block, but copies most of
   its fields later. Up to OCaml 5.4, the header in front of an infix pointer is one of these
   fields. Meanwhile a domain that has finished its part of the collection may mark, and visit one
   of its slots that refers to the block. So that header is copied here, before the slot gets the
   new address. The runtime later stores the same header again. */
static inline void bxr_act_young(struct bxr_action action, uintptr_t *slot) {
#if OCAML_VERSION >= 50000 && OCAML_VERSION < 50500
  header_t header = Hd_val((value)*slot);
  if (!BXR_LIKELY(Tag_hd(header) != Infix_tag)) {
    uintptr_t offset = Infix_offset_hd(header);
    uintptr_t moved = *slot - offset;
    bxr_act(action, &moved);
    bxr_publish(Hp_val((value)(moved + offset)), header);
    bxr_publish(slot, moved + offset);
    return;
  }
#endif
  bxr_act(action, slot);
}

/* ---- marking in slices (scan.h, barrier.h); only if bxr_runtime_marks_ranges() ---- */

/* Whether the collector can mark a block outside the OCaml heap like one inside, judging by the
   headers that the functions below make and read. If a runtime cannot, compile with
   -DBXR_MARK_SLOT_BY_SLOT. Called in a scan that darkens. */
bool bxr_runtime_marks_ranges(void);
/* The header of an unmarked block of this many values; and whether a header says that its block is
   marked. Called in a scan that darkens. */
uintptr_t bxr_runtime_unmarked_header(size_t size);
bool bxr_runtime_is_marked(uintptr_t header);
/* The number of the major cycle. It changes after a cycle's marking has ended, and before the roots
   of the next cycle are darkened. The counter wraps after 2^32 cycles. With the lock. */
uint32_t bxr_runtime_cycle(void);
/* Whether some domain's roots have been darkened in this cycle, while the roots of another domain
   may not have been. Always false if no domain runs before all roots have been darkened: up to
   OCaml 5.4, but not in OxCaml. With the lock. */
bool bxr_runtime_marking_started(void);
/* Whether this thread's domain has nothing to mark for now: its marker has visited all pools that
   were handed over. With the lock. */
bool bxr_runtime_marking_done(void);
/* Whether the program may have forced the collection that is under way, and has not run since.
   Returns false only if the runtime shows that this is not so. In scans. */
bool bxr_runtime_may_be_forced(void);

/* Pacing. The collector plans a cycle without the work that our roots add to it. If roots are
   darkened one by one, a part of that work is done outside of slices: darkening a root visits the
   header of its value, and the fields before the first pointer. If the pools are handed over, the
   slices also do this part. It counts as this many words for each value, the size of a block with
   one field. */
enum { BXR_WORDS_OF_A_VALUE = 2 };

/* Makes the next slice of this domain do this much more work. Does nothing if the runtime does not
   support this (OCaml 4 and 5.0). Called in minor scans. */
void bxr_runtime_owe(size_t words);
/* Whether work done in a forced cycle is credited to this domain's next cycles, and to no other
   domain's. */
bool bxr_runtime_rests_after_forced_cycles(void);

/* Copies the values among these words to the OCaml heap, where the collector marks them in its
   slices. Called in a scan that darkens. Does nothing and returns false if the runtime cannot do
   this (only OCaml 4.14 with naked pointers can), if there is no memory, or if the copies would
   take too much memory. */
bool bxr_runtime_copy(uintptr_t const *words, size_t count);

/* ---- call stacks (stacks.c) ---- */

/* Whether unwinding must stop at the function that begins at this address, because the link to its
   caller may be NULL. */
bool bxr_runtime_hides_callers(uintptr_t function);

/* ---- life cycle ---- */

/* True if the first create may set the library up: the runtime can tell by itself
   whether this thread holds the lock. */
bool bxr_runtime_sets_up_itself(void);

/* Installs the hooks, once. With the lock. */
void bxr_runtime_setup(void);

/* Forgets all domains. The hooks stay installed, but now only call the hooks that were there before
   them. On OCaml 4 they also free the copies of the last scan; on OCaml 5 they also call
   bxr_setup_give_memory_back (setup.h). */
void bxr_runtime_teardown(void);

/* Checks that our hooks are still in place (OCaml 4). If they are not, the lock cannot be followed
   any more, and the library becomes invalid. With the lock. bxr_runtime_lost_track only returns
   whether our hooks are gone. Any thread may call it after bxr_runtime_setup.

   bxr_runtime_is_on_own_stack: whether OCaml runs on the stack that this thread began with, not on
   that of an effect handler (OCaml 5). With the lock, in a function that OCaml has called. */
#if OCAML_VERSION >= 50000
static inline bool bxr_runtime_lost_track(void) { return false; }
static inline void bxr_runtime_check(void) {}
bool bxr_runtime_is_on_own_stack(void);
#else
static inline bool bxr_runtime_is_on_own_stack(void) { return true; }
bool bxr_runtime_lost_track(void);
void bxr_runtime_check(void);
#endif

/* The place that holds the record of this thread's domain. NULL if this thread does not hold the
   lock, or if its domain is ending. */
struct bxr_domain **bxr_runtime_record(void);

/* Whether the answer of bxr_runtime_record is certain on this thread, even if the caller does not
   promise to hold the lock. The answer may be wrong on a thread that is ending, or whose domain
   ended before our hooks were installed: it may seem to hold the lock. */
bool bxr_runtime_is_trusted(void);

#if OCAML_VERSION < 50000
/* A thread, and, if it is not the main one, its termination event (runtime_ocaml4.c). */
struct bxr_thread {
  value wrapper;
  int const *status; /* atomic */
  bool ended;        /* the thread does not look at the event any more; atomic */
  struct bxr_thread *next;
};
extern BXR_THREAD_LOCAL struct bxr_thread *bxr_thread;

/* Whether this thread is trusted, and has not begun to end. */
static inline bool bxr_thread_goes_on(void) { return bxr_peek(bxr_peek(&bxr_thread->status)) == 0; }
#endif

/* The record that this thread has cached, if it is trusted, else one that is not open to it. */
static inline struct bxr_domain_head *bxr_runtime_cached(void) {
#if OCAML_VERSION < 50000
  if (!BXR_LIKELY(bxr_thread_goes_on())) return bxr_owner;
#endif
  return bxr_self;
}

/* The runtime's state of this thread's domain, as in bxr_domain_open. With the lock. */
void *bxr_runtime_state(void);

/* Whether this file was compiled for another version of OCaml than that of the program's runtime.
   The linker does not detect that, although the runtime's records of domains differ. Any thread, at
   any time. */
bool bxr_runtime_is_other(void);

/* Whether no other domain is running, so that none can be using its record. With the lock. */
bool bxr_runtime_is_alone(void);

/* Whether OCaml can go on in the child if this thread forks. It can if no other domain was ever
   made. When another domain is made, OCaml 5 gives the first one an extra thread for good, and the
   child does not have that thread. With the lock. */
bool bxr_runtime_survives_fork(void);

/* Opens the fast paths to this thread. The argument is the record of its domain. With the lock. */
void bxr_runtime_cache(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
