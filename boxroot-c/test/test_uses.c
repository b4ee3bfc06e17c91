/* SPDX-License-Identifier: MIT */
/* Uses of the runtime, and their end. */
#include <pthread.h>

#include "test.h"
#include "uses.h"

static void *begin(void *answer) {
  if (bxr_use_begin() == 1) bxr_use_end();
  *(int *)answer = bxr_use_begin();
  return NULL;
}

static int begin_on_a_thread(void) {
  pthread_t thread;
  int answer = BXR_USE_NOT_RUNNING;
  CHECK(pthread_create(&thread, NULL, begin, &answer) == 0 && pthread_join(thread, NULL) == 0);
  return answer;
}

void test_uses(void) {
  /* The Rust crates know these numbers. */
  CHECK(BXR_USE_DOWN == 0 && BXR_USE_FORKED == -1);
  CHECK(BXR_USE_HELD == -2 && BXR_USE_ENDED == -3 && BXR_USE_NOT_RUNNING == -4);
  CHECK(BXR_USE_PAUSED == -5);
  CHECK(bxr_use_begin() == 1 && bxr_uses_go_on(1));
  CHECK(bxr_use_begin() == 2 && bxr_uses_go_on(2) && !bxr_uses_go_on(1));
  CHECK(bxr_uses_forbid() == 1); /* the nested one */
  bxr_use_end();
  CHECK(bxr_uses_go_on(1) && !bxr_uses_go_on(2));
  CHECK(begin_on_a_thread() == 1 && begin_on_a_thread() == 1);
  CHECK(bxr_uses_forbid() == 2);
  bxr_uses_after_fork(true); /* those threads are gone */
  CHECK(bxr_uses_forbid() == 0);
  CHECK(begin_on_a_thread() == 1);
  CHECK(bxr_use_begin() == 2);
}

static void *begin_to_lock(void *answers) {
  for (int i = 0; i < 2; i++) ((int *)answers)[i] = bxr_use_begin_to_lock();
  return NULL;
}

/* Whether a new thread, which does not hold the lock, gets these answers when it begins two
   uses. */
static bool are_to_lock(int first, int second) {
  pthread_t thread;
  int answers[2];
  CHECK(pthread_create(&thread, NULL, begin_to_lock, answers) == 0 &&
        pthread_join(thread, NULL) == 0);
  return answers[0] == first && answers[1] == second;
}

void test_uses_to_lock(void) {
  CHECK(are_to_lock(BXR_USE_NOT_RUNNING, BXR_USE_NOT_RUNNING));
  CHECK(boxroot_setup());
  CHECK(are_to_lock(1, 2));
  CHECK(bxr_use_begin_to_lock() == BXR_USE_HELD);
  bxr_uses_after_fork(true); /* that thread is gone */
  CHECK(bxr_use_begin() == 1 && bxr_uses_forbid() == 0);
  CHECK(are_to_lock(BXR_USE_DOWN, BXR_USE_DOWN));
  CHECK(bxr_use_begin_to_lock() == BXR_USE_HELD);
  bxr_uses_after_fork(true);
  CHECK(are_to_lock(BXR_USE_DOWN, BXR_USE_DOWN));
  bxr_close();
  CHECK(bxr_use_begin_to_lock() == BXR_USE_DOWN && boxroot_status() == BOXROOT_TORE_DOWN);
}

/* While uses are paused, these still begin: nested uses, uses of functions that OCaml calls, and
   uses of the thread that pauses the others. */
void test_uses_paused(void) {
  CHECK(boxroot_setup());
  CHECK(bxr_uses_of_others() == 0);
  bxr_uses_pause();
  CHECK(are_to_lock(BXR_USE_PAUSED, BXR_USE_PAUSED));
  CHECK(begin_on_a_thread() == 1); /* that use does not end */
  CHECK(bxr_use_begin() == 1 && bxr_uses_of_others() == 1 && bxr_uses_forbid() == 1);
  bxr_uses_resume();
  CHECK(are_to_lock(1, 2) && bxr_uses_of_others() == 2);
  bxr_uses_pause();
  bxr_uses_after_fork(true); /* those threads are gone, and this one still pauses others */
  CHECK(are_to_lock(BXR_USE_PAUSED, BXR_USE_PAUSED));
  CHECK(bxr_uses_of_others() == 0 && bxr_uses_forbid() == 0);
  CHECK(are_to_lock(BXR_USE_DOWN, BXR_USE_DOWN));
  bxr_uses_resume();
  CHECK(are_to_lock(BXR_USE_DOWN, BXR_USE_DOWN));
}

static void *pause_others(void *unused) {
  bxr_uses_pause();
  return unused;
}

void test_uses_paused_by_a_thread_that_is_gone(void) {
  pthread_t thread;
  CHECK(boxroot_setup());
  CHECK(pthread_create(&thread, NULL, pause_others, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(are_to_lock(BXR_USE_PAUSED, BXR_USE_PAUSED));
  bxr_uses_after_fork(true);
  CHECK(are_to_lock(1, 2));
}

void test_uses_to_lock_after_fork(void) {
  CHECK(boxroot_setup());
  CHECK(!bxr_uses_forked());
  bxr_uses_after_fork(false);
  CHECK(bxr_uses_forked() && are_to_lock(BXR_USE_FORKED, BXR_USE_FORKED));
  CHECK(bxr_use_begin_to_lock() == BXR_USE_HELD);
  boxroot_teardown();
  CHECK(are_to_lock(BXR_USE_DOWN, BXR_USE_DOWN) && bxr_use_begin_to_lock() == BXR_USE_DOWN);
}

void test_uses_after_fork(void) {
  CHECK(begin_on_a_thread() == 1 && bxr_use_begin() == 1);
  bxr_uses_after_fork(false);
  CHECK(!bxr_uses_go_on(1));
  CHECK(bxr_use_begin() == BXR_USE_FORKED && begin_on_a_thread() == BXR_USE_FORKED);
  bxr_use_end();
  CHECK(bxr_use_begin() == BXR_USE_FORKED);
}

void test_uses_after_fork_of_another_user(void) {
  CHECK(begin_on_a_thread() == 1);
  bxr_uses_after_fork(true); /* that thread is gone, and this one has no use */
  CHECK(bxr_use_begin() == 1 && bxr_uses_forbid() == 0);
}
