/* SPDX-License-Identifier: MIT */
#include "release.h"

#include "barrier.h"
#include "os.h"

/* The size of a *unit*, the least that can be unmapped: a pool, or all pools that share a page. */
static size_t unit_size(void) {
  size_t page = bxr_os_page_size();
  return page > BXR_POOL_SIZE ? page : BXR_POOL_SIZE;
}

/* Whether all pools of a unit are the domain's, empty, and on no mark stack. The owner is checked
   first, because other owners may be changing their pools. A pool that was not carved yet has no
   owner. Only the domain's own thread can tell whether its marker has visited closed pools; at
   teardown, any thread may call this. */
static bool is_unit_unused(struct bxr_domain *domain, uintptr_t unit, size_t size, bool teardown) {
  for (uintptr_t start = unit; start < unit + size; start += BXR_POOL_SIZE) {
    struct bxr_pool *pool = bxr_pool_from(start);
    if (bxr_pool_owner(pool) != domain || pool->kind != BXR_EMPTY) return false;
    if (teardown ? pool->closed : !bxr_barrier_try_open(pool)) return false;
    BXR_ASSERT(bxr_load(&pool->announced) == 0);
  }
  return true;
}

/* Neighbouring units, from start up to end (excluded). */
struct run {
  uintptr_t start, end;
};

/* Adds a unit at either end of a run. Returns false if the unit is not next to the run. */
static bool extend_run(struct run *run, uintptr_t unit, size_t size) {
  if (unit == run->end)
    run->end += size;
  else if (unit + size == run->start)
    run->start = unit;
  else
    return false;
  return true;
}

/* Unmaps a run of unused units, which are in no list. If the system refuses, puts them back on the
   list of empty pools, and returns false. */
static bool release_run(struct bxr_domain *domain, struct run run) {
  bool released = run.start == run.end || bxr_os_unmap((void *)run.start, run.end - run.start);
  size_t pools = released ? (run.end - run.start) / BXR_POOL_SIZE : 0;
  for (uintptr_t start = run.start; start < run.end && !released; start += BXR_POOL_SIZE)
    bxr_list_push(&domain->empty, bxr_pool_from(start));
  domain->empty_count -= pools;
  bxr_domain_add_pools(domain, 0 - pools);
  return released;
}

/* Unmaps up to n empty pools, beginning with those that became empty first, and returns how many it
   unmapped. `work` limits the sum of pools that it looks at and system calls. Pools that are
   neighbours, both in memory and in the list, take one call. A pool that cannot be unmapped now
   goes to the front of the list, out of the way next time. */
static size_t release_empty_pools(struct bxr_domain *domain, size_t n, size_t work, bool teardown) {
  size_t size = unit_size(), pools = size / BXR_POOL_SIZE, before = domain->empty_count;
  struct run run = {0, 0};
  for (size_t left = before; left > 0 && n >= pools && work >= pools;) {
    struct bxr_pool *pool = bxr_list_pool(domain->empty.prev);
    uintptr_t unit = (uintptr_t)pool & ~(uintptr_t)(size - 1);
    work -= pools;
    if (!is_unit_unused(domain, unit, size, teardown)) {
      bxr_list_remove(pool);
      bxr_list_push(&domain->empty, pool);
      left--;
      continue;
    }
    if (!extend_run(&run, unit, size)) {
      if (!release_run(domain, run)) return before - domain->empty_count;
      run = (struct run){unit, unit + size};
      work -= work != 0;
    }
    for (uintptr_t start = unit; start < unit + size; start += BXR_POOL_SIZE)
      bxr_list_remove(bxr_pool_from(start));
    n -= pools;
    left -= pools;
  }
  release_run(domain, run);
  return before - domain->empty_count;
}

/* There are too many empty pools if they exceed the pools in use by more than this number. */
enum { SPARED = 1 << 10 };

static size_t too_many(struct bxr_domain *domain) {
  size_t kept = bxr_domain_pools_in_use(domain) + SPARED, unneeded = domain->unneeded;
  if (unneeded > domain->empty_low) unneeded = domain->empty_low;
  size_t excess = domain->empty_count > kept ? domain->empty_count - kept : 0;
  return excess > unneeded ? excess : unneeded;
}

/* A share is a sixteenth, plus a unit. */
void bxr_release_share(struct bxr_domain *domain, size_t more) {
  size_t n = too_many(domain);
  if (n == 0) return;
  size_t share = n / 16 + unit_size() / BXR_POOL_SIZE + more;
  size_t work = 2 * (domain->empty_count / 16 + 1) + more;
  size_t released = release_empty_pools(domain, n < share ? n : share, work, false);
  domain->unneeded -= released < domain->unneeded ? released : domain->unneeded;
  if (domain->empty_low > domain->empty_count) domain->empty_low = domain->empty_count;
}

size_t bxr_release_all(struct bxr_domain *domain) {
  size_t released = release_empty_pools(domain, SIZE_MAX, SIZE_MAX, false);
  domain->empty_low = domain->empty_count;
  return released;
}

static void forget_young_values(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_barrier_forget_young_values(pool);
}

void bxr_release_at_teardown(struct bxr_domain *domain) {
  bxr_domain_disable(domain);
  bxr_domain_each_pool(domain, forget_young_values, NULL);
  release_empty_pools(domain, SIZE_MAX, SIZE_MAX, true);
  size_t unit = unit_size();
  char *rest = (char *)(((uintptr_t)domain->region + unit - 1) & ~(uintptr_t)(unit - 1));
  if (rest != domain->region_end && bxr_os_unmap(rest, (size_t)(domain->region_end - rest)))
    domain->region_end = rest;
}
