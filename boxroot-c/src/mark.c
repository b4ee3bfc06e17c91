/* SPDX-License-Identifier: MIT */
#include "mark.h"

#include "os.h"

#define PAGE ((size_t)4096)

/* ---- handing over ---- */

static void reopen(struct bxr_pool *pool) {
  pool->handed = BXR_NOT_HANDED;
  __atomic_store_n(&pool->head.fast_owner, &bxr_pool_owner(pool)->head, __ATOMIC_RELAXED);
}

/* Makes room for one field per pool. */
static bool grow_directory(struct bxr_domain *domain) {
  size_t fields = domain->pool_count + 1; /* and a header */
  if (fields * sizeof(uintptr_t) <= domain->directory_size) return true;
  size_t size = (2 * fields * sizeof(uintptr_t) + PAGE - 1) / PAGE * PAGE;
  uintptr_t *directory = bxr_os_map(size, PAGE);
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
    directory->census.empty += pool->kind == BXR_EMPTY;
    if (pool->handed != BXR_NOT_HANDED) reopen(pool);
    return;
  }
  pool->block_header = bxr_runtime_unmarked_header(pool->mark);
  pool->handed = BXR_HANDED;
  __atomic_store_n(&pool->head.fast_owner, NULL, __ATOMIC_RELAXED);
  directory->fields[directory->count++] = (uintptr_t)pool->slots;
  bxr_census_add(&directory->census, pool);
}

bool bxr_mark_hand_over(struct bxr_domain *domain, struct bxr_action action) {
  struct directory directory = {0};
  /* A single pool is scanned faster than it is handed over. */
  if (bxr_runtime_marks_ranges() && domain->pool_count - domain->empty_count > 1 &&
      grow_directory(domain))
    directory.fields = domain->directory + 1;
  bxr_domain_each_pool(domain, hand_over, &directory);
  if (directory.fields == NULL) return false;
  domain->directory[0] = bxr_runtime_unmarked_header(directory.count);
  uintptr_t root = (uintptr_t)directory.fields;
  bxr_act(action, &root);
  bxr_domain_publish(domain, directory.census);
  return true;
}

/* ---- until marking is done ---- */

void bxr_mark_before_overwrite(struct bxr_pool *pool, boxroot r) {
  if (bxr_mark_state(pool) != BXR_NOT_HANDED) bxr_runtime_darken(boxroot_get(r));
}

enum bxr_handed bxr_mark_state(struct bxr_pool *pool) {
  /* BXR_HANDED pools were pushed on the mark stack of the domain that owns them, in this cycle:
     when that domain has nothing to mark any more, it has marked them. And all that an empty
     pool held at the start of the cycle was darkened when it was deleted. The marker may still
     visit it: this domain's marker only, under the same lock. */
  if (pool->handed == BXR_HANDED && (pool->kind == BXR_EMPTY || bxr_runtime_marking_done()))
    reopen(pool);
  return (enum bxr_handed)pool->handed;
}
