/* SPDX-License-Identifier: MIT */
#include "domain.h"

#include "barrier.h"
#include "os.h"
#include "runtime.h"

/* Pools are carved from regions of 2^BXR_REGION_LOG bytes (docs/tuning.md). */
#ifndef BXR_REGION_LOG
#define BXR_REGION_LOG 20
#endif
#define REGION_SIZE ((size_t)1 << BXR_REGION_LOG)
_Static_assert(REGION_SIZE >= BXR_POOL_SIZE, "a region holds a pool");

/* A record takes a page: they are few, and the tests count every mapping. */
#define RECORD_SIZE ((size_t)4096)

_Static_assert(sizeof(struct bxr_domain) <= RECORD_SIZE, "a record fits in its page");
_Static_assert(offsetof(struct bxr_domain, head) == 0, "a record starts with its head");

struct bxr_domain_head bxr_no_domain = {.runtime_state = BXR_CLOSED,
                                        .current = &bxr_no_pool,
                                        .uncounted = &bxr_no_pool,
                                        .remote_pool = &bxr_no_pool};

/* ---- records ---- */

static struct bxr_domain *registry;

struct bxr_domain *bxr_domain_new(void) {
  struct bxr_domain *domain = bxr_os_map(RECORD_SIZE, RECORD_SIZE);
  if (domain == NULL) return NULL;
  domain->head = bxr_no_domain;
  domain->head.epoch = 1;
  domain->darkened = bxr_runtime_cycle() - 1;
  bxr_list_init(&domain->young);
  bxr_list_init(&domain->young_partial);
  bxr_list_init(&domain->old);
  bxr_list_init(&domain->old_partial);
  bxr_list_init(&domain->empty);
  domain->next_registered = bxr_load(&registry);
  while (!bxr_compare_exchange(&registry, &domain->next_registered, domain)) {}
  return domain;
}

struct bxr_domain *bxr_domain_registry(void) {
  return bxr_load(&registry);
}

void bxr_domain_open(struct bxr_domain *domain, void *runtime_state) {
  bxr_publish(&domain->head.runtime_state, runtime_state);
}

void bxr_domain_close(struct bxr_domain *domain) { bxr_domain_open(domain, BXR_CLOSED); }

static void forbid_fast_paths(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_publish(&pool->head.fast_owner, NULL);
}

void bxr_domain_disable(struct bxr_domain *domain) {
  bxr_domain_close(domain);
  bxr_domain_retire(domain);
  bxr_domain_each_pool(domain, forbid_fast_paths, NULL);
}

/* ---- statistics ---- */

static void add_pools(struct bxr_domain *domain, size_t change) {
  bxr_publish(&domain->pool_count, domain->pool_count + change);
}

void bxr_domain_count(uint64_t *counter, uint64_t change) {
  bxr_publish(counter, *counter + change);
}

void bxr_census_add(struct bxr_census *census, struct bxr_pool *pool) {
  census->live_roots += bxr_pool_used(pool) - bxr_load(&pool->announced);
  census->pools[pool->kind]++;
}

void bxr_domain_publish(struct bxr_domain *domain, struct bxr_census census) {
  bxr_publish(&domain->census.live_roots, census.live_roots);
  for (int kind = 0; kind < BXR_KINDS; kind++)
    bxr_publish(&domain->census.pools[kind], census.pools[kind]);
}

/* ---- filing pools ---- */

static struct bxr_link *list_of(struct bxr_domain *domain, struct bxr_pool *pool) {
  bool young = pool->head.epoch == domain->head.epoch;
  switch (pool->kind) {
  case BXR_FULL: return young ? &domain->young : &domain->old;
  case BXR_PARTIAL: return young ? &domain->young_partial : &domain->old_partial;
  default: return &domain->empty;
  }
}

/* Files a pool that is in no list by its use and its generation. */
static void file(struct bxr_domain *domain, struct bxr_pool *pool, uint32_t used) {
  bxr_pool_set_kind(pool, used);
  bxr_list_push(list_of(domain, pool), pool);
  domain->empty_count += pool->kind == BXR_EMPTY;
}

void bxr_domain_refile(struct bxr_pool_head *head) {
  struct bxr_pool *pool = bxr_pool_of_head(head);
  BXR_ASSERT(pool->kind == BXR_FULL || pool->kind == BXR_PARTIAL);
  uint32_t used = pool->kind == BXR_FULL ? BXR_SLOTS - BXR_PARTIAL_FREE : 0;
  bxr_list_remove(pool);
  file(bxr_pool_owner(pool), pool, used);
}

void bxr_domain_free(boxroot r) {
  struct bxr_pool *pool = bxr_pool_of_root(r);
  if (bxr_pool_free(pool, r)) bxr_domain_refile(&pool->head);
}

uint64_t bxr_domain_free_all(struct bxr_pool *pool, uint64_t const bits[BXR_PENDING_WORDS],
                             uint64_t count) {
  /* One step, where no root is left, and no marker comes by, which would find values, not links. */
  if (pool->kind != BXR_CURRENT && pool->marking == BXR_IDLE && count == bxr_pool_used(pool)) {
    bxr_list_remove(pool);
    file(bxr_pool_owner(pool), pool, 0);
    return BXR_PENDING_WORDS;
  }
  for (size_t i = 0; i < BXR_PENDING_WORDS; i++) {
    uintptr_t *words = (uintptr_t *)pool + 64 * i;
    for (uint64_t rest = bits[i]; rest != 0; rest &= rest - 1)
      bxr_domain_free((boxroot)(words + __builtin_ctzll(rest)));
  }
  return BXR_PENDING_WORDS + count;
}

void bxr_domain_each_pool(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                          void *context) {
  struct bxr_link *lists[] = {&domain->young, &domain->young_partial, &domain->old,
                              &domain->old_partial, &domain->empty};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    for (struct bxr_link *link = lists[i]->next; link != lists[i]; link = link->next)
      visit(bxr_list_pool(link), context);
  if (bxr_domain_current(domain) != NULL) visit(bxr_domain_current(domain), context);
  if (domain->parked != NULL) visit(domain->parked, context);
}

/* ---- the current pool, and the next one ---- */

struct bxr_pool *bxr_domain_current(struct bxr_domain *domain) {
  struct bxr_pool_head *current = domain->head.current;
  return current == &bxr_no_pool ? NULL : bxr_pool_of_head(current);
}

static void set_current(struct bxr_domain *domain, struct bxr_pool_head *pool) {
  domain->head.current = pool;
  /* Deletes in a closed pool must not take the fast path. */
  domain->head.uncounted = pool->fast_owner == &domain->head ? pool : &bxr_no_pool;
}

static struct bxr_pool *activate(struct bxr_domain *domain, struct bxr_pool *pool) {
  pool->kind = BXR_CURRENT;
  pool->head.epoch = domain->head.epoch;
  pool->head.countdown = INTPTR_MAX;
  set_current(domain, &pool->head);
  return pool;
}

struct bxr_pool *bxr_domain_continue(struct bxr_domain *domain) {
  struct bxr_pool *pool = bxr_domain_current(domain);
  if (pool != NULL && bxr_pool_has_free_slot(pool)) return pool;
  pool = domain->parked;
  if (pool == NULL || bxr_barrier_state(pool) > BXR_REOPENED || !bxr_pool_has_free_slot(pool))
    return NULL;
  domain->parked = NULL;
  return activate(domain, pool);
}

void bxr_domain_retire(struct bxr_domain *domain) {
  struct bxr_pool *pool = bxr_domain_current(domain);
  if (pool != NULL) {
    set_current(domain, &bxr_no_pool);
    file(domain, pool, bxr_pool_used(pool));
  }
  pool = domain->parked;
  if (pool != NULL) {
    domain->parked = NULL;
    file(domain, pool, bxr_pool_used(pool));
  }
}

/* The first pool of a list, if there is one and it may be allocated in. If the first one is
   being marked, then most others are. */
static struct bxr_pool *pop(struct bxr_link *list, enum bxr_marking most) {
  if (bxr_list_is_empty(list)) return NULL;
  struct bxr_pool *pool = bxr_list_pool(list->next);
  if (bxr_barrier_state(pool) > most) return NULL;
  bxr_list_remove(pool);
  return pool;
}

static struct bxr_pool *pop_empty(struct bxr_domain *domain) {
  struct bxr_pool *pool = pop(&domain->empty, BXR_REOPENED);
  if (pool != NULL && --domain->empty_count < domain->empty_low)
    domain->empty_low = domain->empty_count;
  return pool;
}

static struct bxr_pool *carve(struct bxr_domain *domain) {
  if (domain->region == domain->region_end) {
    char *region = bxr_os_map(REGION_SIZE, REGION_SIZE);
    if (region == NULL) return NULL;
    domain->region = region;
    domain->region_end = region + REGION_SIZE;
  }
  struct bxr_pool *pool = (struct bxr_pool *)(void *)domain->region;
  domain->region += BXR_POOL_SIZE;
  bxr_pool_init(pool, domain);
  add_pools(domain, 1);
  return pool;
}

struct bxr_pool *bxr_domain_choose(struct bxr_domain *domain) {
  /* Young pools first: the next minor scan visits them anyway. */
  struct bxr_pool *pool = pop(&domain->young_partial, BXR_REOPENED);
  if (pool == NULL) pool = pop(&domain->old_partial, BXR_REOPENED);
  if (pool == NULL) pool = pop_empty(domain);
  /* Deletes in a pool that is being marked are slower, but new memory is worse. */
  if (pool == NULL) pool = pop(&domain->old_partial, BXR_ACTIVE);
  if (pool == NULL) pool = carve(domain);
  if (pool == NULL) return NULL;
  bool has_free_slot = bxr_pool_has_free_slot(pool);
  BXR_ASSERT(has_free_slot);
  (void)has_free_slot;
  return activate(domain, pool);
}

void bxr_domain_promote(struct bxr_domain *domain) {
  bxr_list_splice(&domain->old, &domain->young);
  bxr_list_splice(&domain->old_partial, &domain->young_partial);
  domain->head.epoch++;
  /* The current pool has become old like the others. It is parked, not kept, so that a
     domain that creates nothing before the next minor scan has nothing to scan. */
  if (bxr_domain_current(domain) != NULL) {
    BXR_ASSERT(domain->parked == NULL);
    domain->parked = bxr_domain_current(domain);
    set_current(domain, &bxr_no_pool);
  }
}

/* ---- another record's pools ---- */

/* Moves a list of pools to the domain, with this epoch. */
static void take_list(struct bxr_domain *domain, struct bxr_link *to, struct bxr_link *from,
                      uint64_t epoch) {
  for (struct bxr_link *link = from->next; link != from; link = link->next) {
    struct bxr_pool *pool = bxr_list_pool(link);
    pool->head.epoch = epoch;
    bxr_pool_set_owner(pool, domain);
  }
  bxr_list_splice(to, from);
}

void bxr_domain_take_pools(struct bxr_domain *domain, struct bxr_domain *from) {
  BXR_ASSERT(bxr_domain_current(from) == NULL && from->parked == NULL);
  uint64_t epoch = domain->head.epoch;
  take_list(domain, &domain->young, &from->young, epoch);
  take_list(domain, &domain->young_partial, &from->young_partial, epoch);
  take_list(domain, &domain->old, &from->old, 0);
  take_list(domain, &domain->old_partial, &from->old_partial, 0);
  take_list(domain, &domain->empty, &from->empty, 0);
  domain->empty_count += from->empty_count;
  from->empty_count = from->empty_low = 0;
  size_t pools = from->pool_count;
  add_pools(from, 0 - pools);
  add_pools(domain, pools);
  bxr_domain_count(&domain->pools_adopted, pools);
  bxr_domain_publish(from, (struct bxr_census){0});
}

/* ---- memory ---- */

/* What is returned to the system at a time: a pool, or the pools that share a page. */
static size_t unit_size(void) {
  size_t page = bxr_os_page_size();
  return page > BXR_POOL_SIZE ? page : BXR_POOL_SIZE;
}

/* Whether all pools of a unit are the domain's, empty, and on no mark stack. The owner is looked at
   first: only the owner's pools are constant here. A pool not carved yet has none. */
static bool is_unit_unused(struct bxr_domain *domain, char *unit, size_t size) {
  for (char *start = unit; start < unit + size; start += BXR_POOL_SIZE) {
    struct bxr_pool *pool = (struct bxr_pool *)(void *)start;
    if (bxr_pool_owner(pool) != domain || pool->kind != BXR_EMPTY) return false;
    if (pool->marking != BXR_IDLE && BXR_RULE(KEEP_WHAT_IS_VISITED)) return false;
    BXR_ASSERT(bxr_load(&pool->announced) == 0);
  }
  return true;
}

/* Neighbouring units, from start to before end. */
struct run {
  uintptr_t start, end;
};

/* Adds a unit at either end of a run. False if it is not beside it. */
static bool extend(struct run *run, uintptr_t unit, size_t size) {
  if (unit == run->end)
    run->end += size;
  else if (unit + size == run->start)
    run->start = unit;
  else
    return false;
  return true;
}

/* Returns a run of unused units to the system. False, and nothing was done, if the system refuses. */
static bool release(struct bxr_domain *domain, struct run run) {
  for (uintptr_t pool = run.start; pool < run.end; pool += BXR_POOL_SIZE)
    bxr_list_remove((struct bxr_pool *)pool);
  bool released = run.start == run.end || bxr_os_unmap((void *)run.start, run.end - run.start);
  size_t pools = released ? (run.end - run.start) / BXR_POOL_SIZE : 0;
  for (uintptr_t pool = run.start; pool < run.end && !released; pool += BXR_POOL_SIZE)
    bxr_list_push(&domain->empty, (struct bxr_pool *)pool);
  domain->empty_count -= pools;
  add_pools(domain, 0 - pools);
  return released;
}

/* Returns up to n empty pools to the system, and the number of those that were. Work counts pools and
   calls to the system: pools that are neighbours, in memory and in the list, go together. */
static size_t release_empty(struct bxr_domain *domain, size_t n, size_t work) {
  size_t size = unit_size(), pools = size / BXR_POOL_SIZE, before = domain->empty_count;
  struct run run = {0, 0};
  for (struct bxr_link *link = domain->empty.next; link != &domain->empty; link = link->next) {
    uintptr_t unit = (uintptr_t)link & ~(uintptr_t)(size - 1);
    if (unit >= run.start && unit < run.end) continue;
    if (n < pools || work < pools) break;
    if (!is_unit_unused(domain, (char *)unit, size)) continue;
    if (!extend(&run, unit, size)) {
      if (!release(domain, run)) return before - domain->empty_count;
      run = (struct run){unit, unit + size};
      work--;
    }
    n -= pools;
    work -= work < pools ? work : pools;
  }
  release(domain, run);
  return before - domain->empty_count;
}

/* So that no scan takes long: about a millisecond. At most 16 MiB. */
enum { ENOUGH_AT_A_TIME = 1 << 10 };

void bxr_domain_trim(struct bxr_domain *domain) {
  release_empty(domain, domain->empty_low, ENOUGH_AT_A_TIME);
  domain->empty_low = domain->empty_count;
}

size_t bxr_domain_trim_all(struct bxr_domain *domain) {
  for (struct bxr_link *link = domain->empty.next; link != &domain->empty; link = link->next)
    bxr_barrier_state(bxr_list_pool(link));
  size_t released = release_empty(domain, SIZE_MAX, SIZE_MAX);
  domain->empty_low = domain->empty_count;
  return released;
}

static void forget_young_values(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_barrier_forget_young_values(pool);
}

void bxr_domain_tear_down(struct bxr_domain *domain) {
  bxr_domain_disable(domain);
  bxr_domain_each_pool(domain, forget_young_values, NULL);
  release_empty(domain, SIZE_MAX, SIZE_MAX);
  size_t unit = unit_size();
  char *rest = (char *)(((uintptr_t)domain->region + unit - 1) & ~(uintptr_t)(unit - 1));
  if (rest != domain->region_end && bxr_os_unmap(rest, (size_t)(domain->region_end - rest)))
    domain->region_end = rest;
}

static void end_marking(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_barrier_end(pool);
}

void bxr_domain_end_marking(struct bxr_domain *domain) {
  domain->darkened = bxr_runtime_cycle();
  bxr_domain_each_pool(domain, end_marking, NULL);
  if (domain->directory != NULL && bxr_os_unmap(domain->directory, domain->directory_size)) {
    domain->directory = NULL;
    domain->directory_size = 0;
  }
}
