/* SPDX-License-Identifier: MIT */
#include "setup.h"

#include <errno.h>

#include <caml/fail.h>

#include "orphans.h"
#include "os.h"
#include "profile.h"
#include "remote.h"
#include "runtime.h"
#include "release.h"
#include "uses.h"

static int library_state = BOXROOT_NOT_SETUP;
static int installing;    /* the process in which a thread is installing the hooks, or 0 */
static int memory_left;   /* after teardown: there may be memory that the marker was visiting */
static bool runtime_gone; /* after caml_shutdown */
static BXR_THREAD_LOCAL enum bxr_error last_error;

/* If the dynamic linker sees the names of two copies of the library in one process, it binds the
   users of both to the first copy. Identical copies become one in this way. If the copies have
   different layouts or flavours, they share only the names that contain neither: bxr_copy, and the
   plain names of the public functions (plain_names.c). Code that calls those would give roots of
   the first copy to users of the second. The second copy detects that, because it finds the first
   copy's bxr_copy in place of its own, and refuses to work. It sets its own error, and, by calling
   bxr_copy, also the first copy's error, because such code may call the boxroot_error_string of
   either copy. bxr_copy is volatile, because otherwise the compiler would treat it as a
   constant. */
static void refuse_second_copy(void) { bxr_setup_fail(BXR_SECOND_COPY); }
extern void (*volatile bxr_copy)(void);
void (*volatile bxr_copy)(void) = refuse_second_copy;

/* Makes the archive link plain_names.c, which defines bxr_flavour, into every program that uses the
   library: plugins and dlsym may look up names that the program itself does not use. */
#if defined(__GNUC__)
static char const *const with_plain_names __attribute__((used)) = &bxr_flavour;
#endif

bool bxr_setup_is_second_copy(void) { return bxr_copy != refuse_second_copy; }

int bxr_setup_status(void) { return bxr_load(&library_state); }
int boxroot_status(void) { return bxr_setup_status(); }

void bxr_setup_fail(enum bxr_error error) {
  last_error = error;
  errno = error == BXR_OUT_OF_MEMORY ? ENOMEM : EPERM;
  if (error == BXR_SECOND_COPY && bxr_setup_is_second_copy()) bxr_copy();
}

char const *boxroot_error_string(void) {
  switch (last_error) {
  case BXR_NO_ERROR: return "boxroot: no error on this thread";
  case BXR_OUT_OF_MEMORY: return "boxroot: out of memory; existing roots are intact";
  case BXR_NO_LOCK:
    return "boxroot: this thread does not hold the lock of a running OCaml domain; start "
           "the runtime, register the thread, and acquire the runtime system first";
  case BXR_NOT_SETUP:
    return "boxroot: not set up; on OCaml 4, call boxroot_setup before the first boxroot: in C "
           "code that OCaml calls, or after caml_startup";
  case BXR_TORE_DOWN: return "boxroot: boxroot_teardown was called; no more roots can be created";
  case BXR_INVALID:
    return "boxroot: the Thread module was initialised after boxroot_setup, so the runtime "
           "lock cannot be tracked; link the threads library before the one that calls "
           "boxroot_setup (in dune, name threads.posix first), or call Boxroot.setup () of the "
           "OCaml package instead";
  case BXR_SECOND_COPY:
    return "boxroot: two different copies of this library are in the process, and the dynamic "
           "linker mixes them; build both alike, or hide the names of one of them (link it with "
           "-Wl,--exclude-libs,libboxroot.a)";
  case BXR_OTHER_OCAML:
    return "boxroot: compiled for OCaml " OCAML_VERSION_STRING
           ", but the program's runtime has another version; recompile the library and all files "
           "that include boxroot.h (with cargo: cargo clean -p ocaml-boxroot-sys -p ocaml-boxroot)";
  case BXR_SCANNING:
    return "boxroot: create and modify are not allowed in a finaliser that runs while the "
           "garbage collector scans roots; defer the work";
  }
  return "boxroot: unknown error";
}

boxroot bxr_or_raise(boxroot r) {
  if (r != NULL) return r;
  if (errno == ENOMEM) caml_raise_out_of_memory();
  caml_failwith(boxroot_error_string());
}

bool boxroot_lock_is_held(void) {
  return bxr_setup_status() != BOXROOT_TORE_DOWN && bxr_lock_state() == BXR_LOCK_HELD;
}

static void repair(struct bxr_domain *domain) {
  bxr_remote_after_fork(domain);
  if (domain->shadow != NULL) bxr_remote_after_fork(domain->shadow);
}

static void repair_all(void) {
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    bxr_remote_after_fork(d);
}

static void after_fork(void) {
  bxr_profile_after_fork();
  /* After teardown, no thread changes the lists that bxr_setup_give_memory_back will read. */
  if (bxr_load(&memory_left)) repair_all();
  struct bxr_domain **record = bxr_runtime_record();
  bxr_uses_after_fork(record != NULL && bxr_runtime_survives_fork());
  if (bxr_setup_status() != BOXROOT_RUNNING) return;
  /* Another thread may have been changing records when the process was copied. Such records are
     left alone: if this thread does not hold the lock, all records; otherwise, if other domains
     were running, those of other domains and the orphans. OCaml cannot collect garbage in such a
     child, which should exec or exit soon. */
  if (record == NULL) return;
  if (!bxr_runtime_is_alone()) {
    if (*record != NULL) repair(*record);
    return;
  }
  repair_all();
}

static enum bxr_error not_running(void) {
  switch (bxr_setup_status()) {
  case BOXROOT_NOT_SETUP: return BXR_NOT_SETUP;
  case BOXROOT_TORE_DOWN: return BXR_TORE_DOWN;
  case BOXROOT_INVALID:
    if (bxr_runtime_is_other()) return BXR_OTHER_OCAML;
    return bxr_setup_is_second_copy() ? BXR_SECOND_COPY : BXR_INVALID;
  default: return BXR_NO_ERROR;
  }
}

/* Changes the state from `from` to `to`. Returns false if the state was not `from`. */
static bool change_status(int from, int to) {
  int seen = from;
  while (!bxr_compare_exchange(&library_state, &seen, to))
    if (seen != from) return false;
  return true;
}

/* False if out of memory. */
static bool install_hooks(void) {
  if (!bxr_os_at_fork(after_fork)) return false;
  bxr_profile_setup();
  bxr_runtime_setup();
  change_status(BOXROOT_NOT_SETUP, BOXROOT_RUNNING);
  return true;
}

/* Our hooks will stay installed, so our code must stay loaded. bxr_os_pin takes the dynamic
   linker's lock, whose holder may be a constructor of other code that waits for OCaml's lock. So
   this is done when our code is loaded, not by the first create. */
__attribute__((constructor)) static void stay(void) { bxr_os_pin(&library_state); }

bool bxr_setup(void) {
  if (bxr_setup_is_second_copy() || bxr_runtime_is_other())
    change_status(BOXROOT_NOT_SETUP, BOXROOT_INVALID);
  while (bxr_setup_status() == BOXROOT_NOT_SETUP) {
    if (bxr_runtime_state() == NULL) {
      bxr_setup_fail(BXR_NO_LOCK);
      return false;
    }
    /* One domain installs the hooks. Others wait for the few instructions that this takes: no root
       may be made, and no domain with roots may end, before the hooks are in place. In the child of
       a fork, a thread that was installing them is gone. */
    int process = bxr_os_process(), seen = bxr_load(&installing);
    if (seen == process || !bxr_compare_exchange(&installing, &seen, process)) continue;
    bool installed = bxr_setup_status() != BOXROOT_NOT_SETUP || install_hooks();
    bxr_publish(&installing, 0);
    if (!installed) {
      bxr_setup_fail(BXR_OUT_OF_MEMORY);
      return false;
    }
  }
  enum bxr_error error = not_running();
  if (error != BXR_NO_ERROR) bxr_setup_fail(error);
  return error == BXR_NO_ERROR;
}

void boxroot_teardown(void) {
  struct bxr_domain *self = bxr_setup_enter_if_trusted();
  if (self != NULL) {
    bxr_remote_flush(self);
    bxr_remote_drain(self);
    if (self->shadow != NULL) bxr_remote_drain(self->shadow);
  }
  if (bxr_exchange(&library_state, BOXROOT_TORE_DOWN) == BOXROOT_TORE_DOWN) return;
  bxr_runtime_teardown();
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    bxr_release_at_teardown(d);
  bxr_publish(&memory_left, true);
}

void bxr_close(void) { bxr_publish(&library_state, BOXROOT_TORE_DOWN); }

void bxr_setup_give_memory_back(void) {
  if (!bxr_exchange(&memory_left, false)) return;
  /* Since the teardown each domain has passed a safepoint, so none uses its record any more. */
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) {
    bxr_domain_end_marking(d);
    bxr_remote_flush(d);
  }
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) {
    bxr_remote_drain_all(d);
    bxr_release_at_teardown(d);
  }
}

void bxr_runtime_gone(void) {
  bxr_setup_give_memory_back();
  bxr_publish(&runtime_gone, true);
}

bool bxr_is_gone(void) { return bxr_load(&runtime_gone); }

void bxr_pin(void const *address) { bxr_os_pin(address); }

void bxr_setup_invalidate(void) {
  if (!change_status(BOXROOT_RUNNING, BOXROOT_INVALID)) return;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    bxr_domain_disable(d);
}

int bxr_setup_use(enum bxr_lock lock) {
  int seen = bxr_setup_status();
  if (BXR_LIKELY(lock == BXR_LOCK_NOT_HELD && seen == BOXROOT_RUNNING))
    return bxr_uses_begin_to_lock();
  if (seen == BOXROOT_TORE_DOWN) return BXR_USE_DOWN;
  if (lock == BXR_LOCK_ENDED) return BXR_USE_ENDED;
  return lock == BXR_LOCK_NOT_HELD ? BXR_USE_NOT_RUNNING : BXR_USE_HELD;
}

static struct bxr_domain *open_record(struct bxr_domain *domain) {
  bxr_domain_open(domain, bxr_runtime_state());
  bxr_runtime_cache(domain);
  return domain;
}

struct bxr_domain *bxr_setup_enter(void) {
  if (bxr_setup_status() == BOXROOT_NOT_SETUP &&
      (bxr_runtime_sets_up_itself() || bxr_setup_is_second_copy()) && !bxr_setup())
    return NULL;
  struct bxr_domain **record = bxr_runtime_record();
  if (record != NULL) bxr_runtime_check();
  enum bxr_error error = not_running();
  if (error == BXR_NO_ERROR && record == NULL)
    error = bxr_runtime_lost_track() ? BXR_INVALID : BXR_NO_LOCK;
  if (error == BXR_NO_ERROR && *record != NULL && (*record)->scanning) error = BXR_SCANNING;
  if (error == BXR_NO_ERROR && *record == NULL && (*record = bxr_orphans_obtain()) == NULL)
    error = BXR_OUT_OF_MEMORY;
  if (error != BXR_NO_ERROR) {
    bxr_setup_fail(error);
    return NULL;
  }
  return open_record(*record);
}

struct bxr_domain *bxr_setup_enter_if_trusted_slow(void) {
  /* The status is read first: after the end of the runtime, the memory that the other functions
     read may be gone. */
  if (bxr_setup_status() != BOXROOT_RUNNING || !bxr_runtime_is_trusted()) return NULL;
  struct bxr_domain **record = bxr_runtime_record();
  if (record == NULL) return NULL;
  if (*record == NULL) *record = bxr_orphans_obtain();
  return *record == NULL || (*record)->scanning ? NULL : open_record(*record);
}

struct bxr_domain_head *bxr_domain_attach(void) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_self;
  if (self != &bxr_no_domain && BXR_IS_OPEN(self, witness)) {
    bxr_runtime_check();
    if (bxr_setup_status() == BOXROOT_RUNNING) return self;
  }
  struct bxr_domain *domain = bxr_setup_enter();
  return domain == NULL ? NULL : &domain->head;
}

struct bxr_domain_head *bxr_domain_reenter(void) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_self;
  if (bxr_own_uses <= 0 || self == &bxr_no_domain || !BXR_IS_OPEN(self, witness)) return NULL;
  if (!bxr_runtime_is_on_own_stack()) return NULL;
  bxr_runtime_check();
  return bxr_setup_status() == BOXROOT_RUNNING ? self : NULL;
}
