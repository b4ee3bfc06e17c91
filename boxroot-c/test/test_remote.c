/* SPDX-License-Identifier: MIT */
/* Remote deletes, step by step, without a running OCaml runtime. */
#include <pthread.h>
#include <sched.h>

#include "remote.h"
#include "test.h"

static size_t places(struct bxr_pool *list) {
  size_t n = 0;
  for (; list != NULL; list = list->next_to_drain) n++;
  return n;
}

/* Every pool has room for the bits of remote deletes, which overlaps neither its neighbours nor its
   own slots. */
void test_remote_bits_have_room(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (int i = 0; i < 16; i++) {
    struct bxr_pool *pool = fill(domain, roots);
    uintptr_t start = bxr_pool_start(pool), bits = (uintptr_t)bxr_pool_pending(pool);
    CHECK(bits >= start && bits + BXR_BITS_SIZE <= start + BXR_POOL_SIZE);
    CHECK(bits + BXR_BITS_SIZE <= (uintptr_t)pool || bits >= (uintptr_t)(pool->slots + BXR_SLOTS));
  }
}

void test_remote_deletes(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = fill(domain, roots);
  next_pool(domain);
  /* The first delete puts the pool on the drain list; the slots are untouched until the drain. */
  for (uint32_t i = 0; i < 100; i++) bxr_remote_delete(roots[3 * i]);
  CHECK(domain->drain == pool && pool->next_to_drain == NULL && pool->announced == 100);
  CHECK(boxroot_get(roots[0]) == Val_long(0) && bxr_pool_used(pool) == BXR_SLOTS);
  bxr_remote_drain(domain);
  CHECK(domain->drain == NULL && pool->announced == 0);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 100 && domain->deferred_deletes == 100);
  /* A delete that is announced and not yet posted keeps the pool on the list. */
  CHECK(bxr_remote_announce(bxr_batch_of(roots[1])));
  pool->next_to_drain = NULL;
  domain->drain = pool;
  bxr_remote_drain(domain);
  CHECK(domain->drain == pool && pool->announced == 1);
  bxr_remote_post(bxr_batch_of(roots[1]));
  bxr_remote_drain(domain);
  CHECK(domain->drain == NULL && pool->announced == 0);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS - 101);
}

/* Deletes of another domain's roots are collected by words of 64 neighbouring slots. */
void test_remote_batches(void) {
  struct bxr_domain *owner = bxr_orphans_obtain(), *other = bxr_orphans_obtain();
  static boxroot roots[200];
  for (int i = 0; i < 200; i++) roots[i] = create(owner);
  struct bxr_pool *pool = bxr_pool_of_root(roots[0]);
  int first = 0;
  while (bxr_batch_of(roots[first]).start != bxr_pool_start(pool) + 64 * sizeof(value)) first++;
  for (int i = 0; i < 64; i++) bxr_remote_collect(other, roots[first + i]);
  CHECK(pool->announced == 0 && owner->drain == NULL && used(owner) == 200);
  bxr_remote_collect(other, roots[first + 64]);
  CHECK(pool->announced == 0 && other->batch_count == 1);
  bxr_remote_flush(other);
  CHECK(pool->announced == 65 && owner->drain == pool && other->batch_count == 0);
  bxr_remote_drain(owner);
  CHECK(pool->announced == 0 && used(owner) == 135);
  bxr_remote_collect(other, roots[first + 65]);
  bxr_orphans_add(other);
  CHECK(pool->announced == 1 && owner->drain == pool && other->head.outgoing.bits == 0);
  bxr_remote_drain(owner);
  CHECK(used(owner) == 134 && owner->deferred_deletes == 66);
  /* BXR_BATCHES of them are sent together. */
  static boxroot many[MANY];
  struct bxr_domain *last = bxr_orphans_obtain();
  pool = fill(last, many);
  for (uint32_t i = 0; i <= BXR_BATCHES; i++) {
    CHECK(pool->announced == 0);
    bxr_remote_collect(owner, many[i % 2 == 0 ? i : BXR_SLOTS - i]);
  }
  CHECK(pool->announced == BXR_BATCHES && owner->batch_count == 0);
}

/* If a late delete puts a pool on the list of a record whose pools have moved, the pool is passed
   on to its owner. */
void test_remote_late_delete(void) {
  struct bxr_domain *a = bxr_orphans_obtain(), *b = bxr_orphans_obtain();
  boxroot root = create(a);
  create(a);
  create(b);
  struct bxr_pool *pool = bxr_pool_of_root(root);
  bxr_orphans_add(a);
  bxr_orphans_adopt(b);
  /* The deleter read the owner before the adoption. */
  CHECK(bxr_remote_announce(bxr_batch_of(root)));
  pool->next_to_drain = NULL;
  a->drain = pool;
  bxr_remote_post(bxr_batch_of(root));
  bxr_remote_drain(a);
  CHECK(a->drain == NULL && b->drain == pool);
  bxr_remote_drain(b);
  CHECK(used(b) == 2);
}

/* A drain looks at a share of the pools. The others keep their places, even if the domain ends. */
void test_remote_drains_a_share(void) {
  static boxroot roots[MANY];
  enum { POOLS = 700, SHARE = (POOLS + 1) / 16 + 16 };
  struct bxr_domain *domain = bxr_orphans_obtain();
  static boxroot deleted[POOLS];
  for (int i = 0; i < POOLS; i++) {
    fill(domain, roots);
    deleted[i] = roots[0];
  }
  boxroot other = create(domain);
  for (int i = 0; i < POOLS; i++) bxr_remote_delete(deleted[i]);
  CHECK(places(domain->drain) == POOLS && domain->pool_count == POOLS + 1);
  bxr_remote_drain(domain);
  CHECK(domain->drain == NULL && domain->deferred_deletes == SHARE);
  CHECK(places(domain->draining) == POOLS - SHARE);
  bxr_remote_put_back(domain);
  CHECK(domain->draining == NULL && places(domain->drain) == POOLS - SHARE);
  bxr_remote_drain(domain);
  /* Pools that join the drain list meanwhile stay there until all pools that were taken are
     done. */
  bxr_remote_delete(other);
  for (int scans = 2; scans < 12; scans++) {
    CHECK(domain->drain == bxr_pool_of_root(other));
    CHECK(domain->deferred_deletes == (uint64_t)(scans * SHARE));
    bxr_remote_drain(domain);
  }
  CHECK(domain->drain == NULL && domain->draining == NULL);
  CHECK(domain->deferred_deletes == POOLS + 1);
  CHECK(used(domain) == POOLS * (BXR_SLOTS - 1));
}

/* In the child of a fork, only deletes that were posted are left. */
void test_remote_after_fork(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  boxroot announced = create(domain), posted = create(domain), kept = create(domain);
  struct bxr_pool *pool = bxr_pool_of_root(kept);
  bxr_remote_delete(posted);
  CHECK(!bxr_remote_announce(bxr_batch_of(announced)) && pool->announced == 2);
  bxr_remote_after_fork(domain);
  CHECK(pool->announced == 1 && domain->drain == pool && pool->next_to_drain == NULL);
  bxr_remote_drain(domain);
  CHECK(pool->announced == 0 && domain->drain == NULL && used(domain) == 2);
}

static boxroot raced[MANY];
static uint32_t made;

static void *delete_raced(void *unused) {
  for (uint32_t i = 0; i < MANY; i++) {
    while (bxr_load(&made) <= i) sched_yield();
    bxr_remote_delete(raced[i]);
  }
  return unused;
}

/* A thread deletes while the pools go from record to record: no delete is forgotten on the way. */
void test_remote_race_with_adoptions(void) {
  struct bxr_domain *owner = bxr_orphans_obtain();
  create(owner);
  pthread_t deleter;
  CHECK(pthread_create(&deleter, NULL, delete_raced, NULL) == 0);
  for (uint32_t i = 0; i < MANY; i++) {
    raced[i] = create(owner);
    bxr_publish(&made, i + 1);
    struct bxr_domain *adopter = bxr_orphans_obtain();
    bxr_orphans_add(owner);
    CHECK(bxr_orphans_adopt(adopter) == adopter);
    owner = adopter;
    bxr_remote_drain(owner);
  }
  CHECK(pthread_join(deleter, NULL) == 0);
  bxr_remote_drain_all(owner);
  CHECK(used(owner) == 1 && owner->drain == NULL);
}
