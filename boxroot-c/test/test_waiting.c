/* SPDX-License-Identifier: MIT */
/* Deletes that wait for the marker. Here nothing is marked, and the number of the major cycle never
   changes. */
#define CAML_INTERNALS
#include "barrier.h"
#include "remote.h"
#include "runtime.h"
#include "test.h"

#if OCAML_VERSION >= 50000
#include <caml/domain_state.h>
#include <caml/major_gc.h>

void begin_marking(struct bxr_domain *domain) {
#if OCAML_VERSION >= 50500
  caml_gc_phase = Phase_mark_final;
#endif
  Caml_state->marking_done = 0;
  domain->darkened = bxr_runtime_cycle();
  domain->marking = true;
}

void end_marking(void) {
#if OCAML_VERSION >= 50500
  caml_gc_phase = Phase_sweep_main;
#endif
  Caml_state->marking_done = 1;
}

/* In a pool that is being marked, blocks of the major heap stay in their slots. */
void test_waiting_depends_on_the_value(void) {
  static struct {
    header_t header;
    value field;
  } block = {0, Val_unit};
  struct bxr_domain *domain = bxr_orphans_obtain();
  boxroot number = create(domain), old = create(domain);
  struct bxr_pool *pool = bxr_pool_of_root(old);
  *bxr_slot(old) = (uintptr_t)&block.field;
  begin_marking(domain);
  CHECK(bxr_barrier_try_open(pool));
  bxr_barrier_hand_over(&domain->head, pool);
  CHECK(!bxr_barrier_keeps(pool, number) && bxr_barrier_keeps(pool, old));
  CHECK(!bxr_barrier_try_open(pool));
  end_marking();
  CHECK(bxr_barrier_try_open(pool));
}

/* The owner deletes a root whose value must stay in its slot. */
static void delete (struct bxr_domain *domain, boxroot r) {
  bxr_remote_collect(domain, r);
  bxr_remote_flush(domain);
}

/* A full pool that was handed over to a marker that is not done. */
static struct bxr_pool *handed_over(struct bxr_domain *domain, boxroot *roots) {
  struct bxr_pool *pool = fill(domain, roots);
  bxr_domain_retire(domain);
  begin_marking(domain);
  bxr_barrier_hand_over(&domain->head, pool);
  pool->head.young = false;
  return pool;
}

/* Pretends that the pool was handed over again after its waiting slots had begun to wait. */
static void hand_over_again(struct bxr_pool *pool) { pool->waits_in_snapshot = false; }

void test_waiting_until_the_next_snapshot(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = handed_over(domain, roots);
  for (int i = 0; i < 100; i++) delete (domain, roots[i]);
  struct bxr_census census = {0};
  bxr_census_add(&census, pool);
  CHECK(pool->waiting == 100 && pool->announced == 0 && census.live_roots == BXR_SLOTS - 100);
  bxr_remote_drain_all(domain);
  CHECK(pool->waiting == 100 && domain->waiting_count == 1 && boxroot_get(roots[7]) == Val_long(7));
  hand_over_again(pool);
  bxr_remote_drain(domain);
  CHECK(pool->waiting == 0 && domain->waiting_count == 0 && domain->deferred_deletes == 100);
  CHECK(pool->closed && bxr_pool_used(pool) == BXR_SLOTS - 100);
  /* A freed slot looks like an immediate. */
  for (int i = 0; i < 100; i++) CHECK((*bxr_slot(roots[i]) & 1) != 0);
}

/* The cases in which a slot certainly must wait. */
void test_waiting_is_certain(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain(), *other = bxr_orphans_obtain();
  struct bxr_pool *pool = handed_over(domain, roots);
  boxroot r = roots[1];
  CHECK(bxr_waiting_is_certain(&domain->head, r));
  other->marking = true;
  CHECK(!bxr_waiting_is_certain(&other->head, r));
  domain->marking = false;
  CHECK(!bxr_waiting_is_certain(&domain->head, r));
  domain->marking = true;
  pool->head.young = true; /* and so may be the value */
  CHECK(!bxr_waiting_is_certain(&domain->head, r));
  pool->head.young = false;
  enum bxr_kind kind = pool->kind;
  pool->kind = BXR_CURRENT;
  CHECK(!bxr_waiting_is_certain(&domain->head, r));
  pool->kind = kind;
  bxr_barrier_open(pool);
  CHECK(!bxr_waiting_is_certain(&domain->head, r));
}

/* Until batches are sent, no slot waits. */
void test_waiting_batches(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = handed_over(domain, roots);
  bxr_remote_collect(domain, roots[100]);
  CHECK(bxr_delete_beside(&domain->head, roots[101]));
  CHECK(pool->waiting == 0 && boxroot_get(roots[100]) == Val_long(100));
  bxr_remote_flush(domain);
  CHECK(pool->waiting == 2 && domain->barrier_hits == 2 && pool->announced == 0);
}

/* A slot that must wait does not join slots that are ripe. */
void test_waiting_is_ripe_or_not(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = handed_over(domain, roots);
  delete (domain, roots[0]);
  delete (domain, roots[500]);
  hand_over_again(pool);
  delete (domain, roots[1]);
  CHECK(pool->waiting == 1 && bxr_pool_used(pool) == BXR_SLOTS - 2);
  CHECK(boxroot_get(roots[1]) == Val_long(1) && boxroot_get(roots[500]) != Val_long(500));
  bxr_remote_drain_all(domain);
  CHECK(pool->waiting == 1);
  /* The pool also does not wait when the marker is done, or when it is empty. */
  end_marking();
  bxr_remote_drain(domain);
  CHECK(pool->waiting == 0 && !pool->closed);
}

/* A remote delete waits after it was drained. One that is announced but not posted is not
   forgotten. */
void test_waiting_remote_deletes(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = handed_over(domain, roots);
  bxr_remote_delete(roots[0]);
  CHECK(!bxr_remote_announce(bxr_batch_of(roots[1])));
  bxr_remote_drain(domain);
  CHECK(pool->waiting == 1 && pool->announced == 1 && domain->drain == pool);
  CHECK(bxr_pool_used(pool) == BXR_SLOTS);
  bxr_remote_post(bxr_batch_of(roots[1]));
  bxr_remote_drain(domain);
  CHECK(pool->waiting == 2 && pool->announced == 0 && domain->drain == NULL);
  hand_over_again(pool);
  bxr_remote_drain(domain);
  CHECK(pool->waiting == 0 && bxr_pool_used(pool) == BXR_SLOTS - 2);
}

/* Each scan frees a share, the oldest first. */
void test_waiting_is_freed_by_shares(void) {
  static boxroot roots[MANY];
  enum { POOLS = 320 };
  static struct bxr_pool *pools[POOLS];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (int i = 0; i < POOLS; i++) {
    pools[i] = handed_over(domain, roots);
    delete (domain, roots[0]);
  }
  for (int i = 0; i < POOLS; i++) hand_over_again(pools[i]);
  for (size_t left = POOLS, scans = 0; left > 0; scans++) {
    CHECK(domain->waiting_count == left && pools[POOLS - left]->waiting == 1);
    size_t share = left / 16 + 16;
    bxr_remote_drain(domain);
    left -= share < left ? share : left;
    CHECK(domain->waiting_count == left && scans < 16);
  }
}
#else
/* OCaml 4 marks no ranges, so no slot waits. */
void test_waiting_depends_on_the_value(void) {}
void test_waiting_until_the_next_snapshot(void) {}
void test_waiting_is_certain(void) {}
void test_waiting_batches(void) {}
void test_waiting_is_ripe_or_not(void) {}
void test_waiting_remote_deletes(void) {}
void test_waiting_is_freed_by_shares(void) {}
#endif
