/* SPDX-License-Identifier: MIT */
#include "mark.h"

#include "os.h"

/* How many more slots of a pool a slow delete darkens: one, and this part of those that were darkened
   before (docs/tuning.md). So a few deletes cost little, and after some dozens the pool is open. */
#ifndef BXR_STEP
#define BXR_STEP 16
#endif

/* ---- handing over ---- */

/* The fast paths are open to the owner, or to nobody. There are two ways in: fast_owner, and
   uncounted, for a pool may be marking over while it is current: hooks of the collector may create
   roots between the minor scan and the start of a cycle. */
static void set_marking(struct bxr_pool *pool, enum bxr_marking marking) {
  bool open = marking <= BXR_REOPENED || BXR_WITHOUT == 4;
  struct bxr_domain_head *owner = &bxr_pool_owner(pool)->head;
  pool->marking = (uint16_t)marking;
  __atomic_store_n(&pool->head.fast_owner, open ? owner : NULL, __ATOMIC_RELAXED);
  if (!open && owner->uncounted == &pool->head && BXR_WITHOUT != 17)
    owner->uncounted = bxr_no_domain.uncounted;
}

/* Makes room for one field per pool. */
static bool grow_directory(struct bxr_domain *domain) {
  size_t fields = domain->pool_count + 1; /* and a header */
  if (fields * sizeof(uintptr_t) <= domain->directory_size) return true;
  size_t page = bxr_os_page_size();
  size_t size = (2 * fields * sizeof(uintptr_t) + page - 1) / page * page;
  uintptr_t *directory = bxr_os_map(size, page);
  if (directory == NULL) return false;
  if (domain->directory != NULL) bxr_os_unmap(domain->directory, domain->directory_size);
  domain->directory = directory;
  domain->directory_size = size;
  return true;
}

struct directory {
  uintptr_t *fields;
  size_t count;
  struct bxr_census census;
};

/* With directory->fields == NULL: ends the last cycle for the pool, and no more. */
static void hand_over(struct bxr_pool *pool, void *context) {
  struct directory *directory = context;
  if (directory->fields == NULL || pool->kind == BXR_EMPTY) {
    directory->census.pools[BXR_EMPTY] += pool->kind == BXR_EMPTY;
    if (pool->marking != BXR_IDLE) set_marking(pool, BXR_IDLE);
    return;
  }
  pool->block_header = bxr_runtime_unmarked_header(BXR_WITHOUT == 1 ? BXR_SLOTS : pool->high_water);
  pool->undarkened = pool->high_water;
  set_marking(pool, BXR_ACTIVE);
  directory->fields[directory->count++] = (uintptr_t)pool->slots;
  bxr_census_add(&directory->census, pool);
}

bool bxr_mark_hand_over(struct bxr_domain *domain, struct bxr_action action) {
  struct directory directory = {0};
  /* A single pool is scanned faster than it is marking over. */
  if (bxr_runtime_marks_ranges() && domain->pool_count - domain->empty_count > 1 &&
      grow_directory(domain))
    directory.fields = domain->directory + 1;
  bxr_domain_each_pool(domain, hand_over, &directory);
  if (directory.fields == NULL) return false;
  domain->directory[0] = bxr_runtime_unmarked_header(directory.count);
  uintptr_t root = (uintptr_t)directory.fields;
  bxr_act(action, &root);
  if (!bxr_runtime_is_marked(domain->directory[0]) && BXR_WITHOUT != 7) {
    /* This runtime does not take our memory for a block. */
    directory.fields = NULL;
    bxr_domain_each_pool(domain, hand_over, &directory);
    return false;
  }
  bxr_domain_publish(domain, directory.census);
  return true;
}

void bxr_mark_end(struct bxr_domain *domain) {
  struct directory none = {0};
  bxr_domain_each_pool(domain, hand_over, &none);
  if (domain->directory != NULL && bxr_os_unmap(domain->directory, domain->directory_size)) {
    domain->directory = NULL;
    domain->directory_size = 0;
  }
}

/* ---- until marking is done ---- */

void bxr_mark_before_overwrite(struct bxr_pool *pool, boxroot r) {
  enum bxr_marking marking = bxr_mark_state(pool);
  if (marking <= BXR_REOPENED || BXR_WITHOUT == 2) return;
  bxr_domain_count(&bxr_pool_owner(pool)->barrier_hits, 1);
  bxr_runtime_darken(bxr_slot(r), 1);
  if (marking == BXR_FOREIGN) return; /* its old marker may be reading it */
  uint32_t step = 1 + (pool->high_water - pool->undarkened) / BXR_STEP;
  if (step > pool->undarkened) step = pool->undarkened;
  pool->undarkened -= step;
  bxr_runtime_darken(pool->slots + pool->undarkened, step);
  if (pool->undarkened == 0) set_marking(pool, BXR_REOPENED);
}

enum bxr_marking bxr_mark_state(struct bxr_pool *pool) {
  if (pool->marking == BXR_IDLE) return BXR_IDLE;
  /* No mark stack holds anything, or BXR_ACTIVE and BXR_REOPENED pools were pushed on the mark
     stack of the domain that owns them, in this cycle: when that domain has nothing to mark any
     more, it has marked them. */
  bool marked = BXR_WITHOUT == 3 || bxr_runtime_marking_done();
  if (!bxr_runtime_marking() || (pool->marking != BXR_FOREIGN && marked))
    set_marking(pool, BXR_IDLE);
  /* All that an empty pool held when the cycle began was darkened when it was deleted. */
  else if (pool->marking == BXR_ACTIVE && pool->kind == BXR_EMPTY)
    set_marking(pool, BXR_REOPENED);
  return (enum bxr_marking)pool->marking;
}

void bxr_mark_make_foreign(struct bxr_pool *pool) {
  if (pool->marking != BXR_IDLE) set_marking(pool, BXR_FOREIGN);
}
