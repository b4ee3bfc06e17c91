/* SPDX-License-Identifier: MIT */
/* Promotion, trimming, orphans and adoption: no OCaml runtime runs. */
#include "domain.h"
#include "os.h"
#include "setup.h"
#include "test.h"

static boxroot create(struct bxr_domain *domain) {
  struct bxr_pool *pool = bxr_domain_current(domain);
  if (pool == NULL || pool->head.free == NULL) pool = bxr_domain_next_pool(domain);
  CHECK(pool != NULL);
  return bxr_pop(&pool->head, Val_unit);
}

static uint32_t length(struct bxr_link *list) {
  uint32_t n = 0;
  for (struct bxr_link *link = list->next; link != list; link = link->next) n++;
  return n;
}

static void add_used(struct bxr_pool *pool, void *sum) { *(size_t *)sum += bxr_pool_used(pool); }

static size_t used(struct bxr_domain *domain) {
  size_t sum = 0;
  bxr_domain_each_pool(domain, add_used, &sum);
  return sum;
}

void test_domain_promotion(void) {
  struct bxr_domain *domain = bxr_domain_obtain();
  for (uint32_t i = 0; i < 3 * BXR_SLOTS + 10; i++) create(domain);
  struct bxr_pool *current = bxr_domain_current(domain);
  CHECK(length(&domain->young) == 3 && length(&domain->old) == 0);
  CHECK(current->head.epoch == domain->head.epoch);
  bxr_domain_promote(domain);
  CHECK(length(&domain->young) == 0 && length(&domain->old) == 3);
  CHECK(domain->parked == current && bxr_domain_current(domain) == NULL);
  CHECK(current->head.epoch != domain->head.epoch);
  /* The next create goes on in the parked pool, which becomes young again. */
  create(domain);
  CHECK(domain->parked == NULL && bxr_domain_current(domain) == current);
  CHECK(current->head.epoch == domain->head.epoch && bxr_pool_used(current) == 11);
  CHECK(used(domain) == 3 * BXR_SLOTS + 11);
}

void test_domain_trim(void) {
  static boxroot roots[1 << 16];
  struct bxr_domain *domain = bxr_domain_obtain();
  uint32_t n = 4 * BXR_SLOTS;
  CHECK(n < sizeof roots / sizeof roots[0]);
  for (uint32_t i = 0; i < n; i++) roots[i] = create(domain);
  create(domain);
  for (uint32_t i = 0; i < n; i++) bxr_pool_free(bxr_pool_of_head(bxr_pool_of(roots[i])), roots[i]);
  CHECK(domain->empty_count == 4 && domain->pool_count == 5);
  /* They became empty just now: a cycle without them is needed first. */
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == 5);
  for (uint32_t i = 0; i < BXR_SLOTS; i++) create(domain);
  bxr_domain_trim(domain);
  CHECK(domain->pool_count == 2 && domain->empty_count == 0);
}

void test_domain_orphans(void) {
  struct bxr_domain *a = bxr_domain_obtain(), *b = bxr_domain_obtain(), *c = bxr_domain_obtain();
  static boxroot roots[1 << 16];
  uint32_t n = 2 * BXR_SLOTS + 5;
  for (uint32_t i = 0; i < n; i++) roots[i] = create(a);
  bxr_domain_promote(a);
  for (uint32_t i = 0; i < n; i++) create(b);
  for (int i = 0; i < 10; i++) bxr_domain_promote(c); /* so that epochs differ */
  create(c);
  bxr_domain_delete_remotely(roots[7]);
  bxr_domain_orphan(a);
  bxr_domain_delete_remotely(roots[8]);
  bxr_domain_orphan(b);
  CHECK(bxr_domain_has_orphans());
  CHECK(bxr_domain_adopt(c) == c && !bxr_domain_has_orphans());
  CHECK(a->pool_count == 0 && b->pool_count == 0 && used(c) == 2 * n + 1);
  CHECK(c->pools_adopted == 6);
  /* Old stays old, young stays young. */
  CHECK(length(&c->old) == 2 && length(&c->young) == 2);
  CHECK(bxr_list_pool(c->old.next)->head.epoch == 0);
  CHECK(bxr_list_pool(c->young.next)->head.epoch == c->head.epoch);
  CHECK(length(&c->old_partial) == 1 && length(&c->young_partial) == 1);
  bxr_domain_drain(c);
  CHECK(used(c) == 2 * n - 1);
  /* A delete that comes after the adoption goes to the adopter. */
  bxr_domain_delete_remotely(roots[9]);
  CHECK(a->drain == NULL && c->drain != NULL);
  bxr_domain_drain(c);
  CHECK(used(c) == 2 * n - 2);
  /* A domain without a record takes an orphan as it is. */
  bxr_domain_orphan(c);
  CHECK(bxr_domain_adopt(NULL) == c && used(c) == 2 * n - 2);
  /* Records are used again. */
  struct bxr_domain *d = bxr_domain_obtain(), *e = bxr_domain_obtain();
  CHECK((d == a && e == b) || (d == b && e == a));
}

/* Deletes of another domain's roots are sent by words of 64 neighbouring slots. */
void test_domain_batches(void) {
  struct bxr_domain *owner = bxr_domain_obtain(), *other = bxr_domain_obtain();
  static boxroot roots[200];
  for (int i = 0; i < 200; i++) roots[i] = create(owner);
  struct bxr_pool *pool = bxr_pool_of_head(bxr_pool_of(roots[0]));
  int first = 0;
  while (bxr_batch_of(roots[first]).word != 1) first++;
  for (int i = 0; i < 64; i++) bxr_domain_delete_batched(other, roots[first + i]);
  CHECK(pool->announced == 0 && owner->drain == NULL && used(owner) == 200);
  bxr_domain_delete_batched(other, roots[first + 64]);
  CHECK(pool->announced == 64 && owner->drain == pool);
  bxr_domain_drain(owner);
  CHECK(pool->announced == 0 && used(owner) == 136);
  bxr_domain_orphan(other);
  CHECK(pool->announced == 1 && owner->drain == pool && other->outgoing.bits == 0);
  bxr_domain_drain(owner);
  CHECK(used(owner) == 135 && owner->deferred_deletes == 65);
}

/* A pool that a late delete put on the list of a record whose pools have moved on is
   passed on to its owner. */
void test_domain_late_delete(void) {
  struct bxr_domain *a = bxr_domain_obtain(), *b = bxr_domain_obtain();
  boxroot root = create(a);
  create(a);
  create(b);
  struct bxr_pool *pool = bxr_pool_of_head(bxr_pool_of(root));
  bxr_domain_orphan(a);
  bxr_domain_adopt(b);
  /* As if the deleter had read the owner before the adoption. */
  CHECK(bxr_pool_announce(bxr_batch_of(root)));
  pool->next_to_drain = NULL;
  a->drain = pool;
  bxr_pool_post(bxr_batch_of(root));
  bxr_domain_drain(a);
  CHECK(a->drain == NULL && b->drain == pool);
  bxr_domain_drain(b);
  CHECK(used(b) == 2);
}

/* How many records have a directory mapped. */
size_t test_directories(void) {
  size_t n = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    n += d->directory != NULL;
  return n;
}

/* Calls meanwhile() while the lists of the calling domain's pools are as they are after the first
   store of a promotion: the list of young pools does not come back to its start. */
void test_in_the_midst_of_a_promotion(void (*meanwhile)(void)) {
  struct bxr_domain *domain = bxr_enter();
  CHECK(!bxr_list_is_empty(&domain->young) && !bxr_list_is_empty(&domain->old));
  domain->young.prev->next = domain->old.next;
  meanwhile();
  domain->young.prev->next = &domain->young;
}
