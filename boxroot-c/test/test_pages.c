/* SPDX-License-Identifier: MIT */
/* Pages larger than pools, without a running OCaml runtime. */
#ifndef BXR_FAULT_INJECTION
#define BXR_FAULT_INJECTION
#endif

#include "os.h"
#include "test.h"
#include "release.h"

static void check_counts(struct bxr_domain *domain, size_t pools, size_t empty) {
  CHECK(domain->pool_count == pools && domain->empty_count == empty);
  CHECK(length(&domain->empty) == empty && domain->empty_low <= empty);
}

void test_pages_larger_than_pools(void) {
  enum { FULL = 10, PER_PAGE = 4 };
  static boxroot roots[FULL][MANY];
  char *pools[FULL]; /* their starts */
  bxr_os_pretend_page_size(PER_PAGE * BXR_POOL_SIZE);
  struct bxr_domain *domain = bxr_orphans_obtain();
  /* The 11th pool is current; the rest of its page is not carved. */
  for (int i = 0; i < FULL; i++) {
    for (uint32_t j = 0; j < BXR_SLOTS; j++) roots[i][j] = create(domain);
    pools[i] = (char *)bxr_start_of(roots[i][0]);
  }
  create(domain);
  check_counts(domain, FULL + 1, 0);
  /* This is not the order of their addresses. */
  int order[FULL] = {4, 0, 8, 5, 2, 9, 1, 6, 3, 7};
  for (int i = 0; i < FULL - 1; i++)
    for (uint32_t j = 0; j < BXR_SLOTS; j++) bxr_domain_free(roots[order[i]][j]);
  check_counts(domain, FULL + 1, FULL - 1);
  /* Pools 0 to 3 share a page. Pool 7 is in use, and so is a neighbour of 8 and 9. */
  CHECK(bxr_release_all(domain) == 4);
  check_counts(domain, FULL + 1 - 4, FULL - 1 - 4);
  CHECK(!is_mapped(pools[0]) && !is_mapped(pools[3]) && is_mapped(pools[4]));
  CHECK(bxr_release_all(domain) == 0);
  check_counts(domain, FULL + 1 - 4, FULL - 1 - 4);
  for (uint32_t j = 0; j < BXR_SLOTS; j++) bxr_domain_free(roots[7][j]);
  /* If there are fewer unneeded pools than share a page, none is unmapped. */
  domain->empty_low = PER_PAGE - 1;
  begin_cycle_and_release(domain);
  check_counts(domain, FULL + 1 - 4, FULL - 4);
  begin_cycle_and_release(domain);
  check_counts(domain, FULL + 1 - 8, FULL - 8);
  CHECK(!is_mapped(pools[4]) && !is_mapped(pools[7]) && is_mapped(pools[8]));
  /* The pools that are left are reused. */
  for (uint32_t j = 0; j < 3 * BXR_SLOTS; j++) create(domain);
  CHECK(domain->pool_count == 4 && domain->empty_count == 0);
  char *rest = pools[8] + PER_PAGE * BXR_POOL_SIZE;
  CHECK(is_mapped(rest));
  bxr_release_at_teardown(domain);
  CHECK(!is_mapped(rest) && is_mapped(rest - 4096));
  bxr_os_pretend_page_size(0);
}

/* Pools stay if other pools in their pages have roots. The next pools in the list still get their
   turn: each call looks at a share of the pools, whether it can unmap them or not. */
void test_pages_in_use_block_no_others(void) {
  enum { PER_PAGE = 4, IN_USE = 300, UNUSED = 400, PAGES = IN_USE + UNUSED, SPARED = 1024 };
  enum { POOLS = PER_PAGE * PAGES, EXCESS = POOLS - 2 * IN_USE - SPARED };
  bxr_os_pretend_page_size(PER_PAGE * BXR_POOL_SIZE);
  struct bxr_domain *domain = bxr_orphans_obtain();
  boxroot(*roots)[PER_PAGE][BXR_SLOTS] = malloc(PAGES * sizeof *roots);
  CHECK(roots != NULL);
  for (int page = 0; page < PAGES; page++)
    for (int i = 0; i < PER_PAGE; i++)
      for (uint32_t j = 0; j < BXR_SLOTS; j++) roots[page][i][j] = create(domain);
  bxr_domain_retire(domain);
  for (int page = 0; page < PAGES; page++)
    for (int i = page < IN_USE; i < PER_PAGE; i++)
      for (uint32_t j = 0; j < BXR_SLOTS; j++) bxr_domain_free(roots[page][i][j]);
  free(roots);
  check_counts(domain, POOLS, POOLS - IN_USE);
  bxr_release_share(domain, 0);
  CHECK(domain->pool_count == POOLS);
  for (int i = 0; i < 40; i++) bxr_release_share(domain, 0);
  CHECK(domain->empty_count < IN_USE + SPARED + EXCESS / 4);
  check_counts(domain, IN_USE + domain->empty_count, domain->empty_count);
  for (int i = 0; i < 40; i++) begin_cycle_and_release(domain);
  check_counts(domain, IN_USE * PER_PAGE, IN_USE * (PER_PAGE - 1));
  bxr_os_pretend_page_size(0);
}
