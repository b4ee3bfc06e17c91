/* SPDX-License-Identifier: MIT */
/* Threads that OCaml does not know. They delete the roots that are sent to them, and try operations
   that are forbidden to them. */
#include "stress.h"

#include <caml/signals.h>

#include <errno.h>
#include <pthread.h>

enum { QUEUE = 1 << 16, THREADS = 16, BATCH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, all_deleted = PTHREAD_COND_INITIALIZER;
static boxroot queue[QUEUE];
static uint32_t waiting, deleting;
static bool ending;
static pthread_t threads[THREADS];
static uint32_t thread_count;

bool lockless_send(boxroot r) {
  pthread_mutex_lock(&lock);
  bool sent = thread_count != 0 && waiting < QUEUE;
  if (sent) queue[waiting++] = r;
  if (sent && waiting == 1) pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
  return sent;
}

/* Waits for roots, after the `before` roots of the last batch were deleted. Returns how many it put
   into the batch; 0: there will be no more. */
static uint32_t receive(boxroot *batch, uint32_t before) {
  uint32_t n = 0;
  pthread_mutex_lock(&lock);
  deleting -= before;
  if (waiting == 0 && deleting == 0) pthread_cond_broadcast(&all_deleted);
  while (waiting == 0 && !ending) pthread_cond_wait(&arrived, &lock);
  while (waiting > 0 && n < BATCH) batch[n++] = queue[--waiting];
  if (waiting > 0) pthread_cond_signal(&arrived);
  deleting += n;
  pthread_mutex_unlock(&lock);
  return n;
}

void lockless_wait(void) {
  pthread_mutex_lock(&lock);
  while (waiting > 0 || deleting > 0) pthread_cond_wait(&all_deleted, &lock);
  pthread_mutex_unlock(&lock);
}

/* Create, modify, trim and validate must be refused, and change nothing. */
static void try_without_lock(boxroot r) {
  boxroot before = r;
  errno = 0;
  if (boxroot_create(Val_unit) != NULL || errno != EPERM) fail("create worked without the lock");
  errno = 0;
  if (boxroot_modify(&r, Val_unit) || errno != EPERM || r != before)
    fail("modify worked without the lock");
  if (boxroot_trim() != 0) fail("trim worked without the lock");
  if (boxroot_validate() != NULL) fail("validate worked without the lock");
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  boxroot_delete(NULL);
}

static void *deleter(void *unused) {
  (void)unused;
  boxroot batch[BATCH];
  uint32_t n = 0;
  while ((n = receive(batch, n)) != 0) {
    if (n % 16 == 1) try_without_lock(batch[0]);
    for (uint32_t i = 0; i < n; i++) {
      int before = errno = (int)i;
      boxroot_delete(batch[i]);
      if (errno != before) fail("a delete changed errno");
    }
    count_other_calls(n);
  }
  return NULL;
}

value stress_lockless_start(value n) {
  ending = false;
  for (thread_count = 0; thread_count < (uint32_t)Long_val(n) && thread_count < THREADS;
       thread_count++)
    if (pthread_create(&threads[thread_count], NULL, deleter, NULL) != 0) fail("no thread");
  return Val_unit;
}

/* Returns when everything that was sent has been deleted. */
value stress_lockless_end(value unit) {
  pthread_mutex_lock(&lock);
  ending = true;
  pthread_cond_broadcast(&arrived);
  pthread_mutex_unlock(&lock);
  caml_enter_blocking_section();
  for (uint32_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  caml_leave_blocking_section();
  thread_count = 0;
  return unit;
}
