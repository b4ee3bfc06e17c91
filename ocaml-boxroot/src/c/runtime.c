/* SPDX-License-Identifier: MIT */
/* Tells whether OCaml was started, shuts it down, and has the mutex for runtime/state.rs. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <caml/address_class.h>
#include <caml/callback.h>
#include <caml/startup_aux.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#endif

#include "obx.h"

/* Whether OCaml was started in this process. Needs no lock. */
int obx_is_started(void) {
#if OCAML_VERSION >= 50000
  return __atomic_load_n(&caml_minor_heaps_start, __ATOMIC_ACQUIRE) != 0;
#else
  return Caml_state != NULL;
#endif
}

void obx_report(char const *text, size_t length) {
  while (length != 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text += written, length -= (size_t)written;
  }
}

/* Under OCAMLRUNPARAM=c, `exit` in OCaml frees the heap. But Rust code still runs after that, in
   thread-local destructors and on other threads, and so does runtime code of domains that have just
   ended. Therefore this starts the runtime a second time: OCaml only counts the starts, and frees
   the heap after as many shutdowns, which never happens. */
void obx_keep_heap(void) {
#if OCAML_VERSION >= 50000
  int exit_frees = caml_params->cleanup_on_exit != 0;
#else
  int exit_frees = caml_cleanup_on_exit;
#endif
  static int is_kept;
  if (exit_frees && !__atomic_exchange_n(&is_kept, 1, __ATOMIC_RELAXED)) caml_startup_aux(0);
}

/* Runs the functions that caml_shutdown runs before it frees anything. The rest of caml_shutdown is
   left out, because code of other threads, and of domains that have just ended, may still use the
   memory. On OCaml 4 caml_shutdown also finalises all blocks, which hangs if a thread waits for a
   condition; and when it stops the tick thread, it may give a busy thread a turn that never ends.
   Called with the lock, which is not released afterwards.

   If an at_exit function raises, those registered before it have not run, such as OCaml's own that
   flushes channels. They run when do_at_exit is called again, as OCaml does for uncaught
   exceptions. */
void obx_shut_down(void) {
  value const *at_exit = caml_named_value("Pervasives.do_at_exit");
  if (at_exit != NULL && Is_exception_result(caml_callback_exn(*at_exit, Val_unit)))
    (void)caml_callback_exn(*at_exit, Val_unit);
  obx_stop_ticks();
}

/* How many domains run besides the caller's. Called with the lock. */
uintnat obx_other_domains(void) {
#if OCAML_VERSION >= 50000
  return caml_num_domains_running - 1;
#else
  return 0;
#endif
}

/* ---- the state in runtime/state.rs ---- */

/* A C mutex, because a Rust mutex cannot be unlocked in the child of a fork. */
static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;

/* How many forks happened between the program's start and this process. Process ids would not do:
   the first process of a new namespace has the id 1, and so may its parent. */
static unsigned generation;

static void begin_generation(void) {
  generation++;
  pthread_mutex_init(&state_mutex, NULL); /* its owner may be a thread of the parent */
}

static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, begin_generation); }

static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;

unsigned obx_generation(void) {
  pthread_once(&forks_are_watched, watch_forks);
  return generation;
}

void obx_lock_state(void) {
  pthread_once(&forks_are_watched, watch_forks);
  pthread_mutex_lock(&state_mutex);
}

void obx_unlock_state(void) { pthread_mutex_unlock(&state_mutex); }

/* Does not wait for the state to change: threads can also attach once other code, such as C, has
   set boxroot up, which sends no notification. */
void obx_wait_for_state(void) {
  struct timespec const time = {.tv_nsec = 1000 * 1000};
  obx_unlock_state();
  (void)nanosleep(&time, NULL);
  obx_lock_state();
}
