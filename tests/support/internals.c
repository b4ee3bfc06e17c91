/* Access to the allocator's internals, for tests. */
#include <stdlib.h>

#include "remote.h"
#include "setup.h"

/* The number of records with a mapped directory. */
size_t test_directories(void) {
  size_t n = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    n += d->directory != NULL;
  return n;
}

/* The number of records with pools in their drain list. */
size_t test_drain_lists(void) {
  size_t n = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    n += d->drain != NULL;
  return n;
}

/* Begins a remote delete of r: announces it, and puts the pool on the drain list of its owner. If
   `late`, puts it on the list of a record without pools instead, as if the pool had been adopted
   after its owner was read. Returns false if there is no such record. */
bool test_begin_delete(boxroot r, bool late) {
  struct bxr_pool *pool = bxr_pool_of_root(r);
  struct bxr_domain *d = late ? bxr_domain_registry() : bxr_pool_owner(pool);
  while (late && d != NULL && d->pool_count != 0) d = d->next_registered;
  if (d == NULL || !bxr_remote_announce(bxr_batch_of(r))) return false;
  pool->next_to_drain = NULL;
  d->drain = pool;
  return true;
}

/* Whether the calling thread, which is the main one, may take the fast paths. */
bool test_fast_paths_are_open(void) {
  bxr_witness witness = BXR_WITNESS();
  struct bxr_domain_head *self = bxr_self;
  return self != &bxr_no_domain && self == bxr_owner && self->runtime_state != BXR_CLOSED &&
         BXR_IS_OPEN(self, witness);
}

static void visit_pool(struct bxr_pool *pool, void *context) { (void)pool, (void)context; }

/* Promotes all pools, as the end of a minor scan does. The caller has no root of a young block. */
void test_promote(void) { bxr_domain_promote(bxr_setup_enter(), visit_pool, NULL); }

/* Calls meanwhile() while the lists of the calling domain's pools are in the state after the first
   store of a promotion: following the list of young pools does not lead back to its start. */
void test_in_the_midst_of_a_promotion(void (*meanwhile)(void)) {
  struct bxr_domain *domain = bxr_setup_enter();
  if (bxr_list_is_empty(&domain->young) || bxr_list_is_empty(&domain->old)) abort();
  domain->young.prev->next = domain->old.next;
  meanwhile();
  domain->young.prev->next = &domain->young;
}
