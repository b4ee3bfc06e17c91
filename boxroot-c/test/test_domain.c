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
  for (uint32_t i = 0; i < n; i++) bxr_domain_free(roots[i]);
  CHECK(domain->empty_count == 4 && domain->pool_count == 5);
  /* They became empty just now: a cycle without them is needed first. */
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == 5);
  /* Two of them are used in the next one, and empty again at its end: the others go. */
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) roots[i] = create(domain);
  CHECK(domain->empty_count == 1);
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) bxr_domain_free(roots[i]);
  CHECK(domain->empty_low == 1 && domain->empty_count > 1);
  size_t pools = domain->pool_count;
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == pools - 1 && domain->empty_low == domain->empty_count);
  bxr_domain_trim(domain);
  CHECK(domain->empty_count == 0);
}

/* Neighbours go together, whichever of them became empty first. */
void test_domain_trim_neighbours(void) {
  enum { FULL = 6 };
  static boxroot roots[FULL][MANY];
  for (int backwards = 0; backwards < 2; backwards++) {
    struct bxr_domain *domain = bxr_orphans_obtain();
    for (int i = 0; i < FULL; i++) fill(domain, roots[i]);
    create(domain);
    for (int i = 0; i < FULL; i++)
      for (uint32_t j = 0; j < BXR_SLOTS; j++)
        bxr_domain_free(roots[backwards ? FULL - 1 - i : i][j]);
    munmap_calls = 0;
    CHECK(bxr_domain_trim_all(domain) == FULL && munmap_calls == 1);
  }
}

/* Very many do not all go at once: a scan would take too long. */
void test_domain_trim_by_parts(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  size_t pools = 1200, n = pools * BXR_SLOTS;
  boxroot *roots = malloc(n * sizeof *roots);
  CHECK(roots != NULL);
  for (size_t i = 0; i < n; i++) roots[i] = create(domain);
  create(domain);
  for (size_t i = 0; i < n; i++) bxr_domain_free(roots[i]);
  free(roots);
  CHECK(domain->empty_count == pools);
  bxr_domain_trim(domain);
  CHECK(domain->empty_count == pools);
  bxr_domain_trim(domain);
  CHECK(domain->empty_count > 0 && domain->empty_count < pools / 2);
  CHECK(domain->pool_count == domain->empty_count + 1);
  bxr_domain_trim(domain);
  CHECK(domain->empty_count == 0);
}

/* A second time has nothing to give back: the memory may be others' by now. */
void test_domain_tear_down_twice(void) {
  struct bxr_domain *domain = bxr_orphans_obtain();
  create(domain);
  munmap_calls = 0;
  bxr_domain_tear_down(domain);
  CHECK(munmap_calls == 1);
  bxr_domain_tear_down(domain);
  CHECK(munmap_calls == 1);
}

/* What the system does not take back stays in use. */
void test_domain_trim_refused(void) {
  static boxroot roots[MANY];
  struct bxr_domain *domain = bxr_orphans_obtain();
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < 3 * BXR_SLOTS; i++) bxr_domain_free(roots[i]);
  refuse_munmap = true;
  CHECK(bxr_domain_trim_all(domain) == 0);
  refuse_munmap = false;
  CHECK(domain->pool_count == 4 && domain->empty_count == 3 && length(&domain->empty) == 3);
  for (uint32_t i = 0; i < 2 * BXR_SLOTS; i++) create(domain);
  CHECK(domain->pool_count == 4 && domain->empty_count == 1);
  CHECK(bxr_domain_trim_all(domain) == 1 && domain->pool_count == 3);
}
