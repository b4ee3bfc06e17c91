/* SPDX-License-Identifier: MIT */
/* OCaml's threads take turns because the tick thread of the systhreads library asks the thread that
   runs OCaml code to give the lock to waiting threads. If C registers the first thread besides the
   one that started OCaml, the tick thread only starts when the new thread has the lock. Until then
   OCaml code would keep the lock, forever if it waits for the new thread. So a thread of this file
   asks until then. In the child of a fork this thread asks while threads are attached, because
   OCaml 5 believes that the parent's tick thread still runs. It ends soon afterwards, because a
   process may rely on ending with its last thread. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include <caml/mlvalues.h>

#include <caml/domain_state.h>
#include <caml/signals.h>
#include <caml/version.h>

#if OCAML_VERSION >= 50000
#include <stdatomic.h>

#include <caml/domain.h>
#endif

#include "obx.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned wanted; /* how many threads want ticks */
static bool is_ticking; /* whether the thread of this file runs */

/* Does what OCaml's tick thread does. Needs a started runtime, but no lock. */
static void ask(void) {
#if OCAML_VERSION >= 50000
  atomic_store_explicit(&Caml_state->requested_external_interrupt, 1, memory_order_release);
  caml_interrupt_self();
#else
  caml_record_signal(SIGVTALRM);
#endif
}

static void *tick(void *unused) {
  (void)unused;
#if OCAML_VERSION >= 50000
  caml_init_domain_self(0); /* the domain where threads are registered */
#endif
  struct timespec const between = {.tv_nsec = 50 * 1000 * 1000}; /* like OCaml's */
  for (;;) {
    (void)nanosleep(&between, NULL);
    pthread_mutex_lock(&mutex);
    is_ticking = wanted != 0;
    if (is_ticking) ask();
    bool is_over = !is_ticking;
    pthread_mutex_unlock(&mutex);
    if (is_over) return NULL;
  }
}

/* If the thread cannot be created, threads take turns once OCaml's tick thread has started. */
static void start(void) {
  sigset_t all, mask;
  sigfillset(&all);
  if (pthread_sigmask(SIG_BLOCK, &all, &mask) != 0) return;
  pthread_t thread;
  is_ticking = pthread_create(&thread, NULL, tick, NULL) == 0;
  if (is_ticking) (void)pthread_detach(thread);
  (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void obx_want_ticks(void) {
  pthread_mutex_lock(&mutex);
  wanted++;
  if (!is_ticking) start();
  pthread_mutex_unlock(&mutex);
}

void obx_unwant_ticks(void) {
  pthread_mutex_lock(&mutex);
  if (wanted != 0) wanted--; /* 0: a signal handler has forked meanwhile */
  pthread_mutex_unlock(&mutex);
}

void obx_ticks_after_fork(void) {
  wanted = 0;
  is_ticking = false;
  pthread_mutex_init(&mutex, NULL); /* its owner may be a thread of the parent */
}
