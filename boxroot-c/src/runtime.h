/* SPDX-License-Identifier: MIT */
/* The OCaml runtime, behind one contract. Everything that depends on the version of
   OCaml is in include/boxroot/lock.h (fast paths), here, and in runtime_ocaml4.c and
   runtime_ocaml5.c, of which one compiles to nothing. */
#ifndef BXR_RUNTIME_H
#define BXR_RUNTIME_H

#include "../include/boxroot.h"
#include "atomic.h"
#include "rules.h"

#pragma GCC visibility push(hidden)

struct bxr_domain;

/* What the runtime wants done with each root. */
struct bxr_action {
#if OCAML_VERSION >= 50000
  void (*scan)(void *data, value v, value volatile *root);
  void *data;
#else
  void (*scan)(value v, value *root);
#endif
};

/* Loads the header of a block into the cache. Any word will do. */
static inline void bxr_prefetch_header(uintptr_t v) {
  __builtin_prefetch((char const *)(v - sizeof(header_t)), 1);
}

/* How many values ahead of an action that reads headers to prefetch them (docs/tuning.md). */
#ifndef BXR_AHEAD
#define BXR_AHEAD 8
#endif

static inline void bxr_act(struct bxr_action action, uintptr_t *slot) {
#if OCAML_VERSION >= 50000
  action.scan(action.data, (value)*slot, (value volatile *)slot);
#else
  action.scan((value)*slot, (value *)slot);
#endif
}

/* For a block of the minor heap. The action moves it, and copies most of its fields later, and up to
   OCaml 5.4 the header in front of an infix pointer is one of these; but other domains that have
   finished their part of the collection may mark meanwhile, and come by this slot. So the header is copied here
   before the slot has the new address; nothing else changes that word, and the action stores the same. */
static inline void bxr_act_young(struct bxr_action action, uintptr_t *slot) {
#if OCAML_VERSION >= 50000 && OCAML_VERSION < 50500
  header_t header = Hd_val((value)*slot);
  if (!BXR_LIKELY(Tag_hd(header) != Infix_tag) && BXR_RULE(COPY_INFIX_HEADERS)) {
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

/* Whether a block outside the OCaml heap can be marked like one inside. To be compiled with
   -DBXR_MARK_SLOT_BY_SLOT where it cannot. */
bool bxr_runtime_marks_ranges(void);
/* The header of an unmarked block of this many values, and whether it was marked since. In a
   scan that darkens. */
uintptr_t bxr_runtime_unmarked_header(size_t size);
bool bxr_runtime_is_marked(uintptr_t header);
/* The number of the major cycle, which changes when marking has ended, and before the roots of the next
   cycle are darkened. Any number may come again after 2^32 cycles. With the lock. */
uint32_t bxr_runtime_cycle(void);
/* Whether roots of this cycle have been darkened, of some domain: false where no domain runs before those
   of all are. With the lock. */
bool bxr_runtime_marking_started(void);
/* Whether this thread's domain has nothing to mark, for now. With the lock. */
bool bxr_runtime_marking_done(void);

/* ---- life cycle ---- */

/* True if the first create may set the library up: the runtime can tell by itself
   whether this thread holds the lock. */
bool bxr_runtime_sets_up_itself(void);

/* Installs the hooks, once. With the lock. */
void bxr_runtime_setup(void);

/* Forgets all domains. Hooks stay installed, and do nothing from now on. */
void bxr_runtime_teardown(void);

/* Checks that our hooks are still in place. If not, the lock cannot be tracked any
   more: marks the library as invalid. With the lock. */
void bxr_runtime_check(void);

/* Where the record of this thread's domain is kept. NULL if this thread does not hold
   the lock, or if its domain is ending. */
struct bxr_domain **bxr_runtime_record(void);

/* Whether bxr_runtime_record can be trusted on this thread, whatever its callers promise. A thread that
   has ended, or whose domain ended before our hooks were there, may seem to hold the lock. */
bool bxr_runtime_is_trusted(void);

/* The runtime's state of this thread's domain, as in bxr_domain_open. With the lock. */
void *bxr_runtime_state(void);

/* Whether no other domain runs that could be using its record. With the lock. */
bool bxr_runtime_is_alone(void);

/* Opens the fast paths to this thread, for the record in its slot. With the lock. */
void bxr_runtime_cache(struct bxr_domain *domain);

#pragma GCC visibility pop

#endif
