/* SPDX-License-Identifier: MIT */
/* Domains that end, and adoption, without a running OCaml runtime. */
#include "barrier.h"
#include "remote.h"
#include "test.h"

void test_orphans(void) {
  struct bxr_domain *a = bxr_orphans_obtain(), *b = bxr_orphans_obtain();
  static boxroot roots[MANY];
  uint32_t n = 2 * BXR_SLOTS + 5;
  for (uint32_t i = 0; i < n; i++) roots[i] = create(a);
  promote(a);
  for (uint32_t i = 0; i < n; i++) create(b);
  bxr_remote_delete(roots[7]);
  bxr_orphans_add(a);
  bxr_remote_delete(roots[8]);
  bxr_orphans_add(b);
  /* A new domain's record has no pools, until the domain's first scan. */
  struct bxr_domain *c = bxr_orphans_obtain();
  CHECK(c != a && c != b && c->pool_count == 0 && bxr_orphans_exist());
  create(c);
  CHECK(bxr_orphans_adopt(c) == c && !bxr_orphans_exist());
  CHECK(a->pool_count == 0 && b->pool_count == 0 && used(c) == 2 * n + 1);
  CHECK(c->pools_adopted == 6);
  /* Old stays old, young stays young. */
  CHECK(length(&c->old) == 2 && length(&c->young) == 2);
  CHECK(!bxr_list_pool(c->old.next)->head.young && bxr_list_pool(c->young.next)->head.young);
  CHECK(length(&c->old_partial) == 1 && length(&c->young_partial) == 1);
  bxr_remote_drain(c);
  CHECK(used(c) == 2 * n - 1);
  /* A delete that comes after the adoption goes to the adopter. */
  bxr_remote_delete(roots[9]);
  CHECK(a->drain == NULL && c->drain != NULL);
  bxr_remote_drain(c);
  CHECK(used(c) == 2 * n - 2);
  /* A domain without a record takes an orphan as it is. */
  bxr_orphans_add(c);
  CHECK(bxr_orphans_adopt(NULL) == c && used(c) == 2 * n - 2);
  /* Records are reused. */
  struct bxr_domain *d = bxr_orphans_obtain(), *e = bxr_orphans_obtain();
  CHECK((d == a && e == b) || (d == b && e == a));
}

/* When a domain ends, its marker has visited all pools (runtime_ocaml5.c). */
void test_orphans_are_idle(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  struct bxr_pool *pool = bxr_pool_of_root(create(domain));
  bxr_barrier_hand_over(&domain->head, pool);
  bxr_orphans_add(domain);
  CHECK(!pool->closed && pool->head.fast_owner == &domain->head);
}

/* A domain that ends without pools leaves a closed record, without roots, which the next domain
   takes. */
void test_orphans_without_pools(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  bxr_domain_open(domain, domain);
  bxr_domain_publish(domain, (struct bxr_census){.live_roots = 5});
  bxr_orphans_add(domain);
  CHECK(domain->head.runtime_state == BXR_CLOSED && domain->census.live_roots == 0);
  CHECK(!bxr_orphans_exist() && bxr_orphans_obtain() == domain);
}
