/* SPDX-License-Identifier: MIT */
/* OCaml 4: threads that end by Thread.exit pass through no blocking section, and their destructors run without the
   lock, beside other threads: the main thread, and one that was registered from C. (tests/situations has those of
   Thread.create.) The library must not take them for holders of the lock there. */
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <caml/mlvalues.h>

#include <caml/signals.h>
#include <caml/threads.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "../check.h"

enum { ROOTS = 10000 };

/* What a thread leaves to its two destructors: one that runs before the library's own destructor, and one after it.
   Systems run them in the order in which the keys were made. */
struct legacy {
  boxroot roots[ROOTS];
  int destructors; /* that have run; atomic */
};
static struct legacy of_main, of_c_thread;
static pthread_key_t keys[2];

static boxroot kept;
static uint64_t deferred_before;
static bool passed;

value caml_thread_exit(value unit);

static struct boxroot_stats statistics(void) {
  struct boxroot_stats s;
  boxroot_stats(&s);
  return s;
}

static void destructor(void *data) {
  struct legacy *legacy = data;
  CHECK(bxr_lock_state() == BXR_LOCK_NOT_HELD);
  errno = 0;
  CHECK(boxroot_create(Val_unit) == NULL && errno == EPERM);
  boxroot root = kept;
  errno = 0;
  CHECK(!boxroot_modify(&root, Val_unit) && errno == EPERM && root == kept);
  CHECK(boxroot_trim() == 0);
  /* The other thread counts these as deletes from elsewhere. */
  for (int i = legacy->destructors; i < ROOTS; i += 2) boxroot_delete(legacy->roots[i]);
  __atomic_add_fetch(&legacy->destructors, 1, __ATOMIC_RELEASE);
}

static void leave(struct legacy *legacy) {
  CHECK(bxr_lock_state() == BXR_LOCK_HELD);
  for (int i = 0; i < ROOTS; i++) CHECK((legacy->roots[i] = boxroot_create(Val_long(i))) != NULL);
  for (int i = 0; i < 2; i++) CHECK(pthread_setspecific(keys[i], legacy) == 0);
}

/* Fails if the process ends before the test has passed. */
static void require_passed(void) {
  if (!passed) _exit(3);
}

value begin_test(value text) {
  CHECK(pthread_key_create(&keys[0], destructor) == 0);
  CHECK(boxroot_setup());
  CHECK(pthread_key_create(&keys[1], destructor) == 0);
  kept = boxroot_create(text);
  leave(&of_main);
  deferred_before = statistics().deferred_deletes;
  CHECK(atexit(require_passed) == 0);
  alarm(120);
  return Val_unit;
}

value main_has_ended(value unit) {
  (void)unit;
  return Val_bool(__atomic_load_n(&of_main.destructors, __ATOMIC_ACQUIRE) == 2);
}

static void *c_thread(void *unused) {
  CHECK(caml_c_thread_register());
  caml_leave_blocking_section();
  leave(&of_c_thread);
  caml_thread_exit(Val_unit);
  return unused;
}

value run_c_thread(value unit) {
  pthread_t thread;
  caml_enter_blocking_section();
  CHECK(pthread_create(&thread, NULL, c_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
  caml_leave_blocking_section();
  CHECK(of_c_thread.destructors == 2);
  return unit;
}

value end_test(value text) {
  value v = boxroot_get(kept);
  CHECK(Is_block(v) && Tag_val(v) == String_tag && Field(v, 0) == Field(text, 0));
  struct boxroot_stats s = statistics();
  CHECK(s.live_roots == 1);
  CHECK(s.deferred_deletes - deferred_before == 2 * ROOTS);
  boxroot_delete(kept);
  passed = true;
  printf("boxroot-c: Thread.exit: passed\n");
  fflush(stdout);
  return Val_unit;
}
