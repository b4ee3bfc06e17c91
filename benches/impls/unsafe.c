/* Ours without the check for the lock: right only while one thread of one domain uses roots, never
   in a root scan. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>

#include "implementation.h"

static struct bxr_domain_head *self; /* the only domain's */

static void unsafe_prepare(void) {
  if (!boxroot_setup()) abort();
  self = bxr_domain_attach();
  if (self == NULL) abort();
}

static cell unsafe_new_cell(value v) {
  struct bxr_pool_head *pool = self->current;
  boxroot r = BXR_LIKELY(pool->free != NULL) ? bxr_pop(pool, v) : bxr_create_slow(v);
  return (cell)r;
}

static void unsafe_delete_cell(cell c) {
  boxroot r = (boxroot)c;
  struct bxr_pool_head *pool = bxr_pool_of(r);
  if (BXR_LIKELY(pool == self->uncounted)) {
    bxr_push(pool, r);
  } else if (BXR_LIKELY(pool->fast_owner == self)) {
    bxr_push(pool, r);
    if (!BXR_LIKELY(--pool->countdown != 0)) bxr_domain_refile(pool);
  } else {
    bxr_delete_slow(r); /* the pool is being marked */
  }
}

static cell unsafe_modify_cell(cell c, value v) {
  boxroot r = (boxroot)c;
  struct bxr_pool_head *pool = bxr_pool_of(r);
  if (!BXR_LIKELY(pool->fast_owner == self &&
                  (pool->epoch == self->epoch || !bxr_may_be_in(bxr_minor_heap(), v))))
    return (cell)bxr_modify_slow(r, v);
  *c = v;
  return c;
}

#define CELL(name) unsafe_##name
#define CELL_NAME "unsafe"
#include "cell.h"
