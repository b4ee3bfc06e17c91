/* SPDX-License-Identifier: MIT */
/* OCaml 4: a main thread that ends by Thread.exit passes through no blocking section, and its
   thread-local destructors run without the lock, beside other threads. The library must not take it for
   the holder of the lock there. */
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <caml/mlvalues.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "../check.h"

enum { ROOTS = 10000 };
static boxroot roots[ROOTS], kept;
static uint64_t deferred_before;
static bool ended, passed;

static struct boxroot_stats statistics(void) {
  struct boxroot_stats s;
  boxroot_stats(&s);
  return s;
}

/* Runs in the main thread, after its Thread.exit. */
static void destructor(void *unused) {
  (void)unused;
  CHECK(bxr_lock_state() == BXR_LOCK_NOT_HELD);
  errno = 0;
  CHECK(boxroot_create(Val_unit) == NULL && errno == EPERM);
  boxroot root = kept;
  errno = 0;
  CHECK(!boxroot_modify(&root, Val_unit) && errno == EPERM && root == kept);
  CHECK(boxroot_trim() == 0);
  /* The other thread counts these as deletes from elsewhere. */
  for (int i = 0; i < ROOTS; i++) boxroot_delete(roots[i]);
  __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
}

/* Fails if the process ends before the test has passed. */
static void require_passed(void) {
  if (!passed) _exit(3);
}

value begin_test(value text) {
  pthread_key_t key;
  CHECK(boxroot_setup());
  kept = boxroot_create(text);
  for (int i = 0; i < ROOTS; i++) CHECK((roots[i] = boxroot_create(Val_long(i))) != NULL);
  deferred_before = statistics().deferred_deletes;
  CHECK(pthread_key_create(&key, destructor) == 0 && pthread_setspecific(key, &kept) == 0);
  CHECK(atexit(require_passed) == 0);
  alarm(120);
  return Val_unit;
}

value main_has_ended(value unit) {
  (void)unit;
  return Val_bool(__atomic_load_n(&ended, __ATOMIC_ACQUIRE));
}

value end_test(value text) {
  value v = boxroot_get(kept);
  CHECK(Is_block(v) && Tag_val(v) == String_tag && Field(v, 0) == Field(text, 0));
  struct boxroot_stats s = statistics();
  CHECK(s.live_roots == 1);
  CHECK(s.deferred_deletes - deferred_before == ROOTS);
  boxroot_delete(kept);
  passed = true;
  printf("boxroot-c: the main thread's Thread.exit: passed\n");
  fflush(stdout);
  return Val_unit;
}
