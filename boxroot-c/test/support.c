/* SPDX-License-Identifier: MIT */
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#include "remote.h"
#include "release.h"
#include "test.h"

#ifdef _WIN32
bool is_mapped(void *page) {
  MEMORY_BASIC_INFORMATION part;
  return VirtualQuery(page, &part, sizeof part) != 0 && part.State == MEM_COMMIT;
}
#elif defined(__linux__)
/* Valgrind would report a call of msync as an error. */
bool is_mapped(void *page) {
  unsigned char resident;
  return mincore(page, 4096, &resident) == 0;
}
#else
bool is_mapped(void *page) { return msync(page, 4096, MS_ASYNC) == 0; }
#endif

struct bxr_pool *next_pool(struct bxr_domain *domain) {
  if (domain->head.free != BXR_NO_SLOT || bxr_domain_continue(domain)) return domain->current;
  bxr_domain_retire(domain);
  bxr_remote_drain_a_few(domain);
  CHECK(bxr_domain_choose(domain));
  return domain->current;
}

boxroot create(struct bxr_domain *domain) {
  next_pool(domain);
  return bxr_pop(&domain->head.free, Val_unit);
}

static void visit_pool(struct bxr_pool *pool, void *context) { (void)pool, (void)context; }

void promote(struct bxr_domain *domain) { bxr_domain_promote(domain, visit_pool, NULL); }

bool is_full(struct bxr_domain *domain, struct bxr_pool *pool) {
  return domain->current == pool && domain->head.free == BXR_NO_SLOT &&
         !bxr_pool_has_free_slot(pool);
}

struct bxr_pool *fill(struct bxr_domain *domain, boxroot *roots) {
  struct bxr_pool *pool = next_pool(domain);
  CHECK(pool->kind == BXR_CURRENT && BXR_SLOTS <= MANY);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) {
    CHECK(next_pool(domain) == pool);
    roots[i] = bxr_pop(&domain->head.free, Val_long(i));
    CHECK(bxr_pool_of_root(roots[i]) == pool);
  }
  CHECK(pool->high_water == BXR_SLOTS && is_full(domain, pool));
  return pool;
}

void begin_cycle_and_release(struct bxr_domain *domain) {
  bxr_release_begin_cycle(domain);
  bxr_release_share(domain, BXR_ALL_POOLS);
}

uint32_t length(struct bxr_link *list) {
  uint32_t n = 0;
  for (struct bxr_link *link = list->next; link != list; link = link->next) n++;
  return n;
}

static void add_used(struct bxr_pool *pool, void *sum) { *(size_t *)sum += bxr_pool_used(pool); }

size_t used(struct bxr_domain *domain) {
  size_t sum = 0;
  bxr_domain_each_pool(domain, add_used, &sum);
  return sum;
}
