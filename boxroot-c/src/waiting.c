/* SPDX-License-Identifier: MIT */
/* The words in comments at the code are those of waiting.h. */
#include "waiting.h"

#include <string.h>

#include "barrier.h"
#include "runtime.h"

static struct bxr_pool *pool_of_link(struct bxr_link *link) {
  return (struct bxr_pool *)((char *)link - offsetof(struct bxr_pool, waits));
}

/* Whether the slots that wait may be freed (ripe). */
static bool is_ripe(struct bxr_pool *pool) {
  return bxr_barrier_try_open(pool) || !pool->waits_in_snapshot;
}

/* The pool does not wait any more. */
static void free_slots(struct bxr_domain *domain, struct bxr_pool *pool) {
  uint64_t *bits = pool->waiting_bits;
  bxr_list_unlink(&pool->waits);
  domain->waiting_count--;
  bxr_domain_count(&domain->deferred_deletes, pool->waiting);
  bxr_domain_free_all(pool, bits, pool->waiting);
  pool->waiting = 0;
  pool->waits_in_snapshot = false;
  memset(bits, 0, BXR_BITS_SIZE);
}

/* Slots of the pool are about to begin to wait, for the first time since it was handed over last. */
__attribute__((noinline)) static void prepare_pool(struct bxr_pool *pool) {
  struct bxr_domain *domain = bxr_pool_owner(pool);
  if (pool->waiting != 0 && is_ripe(pool)) free_slots(domain, pool); /* all-alike */
  if (pool->waiting == 0) {
    bxr_list_insert(domain->waiting.prev, &pool->waits);
    domain->waiting_count++;
  }
  pool->waits_in_snapshot = true;
}

/* These `count` slots of the pool, bits of word `word`, wait from now on. */
static inline void begin(struct bxr_pool *pool, size_t word, uint64_t bits, uint64_t count) {
  if (!pool->waits_in_snapshot) prepare_pool(pool);
  pool->waiting_bits[word] |= bits;
  pool->waiting += (uint32_t)count;
}

void bxr_waiting_add(struct bxr_pool *pool, size_t word, uint64_t bits) {
  begin(pool, word, bits, bxr_count_bits(bits));
}

void bxr_waiting_begin(struct bxr_domain *self, struct bxr_batch batch) {
  uint64_t count = bxr_count_bits(batch.bits);
  begin(bxr_pool_of_batch(batch), bxr_batch_word(batch), batch.bits, count);
  bxr_domain_count(&self->barrier_hits, count);
}

void bxr_waiting_delete(struct bxr_domain *self, boxroot r) {
  struct bxr_batch batch = bxr_batch_of(r);
  bxr_waiting_begin(self, batch);
  self->head.outgoing.start = batch.start;
}

void bxr_waiting_carry_out(struct bxr_domain *self) {
  for (uint32_t i = 0; i < self->noted; i++) {
    struct bxr_batch batch = bxr_batch_of(self->notes[i]);
    begin(bxr_pool_of_batch(batch), bxr_batch_word(batch), batch.bits, 1);
  }
  bxr_domain_count(&self->barrier_hits, self->noted);
  self->noted = 0;
}

void bxr_waiting_free(struct bxr_domain *domain, size_t n) {
  struct bxr_link *link = domain->waiting.next;
  for (; n > 0 && link != &domain->waiting; n--) {
    struct bxr_pool *pool = pool_of_link(link);
    link = link->next;
    if (!is_ripe(pool)) return; /* neither is any pool that began to wait later */
    free_slots(domain, pool);
  }
}
