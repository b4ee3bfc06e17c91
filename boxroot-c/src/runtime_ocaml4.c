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
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/roots.h>
#include <caml/signals.h>
#pragma GCC diagnostic pop

#include "scan.h"
#include "setup.h"

/* FIND(type, name) is the address of a symbol, or NULL if the program lacks it: functions of the systhreads
   library, and the hook by which the main thread ends after Thread.exit, which only native programs have.
   Object files other than ELF's have no weak references without flags to the linker. */
typedef value thread_function(value);
typedef void (*termination_hook)(void *);
#ifdef __ELF__
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

/* The thread that started the runtime. Threads made by Thread.create release the lock at
   their end without passing through a hook, and holds_lock stays set while their
   thread-local destructors run. So only the main thread may delete locally: it ends through
   caml_termination_hook, if it ends before the process does. If the program has the Thread module but
   not that hook (bytecode), no thread counts as the main one. */
static BXR_THREAD_LOCAL bool is_main;

static bool threads_at_setup;

static void (*previous_scan_roots)(scanning_action);
static void (*previous_enter)(void);
static void (*previous_leave)(void);
static termination_hook previous_termination;

static bool threads_initialised(void) { return caml_named_value("Thread.at_shutdown") != NULL; }

/* OCaml 4 keeps one state for the whole process; before setup there is no way to tell
   who holds the lock, and the caller of boxroot_setup answers for it. */
void *bxr_runtime_state(void) {
  return bxr_status() == BOXROOT_NOT_SETUP || holds_lock ? (void *)Caml_state : NULL;
}

struct bxr_domain **bxr_runtime_record(void) {
  return holds_lock ? &the_domain : NULL;
}

int bxr_lock_state(void) {
  if (!holds_lock) return BXR_LOCK_NOT_HELD;
  return is_main || !BXR_RULE(TRUST_THE_MAIN_THREAD) ? BXR_LOCK_HELD : BXR_LOCK_UNCERTAIN;
}

static void set_cache(struct bxr_domain_head *head) {
  bxr_self = head;
  if (is_main) bxr_owner = head;
}

void bxr_runtime_cache(struct bxr_domain *domain) { set_cache(&domain->head); }

bool bxr_runtime_sets_up_itself(void) { return false; }

bool bxr_runtime_is_alone(void) { return true; }

bool bxr_runtime_is_trusted(void) { return is_main || !BXR_RULE(TRUST_THE_MAIN_THREAD); }

/* caml_darken asks the page table first, and a full mark stack keeps only entries of heap chunks: both would
   lose blocks outside the heap. */
bool bxr_runtime_marks_ranges(void) { return false; }
uintptr_t bxr_runtime_unmarked_header(size_t size) { return size; }
bool bxr_runtime_is_marked(uintptr_t header) { return header != 0; }
uint32_t bxr_runtime_cycle(void) { return 0; }
bool bxr_runtime_marking_started(void) { return false; }
bool bxr_runtime_marking_done(void) { return true; }

static void enter_blocking_section(void) {
  holds_lock = false;
  set_cache(&bxr_no_domain);
  previous_enter();
}

static void leave_blocking_section(void) {
  previous_leave();
  holds_lock = true;
  if (the_domain != NULL && bxr_status() == BOXROOT_RUNNING) bxr_runtime_cache(the_domain);
}

static void main_thread_exit(void *context) {
  holds_lock = false;
  set_cache(&bxr_no_domain);
  previous_termination(context);
}

void bxr_runtime_check(void) {
  /* A library whose hooks call ours does no harm; those of systhreads do not. */
  if (caml_enter_blocking_section_hook != enter_blocking_section && !threads_at_setup &&
      threads_initialised())
    bxr_invalidate();
}

static void scan_roots(scanning_action action) {
  if (previous_scan_roots != NULL) previous_scan_roots(action);
  int status = bxr_status();
  if (status == BOXROOT_NOT_SETUP || status == BOXROOT_TORE_DOWN) return;
  bxr_runtime_check();
  /* A finaliser that the action runs must not find the fast paths open. */
  struct bxr_domain_head *self = bxr_self, *owner = bxr_owner;
  bxr_self = bxr_owner = &bxr_no_domain;
  enum bxr_scan_kind kind = action == &caml_oldify_one ? BXR_SCAN_MINOR
                            : action == &caml_darken   ? BXR_SCAN_DARKEN
                                                       : BXR_SCAN_OTHER;
  bxr_scan(kind, &the_domain, Caml_state, (struct bxr_action){action});
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
