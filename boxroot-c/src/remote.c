/* SPDX-License-Identifier: MIT */
/* Remote deletes: the argument. Its steps have their numbers in the code below and in orphans.c.
   `make model` checks it, with these numbers (boxroot-c/model).

   Who uses the shared fields of a pool P and of a record R: P's *owner*; *deleters*, any other threads;
   *adopters*, which are domains in a minor scan that take over the pools of domains that have ended.

   A deleter of roots of P, whose bits are in one word of P.pending,
     (1) announces: adds their number to P.announced;
     (2) if that was 0, pushes P on the drain list of P's owner:
         (i) reads P's owner R, (ii) reads R.merges, (iii) reads P's owner again, until it is R still,
         (iv) pushes P on R.drain, (v) reads R.merges again, and if that has changed, takes R's whole
         drain list and pushes each of its pools anew: the *rescue*;
     (3) posts: sets their bits in P.pending, its last access to P.
   An owner R drains: it (A) takes its whole drain list, and for each pool P of it that it still owns
     (B) clears the bits that it finds in P.pending, (C) frees those slots, (D) subtracts their
     number from P.announced, and (E) pushes P again, as in (2), if the result is not 0; and also a
     pool that it does not own any more.
   An adopter of R's pools (a) sets each pool's owner, (b) increments R.merges, (c) takes R's drain
     list, and pushes each of its pools, as in (2).

   1. A drain list holds a pool at most once. The right to push P belongs to the deleter that moved
      P.announced from 0, or to the thread that took P from a list and has not brought P.announced
      to 0. These exclude each other, for P.announced is 0 between the two.
   2. No delete is forgotten. While P.announced is not 0, P is on a list or in the hands of a thread
      that will push it (1, 4), and the owner of that list will drain it.
   3. P stays mapped while a deleter uses it. Before (1) the slots of its roots are in use. After (1) the
      owner cannot bring P.announced to 0, nor free those slots, before it has seen the bits of (3).
      An empty pool has no live root, and no delete that is announced. After (iv) the pusher touches
      R, which is never unmapped, and not P.
   4. A push that races with an adoption is not lost. If (b) is after (v), then (c) is after (iv), and
      finds P. If (b) is between (ii) and (v), the pusher notices, and takes R's list itself. If (b)
      is before (ii), then (a) is before (iii), and the pusher would have read another owner; unless P
      came back to R, which is its owner then. The order is that of the sequentially consistent
      operations, which all of these are.
   5. No ABA problem: drain lists are only pushed on, and taken as a whole.
   6. A root scan needs no care. A remote delete does not change the slot, so the collector still sees
      a value there. Slots are freed before a minor scan, or when the owner looks for a pool.
   7. A fork copies the process in the midst of this. In the child no deleter is left, so the owner
      brings P.announced and the drain list in line with the bits of P.pending. Deletes that were
      announced and not posted, or that other domains had collected, leave their roots alive there. */
#include "remote.h"

/* ---- the drain lists ---- */

static void push(struct bxr_domain *owner, struct bxr_pool *pool) {
  pool->next_to_drain = bxr_peek(&owner->drain);
  while (!bxr_compare_exchange(&owner->drain, &pool->next_to_drain, pool)) {} /* (iv) */
}

static struct bxr_pool *take_list(struct bxr_domain *owner) {
  return bxr_exchange(&owner->drain, NULL);
}

/* Pushes a pool on its owner's drain list. If all of that owner's pools moved meanwhile, returns what
   is on its list, to be pushed anew: the adopter may have looked at the list before the push. */
static struct bxr_pool *push_to_owner(struct bxr_pool *pool) {
  struct bxr_domain *owner;
  uint64_t merges;
  do {
    owner = bxr_pool_owner(pool);          /* (i) */
    merges = bxr_load(&owner->merges);     /* (ii) */
  } while (bxr_pool_owner(pool) != owner); /* (iii) */
  push(owner, pool);
  if (bxr_load(&owner->merges) == merges) return NULL; /* (v) */
  return take_list(owner);
}

/* Pushes pools whose places in a list are the caller's on their owners' lists. A pool is not touched
   after it was pushed: its owner may unmap it. */
static void push_all(struct bxr_pool *list) {
  while (list != NULL) {
    struct bxr_pool *pool = list;
    list = pool->next_to_drain;
    struct bxr_pool *rescued = push_to_owner(pool);
    if (rescued == NULL) continue;
    struct bxr_pool *last = rescued;
    while (last->next_to_drain != NULL) last = last->next_to_drain;
    last->next_to_drain = list;
    list = rescued;
  }
}

/* Pushes one pool. */
static void push_one(struct bxr_pool *pool) {
  pool->next_to_drain = NULL;
  push_all(pool);
}

/* ---- deleters ---- */

struct bxr_batch bxr_remote_batch_of(boxroot r) {
  size_t word = ((uintptr_t)r & (BXR_POOL_SIZE - 1)) / sizeof(value);
  return (struct bxr_batch){bxr_pool_of_root(r), word / 64, (uint64_t)1 << (word % 64)};
}

bool bxr_remote_announce(struct bxr_batch batch) {
  uint64_t count = (uint64_t)__builtin_popcountll(batch.bits);
  return bxr_add(&batch.pool->announced, count) == 0; /* (1) */
}

void bxr_remote_post(struct bxr_batch batch) {
  bxr_or(&batch.pool->pending[batch.word], batch.bits); /* (3) */
}

static void deliver(struct bxr_batch batch) {
  if (bxr_remote_announce(batch)) push_one(batch.pool); /* (2) */
  bxr_remote_post(batch);
}

void bxr_remote_delete(boxroot r) { deliver(bxr_remote_batch_of(r)); }

void bxr_remote_delete_batched(struct bxr_domain *self, boxroot r) {
  struct bxr_batch batch = bxr_remote_batch_of(r);
  if (batch.pool == self->outgoing.pool && batch.word == self->outgoing.word) {
    self->outgoing.bits |= batch.bits;
    return;
  }
  bxr_remote_flush(self);
  self->outgoing = batch;
  self->head.remote_pool = &batch.pool->head;
}

void bxr_remote_flush(struct bxr_domain *self) {
  struct bxr_batch batch = self->outgoing;
  self->outgoing = (struct bxr_batch){0};
  self->head.remote_pool = NULL;
  if (batch.bits != 0) deliver(batch);
}

/* ---- owners ---- */

/* Frees the slots posted so far. True if deletes remain that are announced and not posted. */
static bool harvest(struct bxr_domain *domain, struct bxr_pool *pool) {
  uint64_t count = 0;
  for (size_t i = 0; i < BXR_PENDING_WORDS; i++) {
    if (bxr_peek(&pool->pending[i]) == 0) continue;
    uintptr_t *words = (uintptr_t *)pool + 64 * i;
    uint64_t bits = bxr_exchange(&pool->pending[i], 0); /* (B) */
    for (; bits != 0; bits &= bits - 1, count++)
      bxr_domain_free(domain, (boxroot)(words + __builtin_ctzll(bits))); /* (C) */
  }
  bxr_domain_count(&domain->deferred_deletes, count);
  uint64_t announced = bxr_add(&pool->announced, 0 - count); /* (D) */
  BXR_ASSERT(announced >= count && announced != 0);
  return announced != count;
}

void bxr_remote_drain(struct bxr_domain *domain) {
  if (bxr_peek(&domain->drain) == NULL) return;
  struct bxr_pool *next;
  for (struct bxr_pool *pool = take_list(domain); pool != NULL; pool = next) { /* (A) */
    next = pool->next_to_drain;
    if (bxr_pool_owner(pool) != domain || bxr_domain_must_wait(domain, pool) ||
        harvest(domain, pool))
      push_one(pool); /* (E) */
  }
}

/* ---- adopters ---- */

void bxr_remote_forward(struct bxr_domain *from) {
  bxr_add(&from->merges, 1); /* (b) */
  push_all(take_list(from)); /* (c) */
}

/* ---- fork ---- */

static void announce_posted(struct bxr_pool *pool, void *domain) {
  uint64_t posted = 0;
  for (size_t i = 0; i < BXR_PENDING_WORDS; i++)
    posted += (uint64_t)__builtin_popcountll(pool->pending[i]);
  pool->announced = posted;
  if (posted != 0) push(domain, pool);
}

void bxr_remote_after_fork(struct bxr_domain *domain) {
  domain->drain = NULL;
  bxr_domain_each_pool(domain, announce_posted, domain);
}
