/* SPDX-License-Identifier: MIT */
#include "domain.h"

#include "mark.h"
#include "os.h"

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

static struct bxr_pool_head no_pool; /* no free slot */
struct bxr_domain_head bxr_no_domain = {
  .runtime_state = BXR_CLOSED, .current = &no_pool, .uncounted = &no_pool};

/* ---- stacks of records without a domain ---- */

static struct bxr_domain *orphans, *spares, *registry;

static void push_idle(struct bxr_domain **stack, struct bxr_domain *domain) {
  domain->next_idle = __atomic_load_n(stack, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(stack, &domain->next_idle, domain, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {}
}

/* Only ever empties the stack, so a record that comes back cannot be mistaken for one
   that never left (the ABA problem). */
static struct bxr_domain *take_all(struct bxr_domain **stack) {
  if (__atomic_load_n(stack, __ATOMIC_RELAXED) == NULL) return NULL;
  return __atomic_exchange_n(stack, NULL, __ATOMIC_ACQUIRE);
}

static struct bxr_domain *take_one(struct bxr_domain **stack) {
  struct bxr_domain *taken = take_all(stack);
  if (taken == NULL) return NULL;
  for (struct bxr_domain *rest = taken->next_idle, *next; rest != NULL; rest = next) {
    next = rest->next_idle;
    push_idle(stack, rest);
  }
  return taken;
}

static struct bxr_domain *new_record(void) {
  struct bxr_domain *domain = bxr_os_map(RECORD_SIZE, RECORD_SIZE);
  if (domain == NULL) return NULL;
  domain->head = bxr_no_domain;
  domain->head.epoch = 1;
  bxr_list_init(&domain->young);
  bxr_list_init(&domain->young_partial);
  bxr_list_init(&domain->old);
  bxr_list_init(&domain->old_partial);
  bxr_list_init(&domain->empty);
  domain->next_registered = __atomic_load_n(&registry, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&registry, &domain->next_registered, domain, true,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  return domain;
}

struct bxr_domain *bxr_domain_obtain_empty(void) {
  struct bxr_domain *domain = take_one(&spares);
  return domain != NULL ? domain : new_record();
}

struct bxr_domain *bxr_domain_obtain(void) {
  struct bxr_domain *domain = take_one(&orphans);
  return domain != NULL ? domain : bxr_domain_obtain_empty();
}

struct bxr_domain *bxr_domain_registry(void) {
  return __atomic_load_n(&registry, __ATOMIC_ACQUIRE);
}

void bxr_domain_open(struct bxr_domain *domain, void *runtime_state) {
  __atomic_store_n(&domain->head.runtime_state, runtime_state, __ATOMIC_RELAXED);
}

void bxr_domain_close(struct bxr_domain *domain) { bxr_domain_open(domain, BXR_CLOSED); }

/* ---- counters that others read ---- */

static void add_pools(struct bxr_domain *domain, size_t change) {
  __atomic_store_n(&domain->pool_count, domain->pool_count + change, __ATOMIC_RELAXED);
}

void bxr_domain_count(uint64_t *counter, uint64_t change) {
  __atomic_store_n(counter, *counter + change, __ATOMIC_RELAXED);
}

void bxr_census_add(struct bxr_census *census, struct bxr_pool *pool) {
  census->live_roots += bxr_pool_used(pool);
  census->pools[pool->kind]++;
}

void bxr_domain_publish(struct bxr_domain *domain, struct bxr_census census) {
  __atomic_store_n(&domain->census.live_roots, census.live_roots, __ATOMIC_RELAXED);
  for (int kind = 0; kind < BXR_KINDS; kind++)
    __atomic_store_n(&domain->census.pools[kind], census.pools[kind], __ATOMIC_RELAXED);
}

/* ---- filing pools, and finding one to allocate from ---- */

static bool is_young(struct bxr_domain *domain, struct bxr_pool *pool) {
  return pool->head.epoch == domain->head.epoch;
}

void bxr_domain_file(struct bxr_domain *domain, struct bxr_pool *pool, uint32_t used) {
  if (used == 0) {
    pool->kind = BXR_EMPTY;
    pool->high_water = 0;
    pool->head.free = NULL;
    pool->head.epoch = 0;
    bxr_list_push(&domain->empty, pool);
    domain->empty_count++;
  } else if (BXR_SLOTS - used >= BXR_PARTIAL_FREE) {
    pool->kind = BXR_PARTIAL;
    pool->head.countdown = (intptr_t)used;
    bxr_list_push(is_young(domain, pool) ? &domain->young_partial : &domain->old_partial, pool);
  } else {
    pool->kind = BXR_FULL;
    pool->head.countdown = (intptr_t)(used - (BXR_SLOTS - BXR_PARTIAL_FREE));
    bxr_list_push(is_young(domain, pool) ? &domain->young : &domain->old, pool);
  }
}

void bxr_domain_refile(struct bxr_pool_head *head) {
  struct bxr_pool *pool = bxr_pool_of_head(head);
  uint32_t used = pool->kind == BXR_FULL ? BXR_SLOTS - BXR_PARTIAL_FREE : 0;
  bxr_list_remove(pool);
  bxr_domain_file(bxr_pool_owner(pool), pool, used);
}

struct bxr_pool *bxr_domain_current(struct bxr_domain *domain) {
  return domain->head.current == &no_pool ? NULL : bxr_pool_of_head(domain->head.current);
}

static void set_current(struct bxr_domain *domain, struct bxr_pool_head *pool) {
  domain->head.current = pool;
  /* While a pool is being marked, deletes in it must not take the fast path. */
  domain->head.uncounted = pool->fast_owner == &domain->head ? pool : &no_pool;
}

static struct bxr_pool *activate(struct bxr_domain *domain, struct bxr_pool *pool) {
  pool->kind = BXR_CURRENT;
  pool->head.epoch = domain->head.epoch;
  pool->head.countdown = INTPTR_MAX;
  set_current(domain, &pool->head);
  return pool;
}

/* Files the current and the parked pool. */
static void retire(struct bxr_domain *domain) {
  struct bxr_pool *pool = bxr_domain_current(domain);
  if (pool != NULL) {
    set_current(domain, &no_pool);
    bxr_domain_file(domain, pool, bxr_pool_used(pool));
  }
  pool = domain->parked;
  if (pool != NULL) {
    domain->parked = NULL;
    bxr_domain_file(domain, pool, bxr_pool_used(pool));
  }
}

static bool has_free_slot(struct bxr_pool *pool) {
  return pool->head.free != NULL || bxr_pool_extend(pool);
}

/* The first pool of a list, if there is one and it may be allocated in. If the first one is
   being marked, then most others are. */
static struct bxr_pool *pop(struct bxr_link *list, enum bxr_marking most) {
  if (bxr_list_is_empty(list)) return NULL;
  struct bxr_pool *pool = bxr_list_pool(list->next);
  if (bxr_mark_state(pool) > most) return NULL;
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

struct bxr_pool *bxr_domain_next_pool(struct bxr_domain *domain) {
  struct bxr_pool *pool = bxr_domain_current(domain);
  if (pool != NULL && has_free_slot(pool)) return pool;
  if (domain->parked != NULL && bxr_mark_state(domain->parked) <= BXR_REOPENED &&
      has_free_slot(domain->parked)) {
    pool = domain->parked;
    domain->parked = NULL;
    return activate(domain, pool);
  }
  retire(domain);
  bxr_domain_drain(domain);
  /* Young pools first: the next minor scan visits them anyway. */
  pool = pop(&domain->young_partial, BXR_REOPENED);
  if (pool == NULL) pool = pop(&domain->old_partial, BXR_REOPENED);
  if (pool == NULL) pool = pop_empty(domain);
  /* Deletes in a pool that is being marked are slower, but new memory is worse. */
  if (pool == NULL) pool = pop(&domain->old_partial, BXR_ACTIVE);
  if (pool == NULL) pool = carve(domain);
  if (pool == NULL || !has_free_slot(pool)) return NULL;
  return activate(domain, pool);
}

void bxr_domain_promote(struct bxr_domain *domain) {
  bxr_list_splice(&domain->old, &domain->young);
  bxr_list_splice(&domain->old_partial, &domain->young_partial);
  domain->head.epoch++;
  /* The current pool has become old like the others. It is parked, not kept, so that a
     domain that creates nothing before the next minor scan has nothing to scan. */
  if (bxr_domain_current(domain) != NULL) {
    domain->parked = bxr_domain_current(domain);
    set_current(domain, &no_pool);
  }
}

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
    if (pool->marking != BXR_IDLE && BXR_WITHOUT != 5) return false;
  }
  return true;
}

static bool release_unit(struct bxr_domain *domain, char *unit, size_t size) {
  for (size_t i = 0; i < size; i += BXR_POOL_SIZE)
    bxr_list_remove((struct bxr_pool *)(void *)(unit + i));
  if (bxr_os_unmap(unit, size)) return true;
  for (size_t i = 0; i < size; i += BXR_POOL_SIZE)
    bxr_list_push(&domain->empty, (struct bxr_pool *)(void *)(unit + i));
  return false;
}

/* Returns up to n empty pools to the system, and the number of those that were. */
static size_t release_empty(struct bxr_domain *domain, size_t n) {
  size_t size = unit_size(), pools = size / BXR_POOL_SIZE, released = 0;
  struct bxr_link *link = domain->empty.next;
  while (n - released >= pools && link != &domain->empty) {
    uintptr_t unit = (uintptr_t)link & ~(uintptr_t)(size - 1);
    bool unused = is_unit_unused(domain, (char *)unit, size);
    do {
      link = link->next;
    } while (unused && link != &domain->empty && (uintptr_t)link - unit < size);
    if (!unused) continue;
    if (!release_unit(domain, (char *)unit, size)) break;
    released += pools;
  }
  domain->empty_count -= released;
  add_pools(domain, 0 - released);
  return released;
}

void bxr_domain_trim(struct bxr_domain *domain) {
  release_empty(domain, domain->empty_low);
  domain->empty_low = domain->empty_count;
}

size_t bxr_domain_trim_all(struct bxr_domain *domain) {
  bxr_domain_drain(domain);
  retire(domain);
  for (struct bxr_link *link = domain->empty.next; link != &domain->empty; link = link->next)
    bxr_mark_state(bxr_list_pool(link));
  size_t released = release_empty(domain, SIZE_MAX);
  domain->empty_low = domain->empty_count;
  return released;
}

/* ---- remote deletes (the numbers refer to the arguments in DESIGN.md) ---- */

static void push_drain(struct bxr_domain *domain, struct bxr_pool *pool) {
  pool->next_to_drain = __atomic_load_n(&domain->drain, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&domain->drain, &pool->next_to_drain, pool, true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
}

static struct bxr_pool *take_drain(struct bxr_domain *domain) {
  return __atomic_exchange_n(&domain->drain, NULL, __ATOMIC_SEQ_CST);
}

/* Puts pools that the caller holds the list places of on their owners' drain lists. A
   pool is not touched after it was pushed: its owner may unmap it. */
static void enqueue(struct bxr_pool *list) {
  while (list != NULL) {
    struct bxr_pool *pool = list;
    list = pool->next_to_drain;
    struct bxr_domain *owner;
    uint64_t merges;
    do {
      owner = bxr_pool_owner(pool);
      merges = __atomic_load_n(&owner->merges, __ATOMIC_SEQ_CST);
    } while (bxr_pool_owner(pool) != owner);
    push_drain(owner, pool);
    if (__atomic_load_n(&owner->merges, __ATOMIC_SEQ_CST) == merges) continue;
    /* All pools of `owner` moved meanwhile, and the one who moved them may have looked
       at this list before the push: take it, and start again with what is there. */
    struct bxr_pool *rescued = take_drain(owner);
    if (rescued == NULL) continue;
    struct bxr_pool *last = rescued;
    while (last->next_to_drain != NULL) last = last->next_to_drain;
    last->next_to_drain = list;
    list = rescued;
  }
}

static void deliver(struct bxr_batch batch) {
  if (bxr_pool_announce(batch)) {
    batch.pool->next_to_drain = NULL;
    enqueue(batch.pool);
  }
  bxr_pool_post(batch);
}

void bxr_domain_delete_remotely(boxroot r) { deliver(bxr_batch_of(r)); }

void bxr_domain_delete_batched(struct bxr_domain *self, boxroot r) {
  struct bxr_batch batch = bxr_batch_of(r);
  if (batch.pool == self->outgoing.pool && batch.word == self->outgoing.word) {
    self->outgoing.bits |= batch.bits;
    return;
  }
  bxr_domain_flush(self);
  self->outgoing = batch;
  self->head.remote_pool = &batch.pool->head;
}

void bxr_domain_flush(struct bxr_domain *self) {
  struct bxr_batch batch = self->outgoing;
  self->outgoing = (struct bxr_batch){0};
  self->head.remote_pool = NULL;
  if (batch.bits != 0) deliver(batch);
}

void bxr_domain_drain(struct bxr_domain *domain) {
  if (__atomic_load_n(&domain->drain, __ATOMIC_RELAXED) == NULL) return;
  uint64_t freed = 0;
  struct bxr_pool *next;
  for (struct bxr_pool *pool = take_drain(domain); pool != NULL; pool = next) {
    next = pool->next_to_drain;
    if (bxr_pool_owner(pool) == domain && !bxr_pool_harvest(pool, &freed)) continue;
    pool->next_to_drain = NULL;
    enqueue(pool);
  }
  bxr_domain_count(&domain->deferred_deletes, freed);
}

/* ---- domains that end ---- */

static void make_foreign(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_mark_make_foreign(pool);
}

void bxr_domain_orphan(struct bxr_domain *domain) {
  bxr_domain_close(domain);
  if (BXR_WITHOUT != 14) bxr_domain_flush(domain);
  retire(domain);
  bxr_domain_each_pool(domain, make_foreign, NULL);
  push_idle(domain->pool_count != 0 ? &orphans : &spares, domain);
}

bool bxr_domain_has_orphans(void) { return __atomic_load_n(&orphans, __ATOMIC_ACQUIRE) != NULL; }

/* Moves a list of pools to the domain, with this epoch. */
static void move_pools(struct bxr_domain *domain, struct bxr_link *to, struct bxr_link *from,
                       uint64_t epoch) {
  for (struct bxr_link *link = from->next; link != from; link = link->next) {
    struct bxr_pool *pool = bxr_list_pool(link);
    pool->head.epoch = epoch;
    bxr_pool_set_owner(pool, domain);
  }
  bxr_list_splice(to, from);
}

static void merge(struct bxr_domain *domain, struct bxr_domain *orphan) {
  uint64_t epoch = domain->head.epoch;
  move_pools(domain, &domain->young, &orphan->young, epoch);
  move_pools(domain, &domain->young_partial, &orphan->young_partial, epoch);
  move_pools(domain, &domain->old, &orphan->old, 0);
  move_pools(domain, &domain->old_partial, &orphan->old_partial, 0);
  move_pools(domain, &domain->empty, &orphan->empty, 0);
  domain->empty_count += orphan->empty_count;
  orphan->empty_count = orphan->empty_low = 0;
  size_t pools = orphan->pool_count;
  add_pools(orphan, 0 - pools);
  add_pools(domain, pools);
  bxr_domain_count(&domain->pools_adopted, pools);
  bxr_domain_publish(orphan, (struct bxr_census){0});
  __atomic_add_fetch(&orphan->merges, 1, __ATOMIC_SEQ_CST);
  enqueue(take_drain(orphan));
  push_idle(&spares, orphan);
}

struct bxr_domain *bxr_domain_adopt(struct bxr_domain *domain) {
  struct bxr_domain *next;
  for (struct bxr_domain *orphan = take_all(&orphans); orphan != NULL; orphan = next) {
    next = orphan->next_idle;
    if (domain == NULL)
      domain = orphan;
    else
      merge(domain, orphan);
  }
  return domain;
}

/* ---- teardown and fork ---- */

static void forbid_fast_paths(struct bxr_pool *pool, void *context) {
  (void)context;
  __atomic_store_n(&pool->head.fast_owner, NULL, __ATOMIC_RELAXED);
}

void bxr_domain_disable(struct bxr_domain *domain) {
  bxr_domain_close(domain);
  retire(domain);
  bxr_domain_each_pool(domain, forbid_fast_paths, NULL);
}

/* Nobody updates the pool any more, but the marker may still come by; by then the minor heap may
   have moved, and what was a young value would be taken for an old block. */
static void forget_young_values(struct bxr_pool *pool, void *context) {
  (void)context;
  if (pool->marking == BXR_IDLE || BXR_WITHOUT == 18) return;
  struct bxr_range range = bxr_minor_heap();
  for (uint32_t i = 0; i < pool->high_water; i++)
    if (bxr_may_be_in(range, (value)pool->slots[i]) && Is_block((value)pool->slots[i]))
      __atomic_store_n(&pool->slots[i], (uintptr_t)Val_unit, __ATOMIC_RELEASE);
}

void bxr_domain_tear_down(struct bxr_domain *domain) {
  bxr_domain_disable(domain);
  bxr_domain_each_pool(domain, forget_young_values, NULL);
  release_empty(domain, SIZE_MAX);
  size_t unit = unit_size();
  char *rest = (char *)(((uintptr_t)domain->region + unit - 1) & ~(uintptr_t)(unit - 1));
  if (rest != domain->region_end && bxr_os_unmap(rest, (size_t)(domain->region_end - rest)))
    domain->region_end = rest;
}

static void requeue_marked(struct bxr_pool *pool, void *domain) {
  if (bxr_pool_forget_unmarked(pool)) push_drain(domain, pool);
}

void bxr_domain_after_fork(struct bxr_domain *domain) {
  domain->drain = NULL;
  bxr_domain_each_pool(domain, requeue_marked, domain);
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
