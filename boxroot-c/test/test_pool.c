/* SPDX-License-Identifier: MIT */
/* Pools on their own, without a running OCaml runtime. */
#define _POSIX_C_SOURCE 200809L /* fork, pipe */
#include <signal.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "test.h"

void test_pool_slots(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = next_pool(domain);
  /* Fresh slots are initialised a few at a time, and every slot is an odd word or a value. */
  CHECK(pool->high_water > 0 && pool->high_water < BXR_SLOTS);
  CHECK(bxr_pool_used(pool) == 0);
  fill(domain, roots);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) CHECK(boxroot_get(roots[i]) == Val_long(i));
  /* The slot freed last is taken first. Links are odd. */
  bxr_domain_free(roots[5]);
  bxr_domain_free(roots[9]);
  CHECK(*bxr_slot(roots[5]) == 1 && *bxr_slot(roots[9]) == ((uintptr_t)roots[5] | 1));
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 2);
  CHECK(bxr_pop(&domain->head.free, Val_unit) == roots[9]);
  CHECK(bxr_pop(&domain->head.free, Val_unit) == roots[5]);
}

/* Eight neighbours have their heads at eight offsets, each in its own cache line, and all their
   slots within their memory. */
void test_pool_heads(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  uint32_t offsets = 0;
  for (int i = 0; i < 8; i++) {
    struct bxr_pool *pool = fill(domain, roots);
    uintptr_t start = bxr_pool_start(pool), offset = (uintptr_t)pool - start;
    CHECK(start % BXR_POOL_SIZE == 0 && offset % 64 == 0);
    offsets |= 1u << offset / 64;
    for (uint32_t j = 0; j < BXR_SLOTS; j++) CHECK(bxr_start_of(roots[j]) == start);
  }
  CHECK(offsets == 0xff && domain->pool_count == 8);
}

/* A pool becomes partial and empty exactly when it has that many free slots. */
void test_pool_kinds(void) {
  static boxroot roots[MANY], more[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = fill(domain, roots);
  struct bxr_pool *next = next_pool(domain);
  CHECK(next != pool && pool->kind == BXR_FULL);
  uint32_t i = 0;
  for (; i < BXR_PARTIAL_FREE - 1; i++) bxr_domain_free(roots[i]);
  CHECK(pool->kind == BXR_FULL && bxr_pool_used(pool) == BXR_SLOTS - i);
  bxr_domain_free(roots[i++]);
  CHECK(pool->kind == BXR_PARTIAL && bxr_pool_used(pool) == BXR_SLOTS - i);
  CHECK(bxr_list_pool(domain->young_partial.next) == pool);
  for (; i < BXR_SLOTS - 1; i++) bxr_domain_free(roots[i]);
  CHECK(pool->kind == BXR_PARTIAL && domain->empty_count == 0);
  bxr_domain_free(roots[i]);
  CHECK(pool->kind == BXR_EMPTY && domain->empty_count == 1 && pool->high_water == 0);
  /* The pool is reused before a new one is made. */
  fill(domain, more);
  CHECK(next_pool(domain) == pool && domain->empty_count == 0);
  CHECK(domain->pool_count == 2);
}

#ifndef _WIN32 /* fork */
/* A second delete has turned the free list into a circle. The function that follows the list aborts
   with a message. If it looped forever, the alarm would end it. */
static void ends_after_a_second_delete(void (*follow)(struct bxr_domain *domain)) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  boxroot a = create(domain), b = create(domain);
  int messages[2];
  CHECK(pipe(messages) == 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(messages[1], STDERR_FILENO);
    alarm(20);
    bxr_domain_free(a);
    bxr_domain_free(a);
    domain->head.uncounted = BXR_NO_POOL;
    bxr_domain_free(b);
    follow(domain);
    _exit(0);
  }
  close(messages[1]);
  char message[200] = "";
  CHECK(read(messages[0], message, sizeof message - 1) >= 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(message, "deleted twice") != NULL);
}

static void count_used(struct bxr_domain *domain) { bxr_pool_used(domain->current); }

void test_pool_second_delete(void) {
  ends_after_a_second_delete(count_used);
  ends_after_a_second_delete(promote);
}
#endif
