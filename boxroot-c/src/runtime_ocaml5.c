/* SPDX-License-Identifier: MIT */
/* OCaml 5: one record per domain; Caml_state tells who holds a lock. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_sigmask */
#endif
#define CAML_INTERNALS
#include "runtime.h"

#if OCAML_VERSION >= 50000

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include <caml/address_class.h>
#include <caml/domain.h>
#include <caml/fiber.h>
#include <caml/gc.h>
#include <caml/major_gc.h>
#include <caml/misc.h>
#include <caml/roots.h>
#include <caml/shared_heap.h>

#include "orphans.h"
#include "scan.h"
#include "setup.h"

#if OCAML_VERSION >= 50600
#warning "boxroot: not tested with an OCaml newer than 5.5; see -DBXR_MARK_SLOT_BY_SLOT"
#endif

/* From OCaml 5.5 on, a cycle sweeps before it marks roots. OxCaml, whose version is 5.2, does the
   same. Only OxCaml has this macro. */
#if OCAML_VERSION >= 50500 || defined(Is_last_closinfo)
#define MARKS_ROOTS_LATE
#endif

/* The runtime's own upper bound on concurrent domains; it numbers them from 0. */
enum { MAX_DOMAINS = 4096 };

/* By domain number. Only the domain of that number uses an entry, under its lock; the runtime
   orders one domain's end before the start of the next one with the same number. */
static struct {
  struct bxr_domain *record; /* NULL: none */
  uintnat ended;             /* 1 + the unique id of the last domain that ended here */
} domains[MAX_DOMAINS];

BXR_THREAD_LOCAL struct bxr_domain_head *bxr_self = &bxr_no_domain;

/* This thread's domain has ended. Its Caml_state may be non-NULL, and may already
   describe another domain. */
static BXR_THREAD_LOCAL bool domain_ended;

/* This thread has used its record (to make a root, for instance), or scanned roots for a domain
   that was not ending. So its domain will end after our hook was installed, and the hook will set
   domain_ended. */
static BXR_THREAD_LOCAL bool trusted;

/* While a domain's own threads wait, its *backup thread* collects for it, and so runs finalisers.
   The backup thread's Caml_state stays non-NULL when it releases the lock, and even while it ends
   and runs thread-local destructors. Another domain may be using that state then. So a backup
   thread is never trusted. As long as a thread's domain has not ended, the runtime tells whether
   the thread is a backup thread. The answer is remembered, because it never changes. */
static bool is_backup_thread(void) {
  static BXR_THREAD_LOCAL bool was_seen;
  if (!was_seen) was_seen = caml_bt_is_self() != 0;
  return was_seen;
}

/* For a thread whose domain may have ended. A backup thread blocks all signals, from its start on,
   so any thread that blocks SIGSEGV may be one. (A finaliser of the program may unblock signals
   there, so the Rust crate asks before it calls a finaliser.) */
static bool may_be_backup_thread(void) {
  if (is_backup_thread()) return true;
#ifdef _WIN32
  return false;
#else
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 || sigismember(&blocked, SIGSEGV) != 0;
#endif
}

/* For a thread whose domain has not ended: it holds the lock, or scans for a domain that is not
   ending. */
static bool trust_thread(void) {
  if (!trusted) trusted = !is_backup_thread();
  return trusted;
}

static scan_roots_hook previous_scan_roots;
static caml_timing_hook previous_domain_terminated;

static struct bxr_domain **record_of(caml_domain_state *state) {
  if (state->id < 0 || state->id >= MAX_DOMAINS) return NULL;
  /* The last collections of a domain come after its termination hook. In these it must
     neither adopt orphans (its own pools, for instance) nor get a new record. */
  if (domains[state->id].ended == (uintnat)state->unique_id + 1) return NULL;
  return &domains[state->id].record;
}

void *bxr_runtime_state(void) { return domain_ended ? NULL : Caml_state_opt; }

struct bxr_domain **bxr_runtime_record(void) {
  caml_domain_state *state = bxr_runtime_state();
  return state == NULL ? NULL : record_of(state);
}

static enum bxr_lock lock_state(void) {
  if (domain_ended) return BXR_LOCK_ENDED;
  if (Caml_state_opt == NULL) return BXR_LOCK_NOT_HELD;
  return trusted || !may_be_backup_thread() ? BXR_LOCK_HELD : BXR_LOCK_UNCERTAIN;
}

int bxr_lock_state(void) { return lock_state(); }
void bxr_lock_confirm(void) {}
int bxr_use_begin_to_lock(void) { return bxr_setup_use(lock_state()); }

void bxr_runtime_cache(struct bxr_domain *domain) {
  if (trust_thread()) bxr_self = &domain->head;
}

bool bxr_runtime_sets_up_itself(void) { return true; }

/* Two functions identify the runtime's version: one that is new in the version that this file is
   compiled for, so earlier runtimes lack it, and one that is new in the next version. Up to 5.5,
   each program contains the functions that its runtime has, because it needs others in their object
   files. A later version may drop any of them. So only these functions are looked up, and none if
   this file is compiled for a later version. */
#if !defined(__ELF__) || defined(Is_last_closinfo) /* OxCaml has functions of several versions */
#elif OCAML_VERSION < 50100
#define NEW_IN_NEXT "caml_try_run_on_all_domains_async"
#elif OCAML_VERSION < 50200
#define NEW_IN_THIS "caml_try_run_on_all_domains_async"
#define NEW_IN_NEXT "caml_orphan_ephemerons"
#elif OCAML_VERSION < 50300
#define NEW_IN_THIS "caml_orphan_ephemerons"
#define NEW_IN_NEXT "caml_process_pending_actions_res"
#elif OCAML_VERSION < 50400
#define NEW_IN_THIS "caml_process_pending_actions_res"
#define NEW_IN_NEXT "caml_gc_ramp_up"
#elif OCAML_VERSION < 50500
#define NEW_IN_THIS "caml_gc_ramp_up"
#define NEW_IN_NEXT "caml_init_gc_tweaks"
#elif OCAML_VERSION < 50600
#define NEW_IN_THIS "caml_init_gc_tweaks"
#endif
#ifdef NEW_IN_THIS
extern char const new_in_this[] __asm__(NEW_IN_THIS) __attribute__((weak));
#endif
#ifdef NEW_IN_NEXT
extern char const new_in_next[] __asm__(NEW_IN_NEXT) __attribute__((weak));
#endif

bool bxr_runtime_is_other(void) {
  bool other = false;
#ifdef NEW_IN_THIS
  other |= new_in_this == NULL;
#endif
#ifdef NEW_IN_NEXT
  other |= new_in_next != NULL;
#endif
  return other;
}

bool bxr_runtime_is_alone(void) { return caml_domain_alone(); }
bool bxr_runtime_survives_fork(void) { return !caml_domain_is_multicore(); }

bool bxr_runtime_is_trusted(void) { return trusted; }

#ifdef BXR_MARK_SLOT_BY_SLOT
bool bxr_runtime_marks_ranges(void) { return false; }
#else
/* Whether this runtime makes and reads headers as we expect. */
bool bxr_runtime_marks_ranges(void) {
  size_t size = (size_t)1 << 20;
  header_t header = bxr_runtime_unmarked_header(size);
  header_t marked = With_status_hd(header, caml_global_heap_state.MARKED);
  return Wosize_hd(header) == size && Tag_hd(header) == 0 &&
         Has_status_hd(header, caml_global_heap_state.UNMARKED) && !bxr_runtime_is_marked(header) &&
         bxr_runtime_is_marked(marked) && Wosize_hd(marked) == size && Tag_hd(marked) == 0;
}
#endif

#if OCAML_VERSION < 50100
void bxr_runtime_owe(size_t words) { (void)words; }
bool bxr_runtime_rests_after_forced_cycles(void) { return false; }
#else
/* From OCaml 5.5 on, the work that Gc.full_major did is not credited. */
bool bxr_runtime_rests_after_forced_cycles(void) {
  return OCAML_VERSION < 50500 && caml_domain_alone();
}

#if OCAML_VERSION < 50500
/* In this field, the collector counts the words that it has swept while it allocated. It subtracts
   them from the next slice's work. */
void bxr_runtime_owe(size_t words) { Caml_state->major_work_done_between_slices -= (intnat)words; }
#else
/* From OCaml 5.5 on, the count of work done must not become negative: if it is negative when
   marking begins, Gc.full_major postpones the next marking forever. So we add to the allocated
   words for which the next slice works, as after a ramp-up. For each it does this many words of
   work: 1.5 * (200 + caml_percent_free) / caml_percent_free. */
extern _Atomic uintnat caml_percent_free;
void bxr_runtime_owe(size_t words) {
  double percent_free = (double)caml_percent_free;
  Caml_state->allocated_words_resumed +=
    (uintnat)((double)words * percent_free / (1.5 * (200 + percent_free)));
}
#endif
#endif

bool bxr_runtime_copy(uintptr_t const *words, size_t count) {
  (void)words, (void)count;
  return false;
}

uintptr_t bxr_runtime_unmarked_header(size_t size) {
  return Make_header(size, 0, caml_global_heap_state.UNMARKED);
}

bool bxr_runtime_is_marked(uintptr_t header) {
  return Has_status_hd(header, caml_global_heap_state.MARKED);
}

uint32_t bxr_runtime_cycle(void) { return (uint32_t)caml_major_cycles_completed; }

bool bxr_runtime_marking_started(void) {
#ifdef MARKS_ROOTS_LATE
  return caml_marking_started();
#else
  return false;
#endif
}

bool bxr_runtime_marking_done(void) {
#ifdef MARKS_ROOTS_LATE
  if (!caml_marking_started()) return true;
#endif
  return Caml_state->marking_done != 0;
}

/* A forced collection works in slices of 10 million words, and some of these words are left when
   its cycle ends. Other slices leave nothing, or a part of the 1000 words that a domain marks while
   it waits. */
bool bxr_runtime_may_be_forced(void) {
#if OCAML_VERSION >= 50100
  if (Caml_state->slice_budget < 1 << 16) return false;
#endif
  return Caml_state->young_ptr == Caml_state->young_end;
}

#ifdef MARKS_ROOTS_LATE
/* A caml_darken for roots that are darkened while other domains run. The runtime's function stores
   the whole header of a block, but a domain that forces a lazy value may change the tag there at
   any moment (ocaml/ocaml, issue 14816). So the status of a lazy value is exchanged here, as in the
   marker, and then its field is darkened. If the field changes meanwhile, caml_modify darkens its
   old value. */
static void darken(void *state, value v, value volatile *root) {
  while (Is_block(v) && !Is_young(v)) {
    header_t header = Hd_val(v);
    if (Tag_hd(header) != Lazy_tag && Tag_hd(header) != Forcing_tag) {
      caml_darken(state, v, root);
      return;
    }
    if (!Has_status_hd(header, caml_global_heap_state.UNMARKED)) return;
    header_t marked = With_status_hd(header, caml_global_heap_state.MARKED);
    if (atomic_compare_exchange_strong(Hp_atomic_val(v), &header, marked)) v = Field(v, 0);
  }
}
#else
#define darken caml_darken
#endif

static void scan_roots(scanning_action action, scanning_action_flags flags, void *data,
                       caml_domain_state *state) {
  if (previous_scan_roots != NULL) previous_scan_roots(action, flags, data, state);
  if (bxr_setup_status() == BOXROOT_TORE_DOWN) {
    if (action == &caml_darken) bxr_setup_give_memory_back();
    return;
  }
  struct bxr_domain **record = record_of(state);
  if (record == NULL) return;
  if (!caml_domain_is_terminating())
    (void)trust_thread();
  else if (*record == NULL)
    return; /* its termination hook was called before ours was installed: it must not adopt */
  enum bxr_scan_kind kind = (flags & SCANNING_ONLY_YOUNG_VALUES) ? BXR_SCAN_MINOR
                            : action == &caml_darken             ? BXR_SCAN_DARKEN
                                                                 : BXR_SCAN_OTHER;
  if (kind == BXR_SCAN_DARKEN) action = darken;
  bxr_scan(kind, record, state, (struct bxr_action){action, data});
}

static void domain_terminated(void) {
  if (previous_domain_terminated != NULL) previous_domain_terminated();
  bool torn_down = bxr_setup_status() == BOXROOT_TORE_DOWN;
  struct bxr_domain **record = torn_down ? NULL : record_of(Caml_state);
  /* "finished" of barrier.h. The runtime does the same a little later. Meanwhile other domains may
     collect garbage, or begin a cycle, and then this domain takes part, with its record. */
  while (record != NULL && *record != NULL && !bxr_runtime_marking_done()) caml_finish_marking();
  bxr_self = &bxr_no_domain;
  domain_ended = true;
  if (record == NULL) return;
  domains[Caml_state->id].ended = (uintnat)Caml_state->unique_id + 1;
  if (*record != NULL) bxr_orphans_add(*record);
  *record = NULL;
}

/* The Rust crate reads these fields by their offsets (ocaml-boxroot-sys/src/fast.rs). Only a
   thread's first stack has no function that handles the result of the code that runs on it. */
_Static_assert(offsetof(struct stack_info, handler) == 2 * sizeof(void *) &&
                 offsetof(struct stack_handler, handle_value) == 0,
               "ocaml-boxroot-sys/src/fast.rs knows these offsets");
bool bxr_runtime_is_on_own_stack(void) {
  return Is_long(Stack_handle_value(Caml_state->current_stack));
}

/* caml_runstack calls OCaml code on a separate stack, below an effect handler. An unwinder follows
   the link from this stack to the one around it. That link is NULL while C code on this stack calls
   OCaml. Bytecode programs have no such function. */
#ifdef __ELF__
extern char caml_runstack[] __attribute__((weak));
bool bxr_runtime_hides_callers(uintptr_t function) {
  return function != 0 && function == (uintptr_t)caml_runstack;
}
#else
bool bxr_runtime_hides_callers(uintptr_t function) { return (void)function, false; }
#endif

void bxr_runtime_setup(void) {
  /* Each previous hook is stored before the hook that calls it is installed. In the child of a
     fork, a thread that is gone may have installed them already. */
  caml_timing_hook terminated = atomic_load(&caml_domain_terminated_hook);
  while (terminated != domain_terminated) {
    previous_domain_terminated = terminated;
    if (atomic_compare_exchange_weak(&caml_domain_terminated_hook, &terminated, domain_terminated))
      break;
  }
  scan_roots_hook scan = atomic_load(&caml_scan_roots_hook);
  while (scan != scan_roots) {
    previous_scan_roots = scan;
    if (atomic_compare_exchange_weak(&caml_scan_roots_hook, &scan, scan_roots)) break;
  }
}

void bxr_runtime_teardown(void) {
  for (int i = 0; i < MAX_DOMAINS; i++) domains[i].record = NULL;
}

#else
typedef int bxr_not_ocaml5; /* a translation unit must declare something */
#endif
