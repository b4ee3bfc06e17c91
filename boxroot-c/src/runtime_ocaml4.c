/* SPDX-License-Identifier: MIT */
/* OCaml 4: one domain, one lock, which the blocking-section hooks follow. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigset_t, for the runtime's headers; RTLD_DEFAULT */
#endif
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include "runtime.h"

#if OCAML_VERSION < 50000

/* The runtime's own header has an old-style declaration. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <caml/address_class.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/io.h>
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/roots.h>
#include <caml/signals.h>
#pragma GCC diagnostic pop

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "setup.h"

/* FIND(type, name) is the address of a symbol, or NULL if the program lacks it. It finds functions
   of the systhreads library, the hook that ends the main thread after Thread.exit (only native
   programs have it), and functions that are in a separate library, -lpthread, on some systems. In
   object files other than ELF's, weak references need flags to the linker. */
typedef value thread_function(value);
typedef void (*termination_hook)(void *);
typedef int create_key(pthread_key_t *, void (*)(void *));
typedef int set_specific(pthread_key_t, void const *);
#ifdef __ELF__
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
extern thread_function caml_thread_self __attribute__((weak));
extern thread_function caml_thread_id __attribute__((weak));
extern termination_hook caml_termination_hook __attribute__((weak));
#define FIND(type, name) (&name)
#else
#include <dlfcn.h>
#define FIND(type, name) ((type *)dlsym(RTLD_DEFAULT, #name))
#endif

BXR_THREAD_LOCAL struct bxr_domain_head *bxr_self = &bxr_no_domain;
BXR_THREAD_LOCAL struct bxr_domain_head *bxr_owner = &bxr_no_domain;

static struct bxr_domain *the_domain;
static BXR_THREAD_LOCAL bool holds_lock;

/* Whether this is the main thread, which started the runtime. Only the main thread has the fast
   paths of delete and modify: if it ends before the process does, it passes through
   caml_termination_hook. If the program has the Thread module but not that hook (bytecode), no
   thread counts as the main one. */
static BXR_THREAD_LOCAL bool is_main;

static bool threads_at_setup;

static void (*previous_scan_roots)(scanning_action);
static void (*previous_enter)(void);
static void (*previous_leave)(void);
static termination_hook previous_termination;

/* caml_thread_initialize sets this hook, and no other function does. */
static bool threads_initialised(void) { return caml_channel_mutex_lock != NULL; }

static void set_cache(struct bxr_domain_head *head) {
  bxr_self = head;
  if (is_main) bxr_owner = head;
}

/* Called when this thread releases the lock. */
static void forget_lock(void) {
  holds_lock = false;
  set_cache(&bxr_no_domain);
}

/* ---- the ends of threads ---- */

/* A thread of the Thread module releases the lock at its end without passing through a hook, so
   that holds_lock stays set while its thread-local destructors run.

   1. Just before it releases the lock, it triggers its *termination event*, for which Thread.join
      waits: it sets the event's status. No other thread does. So if holds_lock is set and that
      status is 0, the thread holds the lock.
   2. OCaml frees the event when it collects the event's *wrapper*, a custom block to which the
      thread's descriptor refers. So we keep the wrapper as a root until the thread ends. The last
      moment that we can see is the destructor of a thread-specific key. From then on the thread is
      not trusted.
   3. caml_shutdown also finalises blocks that are roots. So wrappers get a finaliser of ours, which
      does not free an event that a thread may still read. If the program started with
      caml_startup_pooled, the shutdown frees all events. So this finaliser also makes their threads
      untrusted.
   4. A thread that was registered by caml_c_thread_register may be registered anew, with another
      event. So each time a thread takes the lock, it looks up its event.
   5. All this is private to systhreads, but the same in all versions from 4.13 on. If it looks
      different at setup (know_events), or if memory is short, only the main thread is trusted. */
enum { NOT_TRIGGERED = 0, TRIGGERED = 1, UNKNOWN = 2 };
struct event {
  pthread_mutex_t lock;
  int status;
  pthread_cond_t triggered;
};

static int const not_triggered = NOT_TRIGGERED, unknown = UNKNOWN;
static struct bxr_thread main_thread = {.status = &not_triggered},
                         unknown_thread = {.status = &unknown};
BXR_THREAD_LOCAL struct bxr_thread *bxr_thread = &unknown_thread;
static BXR_THREAD_LOCAL bool is_ending; /* the destructor of thread_key has run */

static struct bxr_thread *threads;   /* with an event; under the lock */
static thread_function *thread_self; /* NULL: events are not known */
static void (*previous_finaliser)(value);
static pthread_key_t thread_key;

static int own_status(void) { return bxr_peek(bxr_peek(&bxr_thread->status)); }

/* Whether this thread holds the lock; if it is not trusted, whether it seems to hold it. */
static bool has_lock(void) {
  if (holds_lock && own_status() == TRIGGERED) forget_lock();
  return holds_lock;
}

static struct event const *event_of(value wrapper) {
  return *(struct event **)Data_custom_val(wrapper);
}

static void finalise_event(value wrapper) {
  bool in_use = false;
  for (struct bxr_thread *t = threads; t != NULL; t = t->next) {
    if (t->status != &event_of(wrapper)->status) continue;
    bxr_publish(&t->status, &unknown);
    in_use = true;
  }
  if (!in_use) previous_finaliser(wrapper);
}

static void forget_event(void) {
  struct bxr_thread *thread = bxr_thread;
  bxr_thread = &unknown_thread;
  bxr_publish(&thread->ended, true);
}

/* The destructor of thread_key. The key's value may point to a struct that was freed. */
static void thread_ends(void *thread) {
  (void)thread;
  has_lock();
  is_ending = true;
  forget_event();
}

static void scan_threads(scanning_action action) {
  for (struct bxr_thread **p = &threads, *t; (t = *p) != NULL;) {
    if (bxr_load(&t->ended)) {
      *p = t->next;
      free(t);
    } else {
      action(t->wrapper, &t->wrapper);
      p = &t->next;
    }
  }
}

static void remember_event(value wrapper) {
  struct bxr_thread *t = malloc(sizeof *t);
  if (t == NULL) return;
  *t =
    (struct bxr_thread){.wrapper = wrapper, .status = &event_of(wrapper)->status, .next = threads};
  if (FIND(set_specific, pthread_setspecific)(thread_key, t) != 0)
    free(t);
  else
    threads = bxr_thread = t;
}

/* Called whenever a thread other than the main one takes the lock. */
static void find_event(void) {
  if (thread_self == NULL || is_ending) return;
  value descriptor = thread_self(Val_unit);
  /* While a thread is being registered, it has no descriptor. */
  value wrapper = Is_block(descriptor) ? Field(descriptor, 2) : Val_unit;
  int const *status = wrapper == Val_unit ? &unknown : &event_of(wrapper)->status;
  if (bxr_thread->status == status) return;
  forget_event();
  if (wrapper != Val_unit) remember_event(wrapper);
}

/* Whether this is a thread's descriptor: its number, its closure, and the wrapper of its event. */
static bool is_descriptor(value v) {
  return Is_block(v) && Wosize_val(v) == 3 && Is_block(Field(v, 2)) &&
         Tag_val(Field(v, 2)) == Custom_tag &&
         strcmp(Custom_ops_val(Field(v, 2))->identifier, "_threadstatus") == 0;
}

/* Whether this is an event that was never used. */
static bool is_new_event(struct event const *event) {
  static struct event const new_event = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                         .triggered = PTHREAD_COND_INITIALIZER};
  return memcmp(&event->lock, &new_event.lock, sizeof event->lock) == 0 &&
         event->status == NOT_TRIGGERED &&
         memcmp(&event->triggered, &new_event.triggered, sizeof event->triggered) == 0;
}

/* Learns from this thread's event whether events have the layout above. This fails if another
   thread waits for this one to end, because the event is not new then. */
static void know_events(void) {
  thread_function *self = FIND(thread_function, caml_thread_self);
  if (self == NULL || FIND(create_key, pthread_key_create) == NULL ||
      FIND(set_specific, pthread_setspecific) == NULL)
    return;
  value descriptor = self(Val_unit);
  if (!is_descriptor(descriptor) || !is_new_event(event_of(Field(descriptor, 2))) ||
      FIND(create_key, pthread_key_create)(&thread_key, thread_ends) != 0)
    return;
  struct custom_operations *operations = Custom_ops_val(Field(descriptor, 2));
  previous_finaliser = operations->finalize;
  operations->finalize = finalise_event;
  thread_self = self;
}

/* ---- the contract ---- */

/* OCaml 4 keeps one state for the whole process. Before setup we cannot tell which thread holds the
   lock: the caller of boxroot_setup must hold it. */
void *bxr_runtime_state(void) {
  return bxr_setup_status() == BOXROOT_NOT_SETUP || has_lock() ? (void *)Caml_state : NULL;
}

struct bxr_domain **bxr_runtime_record(void) {
  return has_lock() ? &the_domain : NULL;
}

static enum bxr_lock lock_state(void) {
  if (!has_lock()) return BXR_LOCK_NOT_HELD;
  return bxr_runtime_is_trusted() ? BXR_LOCK_HELD : BXR_LOCK_UNCERTAIN;
}

int bxr_lock_state(void) { return lock_state(); }
int bxr_use_begin_to_lock(void) { return bxr_setup_use(lock_state()); }

void bxr_runtime_cache(struct bxr_domain *domain) { set_cache(&domain->head); }

bool bxr_runtime_sets_up_itself(void) { return false; }

/* Nothing that is used here differs between 4.13 and 4.14, and the linker refuses other
   versions. */
bool bxr_runtime_is_other(void) { return false; }

bool bxr_runtime_is_alone(void) { return true; }
bool bxr_runtime_survives_fork(void) { return true; }

bool bxr_runtime_is_trusted(void) { return own_status() != UNKNOWN; }

/* caml_darken asks the page table first, and a full mark stack keeps only entries of heap chunks.
   Either would lose blocks outside the heap. */
bool bxr_runtime_marks_ranges(void) { return false; }
uintptr_t bxr_runtime_unmarked_header(size_t size) { return size; }
bool bxr_runtime_is_marked(uintptr_t header) { return header != 0; }
uint32_t bxr_runtime_cycle(void) { return (uint32_t)Caml_state->stat_major_collections; }
bool bxr_runtime_marking_started(void) { return false; }
bool bxr_runtime_marking_done(void) { return true; }
bool bxr_runtime_may_be_forced(void) {
  return Caml_state->young_ptr == Caml_state->young_alloc_end;
}
void bxr_runtime_owe(size_t words) { (void)words; }
bool bxr_runtime_rests_after_forced_cycles(void) { return false; }
bool bxr_runtime_hides_callers(uintptr_t function) { return (void)function, false; }

/* ---- copies for the marker ---- */

/* The copies of this cycle: a list through their first fields, which ends with Val_unit. Only the
   marker keeps them alive, and no block moves before the cycle has ended. */
static value copies = Val_unit;
static size_t copied_words;
static void (*previous_marking_ended)(void);

/* `progress` sums, over the slices of this cycle, the share of a cycle that each was asked to do.
   `expected` is its value at the end of a cycle without copies, as the last unforced cycle showed
   (initially 0.6, for sweeping alone). */
static double progress, expected = 0.6;
static void (*previous_slice_begins)(void);

/* A cycle with less progress was forced, and says nothing about the next cycle. */
#define SHORTEST 0.25

extern uintnat caml_percent_free;

static double heap_words(void) { return (double)Caml_state->stat_heap_wsz; }

/* Copies take at most a twelfth of the heap. Then programs take less memory with us than with the
   registry crate (benchmarks `cache` and `churn`). A full major collection then leaves too little
   free memory to cause a compaction. With a sixteenth, `cache` takes the same memory, and pauses
   are a little longer; with a 24th, `perm_count` is slower. */
enum { PART_OF_HEAP = 12 };

/* The size of the heap that contains the copies. If it is compacted between their release and the
   next cycle, it may become smaller than they were. */
static double heap_of_copies(void) {
  double least = PART_OF_HEAP * (double)copied_words, heap = heap_words();
  return heap > least ? heap : least;
}

/* The progress that marking the copies takes. For each of their words, that word and
   BXR_WORDS_OF_A_VALUE others are visited. */
static double progress_for_copies(void) {
  double words = (1 + BXR_WORDS_OF_A_VALUE) * (double)copied_words;
  return words * (100 + (double)caml_percent_free) / 250 / heap_of_copies();
}

static void forget_copies(void) {
  double others = progress - progress_for_copies();
  if (others > SHORTEST) expected = others;
  progress = 0;
  copies = Val_unit;
  copied_words = 0;
}

#if defined(NO_NAKED_POINTERS) || OCAML_VERSION < 41400
/* Without naked pointers no page table tells which addresses are in the heap. The marker of 4.13
   may store young values in fields that it visits, and remember these fields for longer than a copy
   lives. */
bool bxr_runtime_copy(uintptr_t const *words, size_t count) {
  (void)words, (void)count;
  return false;
}
#else
/* Addresses outside the heap are not copied: their memory may be freed, and become a part of the
   heap, before the copy is marked. */
static bool is_in_heap(uintptr_t word) { return Is_block((value)word) && Is_in_heap(word); }

/* For a block of some size, the runtime may add size / 100 * caml_percent_free to the heap. Some
   users switch the collector off with a very large setting. */
enum { LARGE_PERCENTAGE = 1000 };

static bool is_room_for(size_t words) {
  size_t allocated = (size_t)Caml_state->stat_heap_wsz - caml_fl_cur_wsz;
  return copied_words + words <= allocated / PART_OF_HEAP;
}

bool bxr_runtime_copy(uintptr_t const *words, size_t count) {
  /* A block that is allocated in another phase may be marked already, and is then never visited. */
  if (caml_gc_phase != Phase_idle || caml_percent_free > LARGE_PERCENTAGE) return false;
  size_t size = 1;
  for (size_t i = 0; i < count; i++) size += (words[i] & 1) == 0;
  if (size == 1) return true;
  if (!is_room_for(size)) return false;
  /* The collector's work is proportional to the program's allocations. Copies must not count. */
  uintnat allocated = caml_allocated_words;
  caml_allocated_words = 0;
  value copy = caml_alloc_shr_no_track_noexc(size, 0);
  caml_allocated_words = allocated;
  if (copy == 0) return false;
  Field(copy, 0) = copies;
  copies = copy;
  copied_words += size;
  size_t next = 1;
  for (size_t i = 0; i < count; i++)
    if (is_in_heap(words[i])) Field(copy, next++) = (value)words[i];
  while (next < size) Field(copy, next++) = Val_unit;
  return true;
}
#endif

/* How much faster than planned the cycle must go to be as long as it would be without copies. The
   collector plans its length by the size of the heap, which the copies increase. It also marks the
   copies. Speeding up only the marking slices would make them too long, so every slice of the cycle
   does a little more. */
static double haste(void) {
  double larger = heap_of_copies() / (heap_of_copies() - (double)copied_words);
  return larger * (1 + progress_for_copies() / expected);
}

/* The collector works in proportion to the words that the program allocates
   (caml_major_collection_slice). So it is told a larger number. The added words do not count in
   Gc.stat. */
static void slice_begins(void) {
  double allocated = (double)caml_allocated_words, hastened = allocated * haste();
  Caml_state->stat_major_words -= hastened - allocated;
  caml_allocated_words = (uintnat)hastened;
  double overhead = (double)caml_percent_free;
  progress += hastened * 1.5 * (100 + overhead) / overhead / heap_words();
  if (previous_slice_begins != NULL) previous_slice_begins();
}

/* Called between marking and sweeping. Blocks that are white now are freed in this cycle. */
static void marking_ended(void) {
  while (caml_gc_phase == Phase_sweep && copies != Val_unit) {
    value copy = copies;
    copies = Field(copy, 0);
    Hd_val(copy) = Whitehd_hd(Hd_val(copy));
  }
  if (previous_marking_ended != NULL) previous_marking_ended();
}

/* ---- the lock ---- */

static void enter_blocking_section(void) {
  forget_lock();
  previous_enter();
}

void bxr_lock_confirm(void) {
  holds_lock = true;
  if (!is_main) find_event();
  if (the_domain != NULL && bxr_setup_status() == BOXROOT_RUNNING) bxr_runtime_cache(the_domain);
}

static void leave_blocking_section(void) {
  previous_leave();
  bxr_lock_confirm();
}

static void main_thread_exit(void *context) {
  forget_lock();
  previous_termination(context);
}

bool bxr_runtime_lost_track(void) {
  /* A library whose hooks call ours does no harm, but the hooks of systhreads do not call ours. */
  return caml_enter_blocking_section_hook != enter_blocking_section && !threads_at_setup &&
         threads_initialised();
}

void bxr_runtime_check(void) {
  if (bxr_runtime_lost_track()) bxr_setup_invalidate();
}

static void scan_roots(scanning_action action) {
  if (previous_scan_roots != NULL) previous_scan_roots(action);
  scan_threads(action);
  enum bxr_scan_kind kind = action == &caml_oldify_one ? BXR_SCAN_MINOR
                            : action == &caml_darken   ? BXR_SCAN_DARKEN
                                                       : BXR_SCAN_OTHER;
  /* Copies of the last cycle are left if another library has removed the hook that frees them. */
  if (kind == BXR_SCAN_DARKEN) forget_copies();
  int status = bxr_setup_status();
  if (status == BOXROOT_NOT_SETUP || status == BOXROOT_TORE_DOWN) return;
  bxr_runtime_check();
  /* A finaliser that the action runs must not find the fast paths open. */
  struct bxr_domain_head *self = bxr_self, *owner = bxr_owner;
  bxr_self = bxr_owner = &bxr_no_domain;
  bxr_scan(kind, &the_domain, Caml_state, (struct bxr_action){action});
  /* The marker finds the other copies through this one. They are not darkened one by one: OCaml
     counts darkened words twice, and would compact. */
  if (kind == BXR_SCAN_DARKEN) caml_darken(copies, NULL);
  bxr_self = self;
  bxr_owner = owner;
}

/* OCaml's number of this thread. -1 without the systhreads library. */
static intnat thread_number(void) {
  thread_function *self = FIND(thread_function, caml_thread_self);
  thread_function *id = FIND(thread_function, caml_thread_id);
  return self == NULL || id == NULL ? -1 : Long_val(id(self(Val_unit)));
}

void bxr_runtime_setup(void) {
  threads_at_setup = threads_initialised();
  termination_hook *termination = FIND(termination_hook, caml_termination_hook);
  if (threads_at_setup && termination != NULL && *termination != NULL) {
    previous_termination = *termination;
    *termination = main_thread_exit;
  }
  is_main = !threads_at_setup || (previous_termination != NULL && thread_number() == 0);
  holds_lock = true;
  if (threads_at_setup) know_events();
  if (is_main)
    bxr_thread = &main_thread;
  else
    find_event();
  previous_slice_begins = caml_major_slice_begin_hook;
  caml_major_slice_begin_hook = slice_begins;
  previous_marking_ended = caml_major_gc_hook;
  caml_major_gc_hook = marking_ended;
  previous_scan_roots = caml_scan_roots_hook;
  caml_scan_roots_hook = scan_roots;
  previous_enter = caml_enter_blocking_section_hook;
  caml_enter_blocking_section_hook = enter_blocking_section;
  previous_leave = caml_leave_blocking_section_hook;
  caml_leave_blocking_section_hook = leave_blocking_section;
}

void bxr_runtime_teardown(void) { the_domain = NULL; }

#else
typedef int bxr_not_ocaml4; /* a translation unit must declare something */
#endif
