/* SPDX-License-Identifier: MIT */
/* Ends of threads and processes: thread-local destructors, which run without the lock, and the
   child of a fork, in which the work of other threads stopped halfway. */
#include "stress.h"

#include <caml/signals.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

static void check_validates(void) {
  char const *broken = boxroot_validate();
  if (broken != NULL) fail("broken invariant: %s", broken);
}

/* ---- thread-local destructors ---- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The number of threads with such roots: a thread may be joined before its destructors have run. */
static uint32_t not_ended;

/* Deletes the roots that were left, and in between calls functions that any thread may call at any
   time. */
static void destructor(void *left) {
  struct table *t = left;
  for (uint32_t i = 0; i < 50 || t->count > 0; i++) {
    struct boxroot_stats s;
    boxroot_trim();
    if (i % 16 == 0) boxroot_stats(&s, sizeof s);
    if (i % 16 == 8) check_validates();
    if (t->count > 0) boxroot_delete(table_remove(t, t->count - 1).root);
    count_other_calls(2);
  }
  free(t->entries);
  free(t);
  __atomic_fetch_sub(&not_ended, 1, __ATOMIC_RELEASE);
}

static void make_key(void) {
  if (pthread_key_create(&key, destructor) != 0) fail("no key");
}

/* Called by the last thread of the walk. Deletes the roots that it left, and waits until the others
   have done the same. */
value stress_threads_end(value unit) {
  pthread_once(&once, make_key);
  struct table *left = pthread_getspecific(key);
  if (left != NULL) {
    pthread_setspecific(key, NULL);
    destructor(left);
  }
  caml_enter_blocking_section();
  while (__atomic_load_n(&not_ended, __ATOMIC_ACQUIRE) != 0) sched_yield();
  caml_leave_blocking_section();
  return unit;
}

void delete_at_thread_end(boxroot r) {
  pthread_once(&once, make_key);
  struct table *left = pthread_getspecific(key);
  if (left == NULL) {
    left = calloc(1, sizeof *left);
    if (left == NULL || pthread_setspecific(key, left) != 0) fail("out of memory");
    __atomic_fetch_add(&not_ended, 1, __ATOMIC_RELAXED);
  }
  table_push(left, (struct entry){r, 0});
}

/* ---- fork ---- */

#ifndef _WIN32
/* Allocates nothing, because OCaml 5 cannot collect garbage in the child if there were other
   domains. */
static void use_and_delete(struct entry e, uint32_t i) {
  value v = boxroot_get(e.root);
  boxroot r = i % 2 == 0 ? boxroot_create(v) : NULL;
  if (i % 4 == 1 && !boxroot_modify(&e.root, Val_long(i))) fail("modify failed in a child");
  boxroot_delete(e.root);
  if (r != NULL && boxroot_get(r) != v) fail("a root lost its value in a child");
  if (i % 8 != 0) boxroot_delete(r);
}

static void in_child(struct table *t) {
  struct boxroot_stats s;
  alarm(30); /* if it waits or loops forever */
  check_validates();
  for (uint32_t i = 0; t->count > 0; i++) use_and_delete(table_remove(t, t->count - 1), i);
  boxroot_trim();
  boxroot_stats(&s, sizeof s);
  check_validates();
  _exit(0);
}

void try_in_child(struct table *t) {
  int status;
  pid_t child = fork();
  if (child == 0) in_child(t);
  if (child < 0) fail("cannot fork");
  caml_enter_blocking_section();
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  caml_leave_blocking_section();
  if (status != 0) fail("a child ended with status %x", (unsigned)status);
}
#endif
