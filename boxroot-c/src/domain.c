/* SPDX-License-Identifier: MIT */
#include "domain.h"

#include "barrier.h"
#include "os.h"
#include "runtime.h"

/* Pools are carved from regions of 2^BXR_REGION_LOG bytes. */
#ifndef BXR_REGION_LOG
#define BXR_REGION_LOG 20
#endif
#define REGION_SIZE ((size_t)1 << BXR_REGION_LOG)
_Static_assert(REGION_SIZE >= BXR_POOL_SIZE, "a region holds a pool");

/* A record has its own page, because records are few, and the tests count every mapping. */
#define RECORD_SIZE ((size_t)4096)

_Static_assert(sizeof(struct bxr_domain) <= RECORD_SIZE, "a record fits in its page");
_Static_assert(offsetof(struct bxr_domain, head) == 0, "a record starts with its head");

struct bxr_domain_head bxr_no_domain = {
  .runtime_state = BXR_CLOSED, .free = BXR_NO_SLOT, .uncounted = BXR_NO_POOL};

uint32_t bxr_profile_rate;

/* ---- records ---- */

static struct bxr_domain *registry;

struct bxr_domain *bxr_domain_new(void) {
  struct bxr_domain *domain = bxr_os_map(RECORD_SIZE, RECORD_SIZE);
  if (domain == NULL) return NULL;
  domain->head = bxr_no_domain;
  domain->darkened = bxr_runtime_cycle() - 1;
  domain->pacing.expected = 16; /* a guess */
  domain->until_sample = BXR_UNDRAWN;
  domain->random = (uintptr_t)domain;
  bxr_list_init(&domain->young);
  bxr_list_init(&domain->young_partial);
  bxr_list_init(&domain->old);
  bxr_list_init(&domain->old_partial);
  bxr_list_init(&domain->empty);
  bxr_list_init(&domain->waiting);
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

void bxr_domain_add_pools(struct bxr_domain *domain, size_t change) {
  bxr_publish(&domain->pool_count, domain->pool_count + change);
}

void bxr_census_add(struct bxr_census *census, struct bxr_pool *pool) {
  census->live_roots += bxr_pool_used(pool) - pool->waiting;
  census->waiting_deletes += pool->waiting;
  census->pools[pool->kind]++;
}

void bxr_domain_publish(struct bxr_domain *domain, struct bxr_census census) {
  bxr_publish(&domain->census.live_roots, census.live_roots);
  bxr_publish(&domain->census.waiting_deletes, census.waiting_deletes);
  for (int kind = 0; kind < BXR_KINDS; kind++)
    bxr_publish(&domain->census.pools[kind], census.pools[kind]);
}

static void count_pool(struct bxr_pool *pool, void *context) {
  struct bxr_census *census = context;
  size_t announced = bxr_load(&pool->announced);
  bxr_census_add(census, pool);
  census->live_roots -= announced;
  census->waiting_deletes += announced;
}

struct bxr_census bxr_domain_census(struct bxr_domain *domain) {
  struct bxr_census census = {0};
  bxr_domain_each_pool(domain, count_pool, &census);
  return census;
}

/* ---- filing pools ---- */

static struct bxr_link *list_of(struct bxr_domain *domain, struct bxr_pool *pool) {
  switch (pool->kind) {
  case BXR_FULL: return pool->head.young ? &domain->young : &domain->old;
  case BXR_PARTIAL: return pool->head.young ? &domain->young_partial : &domain->old_partial;
  default: return &domain->empty;
  }
}

/* Files a pool, which is in no list, by its number of used slots and its generation. */
static void file_pool(struct bxr_domain *domain, struct bxr_pool *pool, uint32_t used) {
  bxr_pool_set_kind(pool, used);
  bxr_list_push(list_of(domain, pool), pool);
  domain->empty_count += pool->kind == BXR_EMPTY;
}

void bxr_domain_refile(struct bxr_pool_head *head) {
  struct bxr_pool *pool = bxr_pool_of_head(head);
  BXR_ASSERT(pool->kind == BXR_FULL || pool->kind == BXR_PARTIAL);
  uint32_t used = pool->kind == BXR_FULL ? BXR_SLOTS - BXR_PARTIAL_FREE : 0;
  bxr_list_remove(pool);
  file_pool(bxr_pool_owner(pool), pool, used);
}

void bxr_domain_free(boxroot r) {
  struct bxr_pool *pool = bxr_pool_of_root(r);
  struct bxr_domain_head *owner = bxr_pool_owner_head(pool);
  if (bxr_start_of(r) == owner->uncounted)
    bxr_push(&owner->free, r);
  else if (bxr_pool_free(pool, r))
    bxr_domain_refile(&pool->head);
}

/* Bit i of bits[j] stands for the slot at words[64 * j + i]. */
static void push_slots(uintptr_t *free, uintptr_t *words, uint64_t const bits[BXR_BITS_WORDS]) {
  uintptr_t list = *free;
  for (size_t i = 0; i < BXR_BITS_WORDS; i++)
    for (uint64_t rest = bits[i]; rest != 0; rest &= rest - 1)
      bxr_push(&list, (boxroot)(words + 64 * i + __builtin_ctzll(rest)));
  *free = list;
}

void bxr_domain_free_all(struct bxr_pool *pool, uint64_t const bits[BXR_BITS_WORDS],
                         uint64_t count) {
  struct bxr_domain *owner = bxr_pool_owner(pool);
  uintptr_t start = bxr_pool_start(pool);
  if (pool->kind == BXR_CURRENT) {
    bool counted = start != owner->head.uncounted;
    push_slots(counted ? &pool->head.free : &owner->head.free, (uintptr_t *)start, bits);
    if (counted) pool->head.countdown -= (intptr_t)count;
    return;
  }
  uint32_t left = bxr_pool_used(pool) - (uint32_t)count;
  /* If no root is left, no slot is touched. But if a marker may visit the pool, it must find links,
     not values. */
  if (left != 0 || pool->closed) push_slots(&pool->head.free, (uintptr_t *)start, bits);
  pool->head.countdown -= (intptr_t)count;
  if (pool->head.countdown > 0) return;
  bxr_list_remove(pool);
  file_pool(owner, pool, left);
}

void bxr_domain_each_pool(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                          void *context) {
  struct bxr_link *lists[] = {&domain->young, &domain->young_partial, &domain->old,
                              &domain->old_partial, &domain->empty};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    for (struct bxr_link *link = lists[i]->next, *next; link != lists[i]; link = next) {
      next = link->next;
      visit(bxr_list_pool(link), context);
    }
  if (domain->current != NULL) visit(domain->current, context);
}

/* ---- the current pool, and the next one ---- */

static void set_current(struct bxr_domain *domain, struct bxr_pool *pool) {
  domain->current = pool;
  pool->kind = BXR_CURRENT;
  pool->aside = BXR_NO_SLOT;
}

/* Makes the current pool young. */
static void make_young(struct bxr_domain *domain) {
  struct bxr_pool *pool = domain->current;
  pool->head.young = true;
  /* Deletes in a closed pool must not take the fast path. While profiling is on, each create must
     count down to the next sample (profile.h). */
  bool counted = !bxr_is_fast_owner(&domain->head, &pool->head) || bxr_peek(&bxr_profile_rate) != 0;
  domain->head.uncounted = counted ? BXR_NO_POOL : bxr_pool_start(pool);
  domain->listed.count = 0;
}

/* Moves the current pool's free list to head.free, which must be empty. Returns false if the pool
   has no free slot. */
static bool take_free_slots(struct bxr_domain *domain) {
  BXR_ASSERT(domain->head.free == BXR_NO_SLOT);
  if (!bxr_pool_has_free_slot(domain->current)) return false;
  domain->head.free = domain->current->head.free;
  domain->current->head.free = BXR_NO_SLOT;
  domain->current->head.countdown = INTPTR_MAX;
  return true;
}

/* Gives the current pool its free slots back, and clears the list of its slots. */
static void take_back_slots(struct bxr_domain *domain) {
  struct bxr_pool *pool = domain->current;
  uint32_t length = 0;
  if (pool->head.free != BXR_NO_SLOT)
    *bxr_free_list_end(&domain->head.free, &length) = pool->head.free;
  pool->head.free = domain->head.free;
  if (pool->aside != BXR_NO_SLOT) *bxr_free_list_end(&pool->head.free, &length) = pool->aside;
  pool->aside = BXR_NO_SLOT;
  pool->head.countdown = BXR_NOT_COUNTED;
  domain->head.free = BXR_NO_SLOT;
  domain->head.uncounted = BXR_NO_POOL;
  domain->listed.count = 0;
}

/* The number of slots that are handed out and listed at a time. */
enum { AT_A_TIME = 16 };

/* Puts a few slots of the current pool on head.free, which is empty, and lists them. False if the
   pool has no free slot, or if too many are listed. */
static bool hand_out_slots(struct bxr_domain *domain) {
  struct bxr_listed *listed = &domain->listed;
  if (listed->count + AT_A_TIME > BXR_LISTED || !take_free_slots(domain)) return false;
  uintptr_t *end = &domain->head.free;
  for (int i = 0; i < AT_A_TIME && *end != BXR_NO_SLOT; i++) {
    boxroot r = bxr_linked(*end);
    listed->slots[listed->count++] = r;
    end = bxr_slot(r);
  }
  domain->current->head.free = *end;
  domain->current->head.countdown = BXR_NOT_COUNTED;
  *end = BXR_NO_SLOT;
  return true;
}

bool bxr_domain_admit_young(struct bxr_domain *domain, boxroot r) {
  struct bxr_pool *pool = bxr_pool_of_root(r);
  struct bxr_listed *listed = &domain->listed;
  if (pool == domain->current && listed->count != 0) {
    if (listed->count == BXR_LISTED)
      make_young(domain);
    else
      listed->slots[listed->count++] = r;
    return true;
  }
  return pool->head.young;
}

/* Listing slots starts at this high-water mark. Below it, scanning the whole pool is equally
   fast. */
#define LISTED_FROM (BXR_SLOTS / 4)

bool bxr_domain_continue(struct bxr_domain *domain) {
  struct bxr_pool *pool = domain->current;
  if (pool == NULL) return false;
  if (!pool->head.young) {
    if (!bxr_barrier_try_open(pool) || !bxr_pool_has_free_slot(pool)) return false;
    if (pool->high_water >= LISTED_FROM && hand_out_slots(domain)) return true;
    make_young(domain);
  }
  return take_free_slots(domain);
}

void bxr_domain_retire(struct bxr_domain *domain) {
  struct bxr_pool *pool = domain->current;
  if (pool == NULL) return;
  if (domain->listed.count != 0) make_young(domain);
  take_back_slots(domain);
  domain->current = NULL;
  file_pool(domain, pool, bxr_pool_used(pool));
}

/* Removes and returns the first pool of a list, if it is open or `may_be_closed` is true. Later
   pools are not tried: if the first one is closed, most of them are. */
static struct bxr_pool *pop_pool(struct bxr_link *list, bool may_be_closed) {
  if (bxr_list_is_empty(list)) return NULL;
  struct bxr_pool *pool = bxr_list_pool(list->next);
  if (!bxr_barrier_try_open(pool) && !may_be_closed) return NULL;
  bxr_list_remove(pool);
  return pool;
}

static struct bxr_pool *pop_empty_pool(struct bxr_domain *domain, bool may_be_closed) {
  struct bxr_pool *pool = pop_pool(&domain->empty, may_be_closed);
  if (pool != NULL && --domain->empty_count < domain->empty_low)
    domain->empty_low = domain->empty_count;
  return pool;
}

static struct bxr_pool *carve_pool(struct bxr_domain *domain) {
  if (domain->region == domain->region_end) {
    char *region = bxr_os_map(REGION_SIZE, REGION_SIZE);
    if (region == NULL) return NULL;
    domain->region = region;
    domain->region_end = region + REGION_SIZE;
  }
  struct bxr_pool *pool = bxr_pool_from((uintptr_t)domain->region);
  domain->region += BXR_POOL_SIZE;
  bxr_pool_init(pool, domain);
  bxr_domain_add_pools(domain, 1);
  return pool;
}

bool bxr_domain_choose(struct bxr_domain *domain) {
  /* Young pools first: the next minor scan visits them anyway. */
  struct bxr_pool *pool = pop_pool(&domain->young_partial, false);
  if (pool == NULL) pool = pop_pool(&domain->old_partial, false);
  if (pool == NULL) pool = pop_empty_pool(domain, false);
  /* Deletes in a closed pool are slower, but new memory is worse. */
  if (pool == NULL) pool = pop_pool(&domain->old_partial, true);
  if (pool == NULL) pool = pop_empty_pool(domain, true);
  if (pool == NULL) pool = carve_pool(domain);
  if (pool == NULL) return false;
  set_current(domain, pool);
  make_young(domain);
  return take_free_slots(domain);
}

void bxr_domain_promote(struct bxr_domain *domain, void (*visit)(struct bxr_pool *, void *),
                        void *context) {
  struct bxr_link *lists[][2] = {{&domain->young, &domain->old},
                                 {&domain->young_partial, &domain->old_partial}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    struct bxr_link *young = lists[i][0];
    for (struct bxr_link *link = young->next; link != young; link = link->next) {
      visit(bxr_list_pool(link), context);
      bxr_list_pool(link)->head.young = false;
    }
    bxr_list_splice(lists[i][1], young);
  }
  domain->until_sample = BXR_UNDRAWN; /* slots that were handed out are taken back */
  struct bxr_pool *current = domain->current;
  if (current == NULL) return;
  if (current->head.young) visit(current, context);
  current->head.young = false;
  take_back_slots(domain);
}

/* ---- another record's pools ---- */

/* Moves a list of pools to the domain. */
static void take_pools(struct bxr_domain *domain, struct bxr_link *to, struct bxr_link *from) {
  for (struct bxr_link *link = from->next; link != from; link = link->next)
    bxr_pool_set_owner(bxr_list_pool(link), domain);
  bxr_list_splice(to, from);
}

void bxr_domain_take_pools(struct bxr_domain *domain, struct bxr_domain *from) {
  BXR_ASSERT(from->current == NULL);
  take_pools(domain, &domain->young, &from->young);
  take_pools(domain, &domain->young_partial, &from->young_partial);
  take_pools(domain, &domain->old, &from->old);
  take_pools(domain, &domain->old_partial, &from->old_partial);
  take_pools(domain, &domain->empty, &from->empty);
  domain->empty_count += from->empty_count;
  from->empty_count = from->empty_low = from->unneeded = 0;
  bxr_list_splice(domain->waiting.prev, &from->waiting);
  domain->waiting_count += from->waiting_count;
  from->waiting_count = 0;
  size_t pools = from->pool_count;
  bxr_domain_add_pools(from, 0 - pools);
  bxr_domain_add_pools(domain, pools);
  bxr_domain_count(&domain->pools_adopted, pools);
  bxr_domain_publish(from, (struct bxr_census){0});
}

/* ---- the end of a cycle ---- */

static void open_pool(struct bxr_pool *pool, void *context) {
  (void)context;
  bxr_barrier_open(pool);
}

void bxr_domain_open_pools(struct bxr_domain *domain) {
  bxr_domain_each_pool(domain, open_pool, NULL);
}

void bxr_domain_end_marking(struct bxr_domain *domain) {
  domain->darkened = bxr_runtime_cycle();
  bxr_domain_open_pools(domain);
  if (domain->directory != NULL && bxr_os_unmap(domain->directory, domain->directory_size)) {
    domain->directory = NULL;
    domain->directory_size = 0;
  }
}
