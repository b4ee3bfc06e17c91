/* SPDX-License-Identifier: MIT */
/* OCaml 4: the main thread, and a thread that was registered from C, end by Thread.exit. They pass
   through no blocking section, and their destructors run without the lock, while other threads run.
   There the library must not treat them as holders of the lock. (tests/c_api tests threads of
   Thread.create.) */
#define CAML_NAME_SPACE
#include <boxroot/host.h>

#include <caml/mlvalues.h>

#include <caml/signals.h>
#include <caml/threads.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "../check.h"

enum { ROOTS = 10000 };

/* The data that a thread leaves to its destructors. The early one runs before the library's own
   destructor, and the late one after it, because systems run them in the order in which the keys
   were made. */
struct legacy {
  boxroot roots[ROOTS];
  int uses; /* of the library without the lock; atomic */
};
static struct legacy of_main, of_c_thread;
static pthread_key_t early, late;

static boxroot kept;
static uint64_t deferred_before;
static bool passed;

value caml_thread_exit(value unit);

static struct boxroot_stats statistics(void) {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  return s;
}

static void make_roots(struct legacy *legacy) {
  CHECK(bxr_lock_state() == BXR_LOCK_HELD);
  for (int i = 0; i < ROOTS; i++) CHECK((legacy->roots[i] = boxroot_create(Val_long(i))) != NULL);
}

/* Called twice. */
static void use_without_lock(void *data) {
  struct legacy *legacy = data;
  CHECK(bxr_lock_state() == BXR_LOCK_NOT_HELD);
  errno = 0;
  CHECK(boxroot_create(Val_unit) == NULL && errno == EPERM);
  boxroot root = kept;
  errno = 0;
  CHECK(!boxroot_modify(&root, Val_unit) && errno == EPERM && root == kept);
  CHECK(boxroot_trim() == 0);
  /* The other thread counts these as remote deletes. */
  for (int i = legacy->uses; i < ROOTS; i += 2) boxroot_delete(legacy->roots[i]);
  __atomic_add_fetch(&legacy->uses, 1, __ATOMIC_RELEASE);
}

/* ---- the thread that was registered from C ---- */

static pthread_t c_thread;
static bool is_late, may_go_on; /* atomic */

static void late_destructor(void *legacy) {
  use_without_lock(legacy);
  if (legacy == &of_main) return;
  /* Meanwhile the library may free its data of this thread. */
  __atomic_store_n(&is_late, true, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&may_go_on, __ATOMIC_ACQUIRE)) sched_yield();
  use_without_lock(legacy);
  /* The system has forgotten that this thread is registered. */
  CHECK(caml_c_thread_register());
  caml_leave_blocking_section();
  CHECK(bxr_lock_state() == BXR_LOCK_UNCERTAIN);
  boxroot_delete(boxroot_create(Val_unit));
  caml_enter_blocking_section();
  CHECK(caml_c_thread_unregister());
}

static void *run_c_thread(void *unused) {
  CHECK(caml_c_thread_register());
  caml_leave_blocking_section();
  make_roots(&of_c_thread);
  CHECK(pthread_setspecific(late, &of_c_thread) == 0);
  caml_thread_exit(Val_unit);
  return unused;
}

value start_c_thread(value unit) {
  CHECK(pthread_create(&c_thread, NULL, run_c_thread, NULL) == 0);
  return unit;
}

value c_thread_is_late(value unit) {
  (void)unit;
  return Val_bool(__atomic_load_n(&is_late, __ATOMIC_ACQUIRE));
}

value join_c_thread(value unit) {
  __atomic_store_n(&may_go_on, true, __ATOMIC_RELEASE);
  caml_enter_blocking_section();
  CHECK(pthread_join(c_thread, NULL) == 0);
  caml_leave_blocking_section();
  return unit;
}

/* ---- the test ---- */

/* Fails if the process ends before the test has passed. */
static void require_passed(void) {
  if (!passed) _exit(3);
}

value begin_test(value text) {
  CHECK(pthread_key_create(&early, use_without_lock) == 0);
  CHECK(boxroot_setup());
  CHECK(pthread_key_create(&late, late_destructor) == 0);
  kept = boxroot_create(text);
  make_roots(&of_main);
  CHECK(pthread_setspecific(early, &of_main) == 0 && pthread_setspecific(late, &of_main) == 0);
  deferred_before = statistics().deferred_deletes;
  CHECK(atexit(require_passed) == 0);
  alarm(120);
  return Val_unit;
}

value main_has_ended(value unit) {
  (void)unit;
  return Val_bool(__atomic_load_n(&of_main.uses, __ATOMIC_ACQUIRE) == 2);
}

value end_test(value text) {
  value v = boxroot_get(kept);
  CHECK(Is_block(v) && Tag_val(v) == String_tag && Field(v, 0) == Field(text, 0));
  struct boxroot_stats s = statistics();
  CHECK(s.live_roots == 1);
  CHECK(s.deferred_deletes - deferred_before == 2 * ROOTS + 1);
  boxroot_delete(kept);
  passed = true;
  printf("boxroot-c: Thread.exit: passed\n");
  fflush(stdout);
  return Val_unit;
}
