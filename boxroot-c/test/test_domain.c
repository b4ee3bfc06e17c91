/* SPDX-License-Identifier: MIT */
/* Promotion and trimming: no OCaml runtime runs. */
#include "test.h"

void test_domain_promotion(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < 3 * BXR_SLOTS + 10; i++) create(domain);
  struct bxr_pool *current = bxr_domain_current(domain);
  CHECK(length(&domain->young) == 3 && length(&domain->old) == 0);
  CHECK(current->head.epoch == domain->head.epoch);
  bxr_domain_promote(domain);
  CHECK(length(&domain->young) == 0 && length(&domain->old) == 3);
  CHECK(domain->parked == current && bxr_domain_current(domain) == NULL);
  CHECK(current->head.epoch != domain->head.epoch);
  /* The next create goes on in the parked pool, which becomes young again. */
  create(domain);
  CHECK(domain->parked == NULL && bxr_domain_current(domain) == current);
  CHECK(current->head.epoch == domain->head.epoch && bxr_pool_used(current) == 11);
  CHECK(used(domain) == 3 * BXR_SLOTS + 11);
}

void test_domain_trim(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  uint32_t n = 4 * BXR_SLOTS;
  CHECK(n < MANY);
  for (uint32_t i = 0; i < n; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < n; i++) bxr_domain_free(domain, roots[i]);
  CHECK(domain->empty_count == 4 && domain->pool_count == 5);
  /* They became empty just now: a cycle without them is needed first. */
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == 5);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) create(domain);
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == 2 && domain->empty_count == 0);
}
