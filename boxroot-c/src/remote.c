/* SPDX-License-Identifier: MIT */
/* Remote deletes: the protocol, and the argument why it is correct. Its steps and claims have
   names, which the code below and orphans.c repeat. `make model` checks it under the same names
   (boxroot-c/test/model).

   The shared fields of a pool P and of a record R are used by P's *owner*, by *deleters*, which are
   any other threads, and by *adopters*: domains in a minor scan, which take over the pools of
   domains that have ended.

   A deleter of roots of P, whose bits are in one word of P.pending,
     announce:    adds their number to P.announced;
     push:        if that was 0, pushes P on the drain list of P's owner:
       read-owner:    reads P's owner R;
       read-merges:   reads R.merges;
       same-owner:    reads P's owner again, and starts over at read-owner if that is not R;
       link:          pushes P on R.drain;
       rescue:        reads R.merges again, and if that has changed, takes R's whole drain list and
                      pushes each of its pools anew;
     post:        sets their bits in P.pending, its last access to P.
   An owner R drains:
     take:        it takes its whole drain list, and for each pool P of it that it still owns
     clear:       it clears the bits that it finds in P.pending,
     free:        it frees those slots,
     settle:      it subtracts their number from P.announced,
     push-again:  and it pushes P again, as in `push`, if the result is not 0. It also pushes the
                  pools that it no longer owns.
   If the marker may still have to visit P, then `free` only notes that those slots wait
   (waiting.h). Pools that were taken, but not looked at for lack of time, stay between `take` and
   `clear`, on a list that only R's owner uses. When R's domain ends, these are pushed again. An
   adopter of R's pools
     give:        sets each pool's owner,
     count-merge: increments R.merges,
     forward:     takes R's drain list, and pushes each of its pools, as in `push`.

   Why this is correct:

   once: A drain list holds a pool at most once. The right to push P (in the code: the pool's
      *place* in a list) belongs to the deleter that moved P.announced from 0, or to the thread that
      took P from a list and has not brought P.announced to 0. These two exclude each other, because
      P.announced is 0 between them.
   none-forgotten: No delete is forgotten. While P.announced is not 0, P is on a list, or is in the
      hands of a thread that will push it (once, no-lost-push); and the owner of that list will
      drain it.
   stays-mapped: P stays mapped while a deleter uses it. Before `announce` the slots of the roots
      that it deletes are in use. After it, the owner can neither bring P.announced to 0 nor free
      those slots before it has seen the bits of `post`. An empty pool has neither a live root nor
      an announced delete. After `link` the push does not touch P, only R, which is never unmapped.
   no-lost-push: A push that races with an adoption is not lost. If `count-merge` is after `rescue`,
      then `forward` is after `link`, and finds P. If `count-merge` is between `read-merges` and
      `rescue`, the pusher notices, and takes R's list itself. If `count-merge` is before
      `read-merges`, then `give` is before `same-owner`, and the pusher reads another owner there;
      or it reads R, because P came back to R, and then R's list is the right one. "Before" is the
      order of the sequentially consistent operations; all of these are.
   no-ABA: Pools are pushed one by one, and only whole drain lists are taken.
   scans: A root scan needs no care. A remote delete does not change the slot, so the collector
      still sees a value there. Slots are freed before a minor scan reads them, or by the owner
      outside scans.
   fork: A fork may copy the process in the middle of these steps. In the child no deleter is left,
      so the owner recomputes P.announced and the drain list from the bits of P.pending. In the
      child, roots stay alive if their deletes were announced but not posted, or collected by other
      domains.
   darken-first: A deleter's own roots may be darkened earlier in a cycle than those of the owner.
      In between, it may copy the value of the owner's root to a place that the marker has already
      visited, and then delete the root. So the owner must still darken that root: once any domain's
      roots have been darkened, it takes nothing from its drain list until its own have been. (From
      OCaml 5.5 on, and in OxCaml, other domains run in between. In the owner, hooks may run.) */
#include "remote.h"

#include "barrier.h"
#include "runtime.h"

/* ---- the drain lists ---- */

static void drain_push(struct bxr_domain *owner, struct bxr_pool *pool) {
  pool->next_to_drain = bxr_peek(&owner->drain);
  while (!bxr_compare_exchange(&owner->drain, &pool->next_to_drain, pool)) {} /* link */
}

static struct bxr_pool *drain_take(struct bxr_domain *owner) {
  return bxr_exchange(&owner->drain, NULL);
}

/* Pushes a pool on its owner's drain list. If all pools of that owner moved to another owner
   meanwhile, takes and returns its drain list, which must be pushed anew: the adopter may have
   taken the list before this push. */
static struct bxr_pool *drain_push_to_owner(struct bxr_pool *pool) {
  struct bxr_domain *owner;
  uint64_t merges;
  do {
    owner = bxr_pool_owner(pool);          /* read-owner */
    merges = bxr_load(&owner->merges);     /* read-merges */
  } while (bxr_pool_owner(pool) != owner); /* same-owner */
  drain_push(owner, pool);
  if (bxr_load(&owner->merges) == merges) return NULL; /* rescue */
  return drain_take(owner);
}

/* Pushes pools, whose places in a list the caller holds, on their owners' drain lists. A pool is
   not touched after it was pushed, because its owner may unmap it. */
static void drain_push_all(struct bxr_pool *list) {
  while (list != NULL) {
    struct bxr_pool *pool = list;
    list = pool->next_to_drain;
    struct bxr_pool *rescued = drain_push_to_owner(pool);
    if (rescued == NULL) continue;
    struct bxr_pool *last = rescued;
    while (last->next_to_drain != NULL) last = last->next_to_drain;
    last->next_to_drain = list;
    list = rescued;
  }
}

/* Pushes one pool. */
static void drain_push_one(struct bxr_pool *pool) {
  pool->next_to_drain = NULL;
  drain_push_all(pool);
}

/* ---- deleters ---- */

bool bxr_remote_announce(struct bxr_batch batch) {
  return bxr_add(&bxr_pool_of_batch(batch)->announced, bxr_count_bits(batch.bits)) ==
         0; /* announce */
}

void bxr_remote_post(struct bxr_batch batch) {
  bxr_or(&bxr_pool_pending(bxr_pool_of_batch(batch))[bxr_batch_word(batch)], batch.bits); /* post */
}

static void deliver_batch(struct bxr_batch batch) {
  if (bxr_remote_announce(batch)) drain_push_one(bxr_pool_of_batch(batch)); /* push */
  bxr_remote_post(batch);
}

void bxr_remote_delete(boxroot r) { deliver_batch(bxr_batch_of(r)); }

/* Adds the batch that is being collected to the complete ones. */
static void end_batch(struct bxr_domain *self) {
  struct bxr_batch *outgoing = &self->head.outgoing;
  if (outgoing->bits == 0) return;
  struct bxr_batch *batch = &self->batches[self->batch_count++];
  /* One load of both fields would wait until the stores to them have reached the cache. */
  batch->start = bxr_peek(&outgoing->start);
  batch->bits = bxr_peek(&outgoing->bits);
  *outgoing = (struct bxr_batch){0};
}

void bxr_remote_collect(struct bxr_domain *self, boxroot r) {
  if (bxr_delete_beside(&self->head, r)) return;
  end_batch(self);
  if (self->batch_count == BXR_BATCHES) {
    bxr_remote_flush(self);
    if (bxr_runtime_marking_done()) self->marking = false; /* so that the next deletes check */
  }
  self->head.outgoing = bxr_batch_of(r);
}

/* Whether the pool belongs to self. Reads only the cache line that the deletes have read
   already. */
static bool is_own(struct bxr_domain *self, struct bxr_pool *pool) {
  struct bxr_domain_head *owner = bxr_peek(&pool->head.fast_owner);
  return owner == &self->head || owner == bxr_owner_of_closed(&self->head);
}

/* In this loop, the processor can wait for the pools of many batches at the same time. */
void bxr_remote_flush(struct bxr_domain *self) {
  end_batch(self);
  uint64_t waiting = 0;
  for (uint32_t i = 0; i < self->batch_count; i++) {
    struct bxr_batch batch = self->batches[i];
    struct bxr_pool *pool = bxr_pool_of_batch(batch);
    if (is_own(self, pool))
      waiting += bxr_waiting_add(pool, bxr_batch_word(batch), batch.bits);
    else
      deliver_batch(batch);
  }
  self->batch_count = 0;
  bxr_domain_count(&self->barrier_hits, waiting);
}

/* ---- owners ---- */

/* Makes slots that were deleted remotely wait for the marker. */
static void let_slots_wait(struct bxr_pool *pool, uint64_t const posted[BXR_BITS_WORDS]) {
  for (size_t i = 0; i < BXR_BITS_WORDS; i++)
    if (posted[i] != 0) bxr_waiting_add(pool, i, posted[i]);
}

/* Frees the slots posted so far, or makes them wait if the pool is closed. Returns true if some
   announced deletes are not posted yet. */
static bool harvest_pool(struct bxr_domain *domain, struct bxr_pool *pool, bool open) {
  uint64_t posted[BXR_BITS_WORDS], count = 0;
  for (size_t i = 0; i < BXR_BITS_WORDS; i++) {
    posted[i] = bxr_peek(&bxr_pool_pending(pool)[i]);
    if (posted[i] == 0) continue;
    posted[i] = bxr_exchange(&bxr_pool_pending(pool)[i], 0); /* clear */
    count += bxr_count_bits(posted[i]);
  }
  if (open) {
    bxr_domain_free_all(pool, posted, count); /* free */
    bxr_domain_count(&domain->deferred_deletes, count);
  } else {
    let_slots_wait(pool, posted); /* free */
  }
  uint64_t announced = bxr_add(&pool->announced, 0 - count); /* settle */
  BXR_ASSERT(announced >= count && announced != 0);
  return announced != count;
}

/* The cost of freeing a pool's slots. The cost of making them wait is 1. */
enum { TO_FREE = 4 };

/* Drains pools that were taken from the drain list, until their cost has used up *work. */
static void drain_taken_pools(struct bxr_domain *domain, size_t *work) {
  while (domain->draining != NULL && *work > 0) {
    struct bxr_pool *pool = domain->draining;
    domain->draining = pool->next_to_drain;
    bool own = bxr_pool_owner(pool) == domain;
    bool open = own && bxr_barrier_try_open(pool);
    size_t cost = open ? TO_FREE : 1;
    *work -= cost < *work ? cost : *work;
    if (!own || harvest_pool(domain, pool, open)) drain_push_one(pool); /* push-again */
  }
}

static void drain_pools(struct bxr_domain *domain, size_t work) {
  drain_taken_pools(domain, &work);
  if (domain->draining != NULL || bxr_peek(&domain->drain) == NULL) return;
  domain->draining = drain_take(domain); /* take */
  drain_taken_pools(domain, &work);
}

/* Drains `remote` pools, or more if their slots must wait. Then frees the slots that wait in up to
   `waiting` pools. */
static void drain_both(struct bxr_domain *domain, size_t remote, size_t waiting) {
  /* darken-first */
  if (bxr_runtime_marking_started() && domain->darkened != bxr_runtime_cycle()) return;
  drain_pools(domain, remote < SIZE_MAX / TO_FREE ? TO_FREE * remote : SIZE_MAX);
  bxr_waiting_free(domain, waiting);
}

/* The drain list holds no more pools than the domain has, apart from some pushed by late
   deletes. */
void bxr_remote_drain_more(struct bxr_domain *domain, size_t n) {
  drain_both(domain, bxr_waiting_share(domain->pool_count) + n,
             bxr_waiting_share(domain->waiting_count) + n);
}

/* The number of pools that a create drains before it takes another pool. Between two such drains,
   creates fill at least half a pool. */
enum { OF_A_CREATE = 8 };

void bxr_remote_drain_a_few(struct bxr_domain *domain) {
  drain_both(domain, OF_A_CREATE, OF_A_CREATE);
}

void bxr_remote_put_back(struct bxr_domain *domain) {
  drain_push_all(domain->draining);
  domain->draining = NULL;
}

/* ---- adopters ---- */

void bxr_remote_forward(struct bxr_domain *from) {
  bxr_add(&from->merges, 1);        /* count-merge */
  drain_push_all(drain_take(from)); /* forward */
}

/* ---- fork ---- */

static void announce_posted(struct bxr_pool *pool, void *domain) {
  pool->announced = bxr_pool_posted(pool);
  if (pool->announced != 0) drain_push(domain, pool);
}

void bxr_remote_after_fork(struct bxr_domain *domain) {
  domain->drain = domain->draining = NULL;
  bxr_domain_each_pool(domain, announce_posted, domain);
}
