/* SPDX-License-Identifier: MIT */
/* Random replacement, in which memory must not grow. Roots are replaced at random through many
   cycles of the collector, on several domains, some of which come and go, and by threads without
   the lock. The pools must not grow in number, and the values of deleted roots must die.

   A *period* ends when the collector has begun a new cycle since the period began, and threads
   without the lock have deleted all roots that were sent to them. So in any two periods each domain
   hands its roots to the marker at least once. The number of deletes in a period is limited, even
   if a cycle is long: a library that leaks makes cycles longer, and would otherwise be allowed to
   leak more.

   1. A root that was deleted in one period keeps its slot until its domain's next hand-over,
      because the marker needs it. Its slot is free at the hand-over after that, which is in the
      third period after the delete at the latest. So the slots in use are those of live roots, and
      of deletes in this period and the two before.
   2. A domain makes no new pool while it has one that is half free. So when it made its last pool,
      more than half of each of its pools was in use. There are two exceptions: its current pool and
      the last one before that; and, until the end of the cycle, the pools of a domain that has
      ended. More than half of those are in use if the roots that the domain left also count as
      deleted. All domains have most roots in the same periods.
   3. A value may be marked in the last of the cycles of (1). It is not marked in the next cycle,
      and is swept in the cycle after that, in the fifth period after the delete at the latest.

   The test allows one period more for each, because a delete may reach the owner after its roots
   were handed over. */
#include "stress.h"

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/memory.h>
#include <caml/signals.h>

#include <pthread.h>
#include <stdlib.h>

/* In periods: how long a delete may wait (rule 1), and how long its value may live (rule 3). */
enum { SLOT_LASTS = 4, VALUE_LASTS = 6 };

/* The deletes in a period. After half of the roots were deleted, nothing happens until their values
   must be dead. */
enum style { SPREAD, AT_ONCE, DELETE_HALF, NOTHING };
enum { BUSY = 16, ROUND = BUSY + 1 + VALUE_LASTS };

/* Atomic. */
struct period {
  uint64_t deletes;
  uint64_t ended, left;       /* domains, and roots that they left */
  uint64_t deaths, finalised; /* of values whose root was deleted in this period */
};

static struct period *periods; /* numbered from 1 */
static uint32_t last_period, roots;
static uint32_t now;           /* the period; last_period + 1: the end. Atomic */
static uint64_t live, domains; /* Atomic */
static uint64_t most_pools;    /* the limit, according to the periods so far */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct random chance;

/* Of this period. Atomic. */
static enum style style;
static uint32_t quota;       /* of deletes */
static uint32_t old_garbage; /* one block of garbage in this many is in the major heap */

#define ADD(variable, n) __atomic_add_fetch(&(variable), (n), __ATOMIC_SEQ_CST)
#define GET(variable) __atomic_load_n(&(variable), __ATOMIC_SEQ_CST)
#define SET(variable, x) __atomic_store_n(&(variable), (x), __ATOMIC_SEQ_CST)

/* ---- values ---- */

struct contents {
  uint64_t id;
  uint32_t died; /* the period in which its root was deleted, or 0 */
};

static struct contents *contents(value v) { return Data_custom_val(v); }

static void finalise(value v) {
  uint32_t died = contents(v)->died;
  if (died == 0) fail("the value of a live root was finalised");
  ADD(periods[died].finalised, 1);
}

static struct custom_operations mortal = {
  "boxroot.stress.mortal",    finalise,
  custom_compare_default,     custom_hash_default,
  custom_serialize_default,   custom_deserialize_default,
  custom_compare_ext_default, custom_fixed_length_default,
};

/* The value of most roots, if it is not (): many roots of one value are marked quickly. */
static value the_value = Val_unit;

static bool is_mortal_id(uint64_t id) { return (id & 1) == 0; }

static value make(uint64_t id) {
  if (is_mortal_id(id)) {
    value v = caml_alloc_custom(&mortal, sizeof(struct contents), 0, 1);
    *contents(v) = (struct contents){id, 0};
    return v;
  }
  if (the_value != Val_unit) return the_value;
  value v = caml_alloc_small(1, 0);
  Field(v, 0) = (value)id;
  return v;
}

static bool is_mortal(value v, uint64_t id) {
  return Is_block(v) && Tag_val(v) == Custom_tag && Custom_ops_val(v) == &mortal &&
         contents(v)->id == id && contents(v)->died == 0;
}

static bool is_right(value v, uint64_t id) {
  if (is_mortal_id(id)) return is_mortal(v, id);
  if (the_value != Val_unit) return v == the_value;
  return Is_block(v) && Tag_val(v) == 0 && Wosize_val(v) == 1 && Field(v, 0) == (value)id;
}

/* Called when a root is about to be deleted, or sent to a thread that deletes it in this period. */
static void count_delete(uint32_t period) {
  ADD(periods[period].deletes, 1);
  ADD(live, -1);
}

/* The same, for a root whose value has no other reference. */
static void count_death(struct entry e) {
  uint32_t period = GET(now);
  value v = boxroot_get(e.root);
  if (!is_right(v, e.id))
    fail("root %p lost value %llx: it holds %p", (void *)e.root, (unsigned long long)e.id,
         (void *)v);
  count_delete(period);
  if (!is_mortal_id(e.id)) return;
  contents(v)->died = period;
  ADD(periods[period].deaths, 1);
}

/* ---- replacing ---- */

static struct entry take(struct actor *a) {
  return table_remove(&a->table, below(&a->random, a->table.count));
}

static uint64_t new_id(struct actor *a) {
  uint64_t id = draw(&a->random);
  return one_in(&a->random, the_value == Val_unit ? 4 : 64) ? id & ~(uint64_t)1 : id | 1;
}

static void create(struct actor *a, value v, uint64_t id) {
  ADD(live, 1);
  struct entry e = {boxroot_create(v), id};
  if (e.root == NULL) fail("create failed: %s", boxroot_error_string());
  table_push(&a->table, e);
  a->calls++;
}

static void create_new(struct actor *a) {
  uint64_t id = new_id(a);
  create(a, make(id), id);
}

static void delete (struct actor *a, struct entry e) {
  count_death(e);
  boxroot_delete(e.root);
  a->calls++;
}

static void modify(struct actor *a) {
  uint64_t id = new_id(a);
  value v = make(id);
  struct entry *e = &a->table.entries[below(&a->random, a->table.count)];
  ADD(live, 1);
  count_death(*e);
  if (!boxroot_modify(&e->root, v)) fail("modify failed: %s", boxroot_error_string());
  e->id = id;
  a->calls++;
}

static void move(struct actor *a) {
  struct entry e = take(a);
  create(a, boxroot_get(e.root), e.id);
  count_delete(GET(now));
  boxroot_delete(e.root);
  a->calls++;
}

static void delete_without_lock(struct actor *a) {
  struct entry e = take(a);
  count_death(e);
  if (!lockless_send(e.root)) boxroot_delete(e.root);
  a->calls++;
}

/* Gives a root to another domain, which deletes it. */
static void give_away(struct actor *a) {
  table_push(&a->table, take(a));
  market_send(&a->table, 1);
}

static void replace(struct actor *a) {
  switch (below(&a->random, 8)) {
  case 0: move(a); return;
  case 1: delete_without_lock(a); break;
  case 2: give_away(a); break;
  case 3:
  case 4: modify(a); return;
  default: delete (a, take(a));
  }
  create_new(a);
}

static void delete_what_was_given(struct actor *a) {
  for (uint32_t n = market_receive(&a->table, 64); n > 0; n--)
    delete (a, table_remove(&a->table, a->table.count - 1));
}

/* Once in the period. */
static void delete_half(struct actor *a) {
  uint64_t next = (uint64_t)GET(now) + 1;
  if (GET(style) != DELETE_HALF || a->season_ends == next) return;
  a->season_ends = next;
  uint32_t part = 1 + below(&a->random, 6);
  for (uint32_t n = a->table.count / 2; n > 0; n--)
    if (one_in(&a->random, part))
      delete_without_lock(a);
    else
      delete (a, take(a));
}

static void step(struct actor *a) {
  enum style now_is = GET(style);
  bool replaces = now_is <= AT_ONCE && GET(periods[GET(now)].deletes) < GET(quota);
  if (a->table.count < a->target && now_is <= AT_ONCE)
    create_new(a);
  else if (replaces && a->table.count > 0)
    replace(a);
  if (replaces && now_is == AT_ONCE) return;
  if (one_in(&a->random, GET(old_garbage)))
    trash(&a->random, 1);
  else
    caml_alloc(30, 0);
}

bool replace_some(struct actor *a, uint32_t n) {
  current_actor = a;
  a->operation = "replace";
  delete_what_was_given(a);
  delete_half(a);
  for (; n > 0 && GET(now) <= last_period; n--) step(a);
  a->operation = "between steps";
  current_actor = NULL;
  return GET(now) <= last_period;
}

struct actor *new_replacer(uint32_t number, uint32_t n) {
  struct actor *a = new_actor(number, 0, 0);
  a->target = n;
  ADD(domains, 1);
  return a;
}

void leave_roots(struct actor *a) {
  ADD(periods[GET(now)].left, a->table.count);
  market_send(&a->table, a->table.count);
}

void end_replacer(struct actor *a) {
  leave_roots(a);
  ADD(periods[GET(now)].ended, 1);
  ADD(domains, -1);
  end_actor(a);
}

void end_last_replacer(struct actor *a) {
  while (market_receive(&a->table, 1000) != 0) {}
  while (a->table.count > 0)
    if (one_in(&a->random, 8))
      delete_without_lock(a);
    else
      delete (a, take(a));
  end_actor(a);
}

void wait_for_periods(uint32_t n) {
  caml_enter_blocking_section();
  pthread_mutex_lock(&lock);
  for (uint32_t end = now + n; now < end && now <= last_period;) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  caml_leave_blocking_section();
}

/* ---- periods ---- */

static void begin_period(void) {
  uint32_t at = (now + 1) % ROUND;
  SET(style, at == BUSY           ? DELETE_HALF
             : at > BUSY          ? NOTHING
             : one_in(&chance, 2) ? SPREAD
                                  : AT_ONCE);
  SET(quota, 20000 + roots / 8 + below(&chance, roots / 8));
  if (at <= BUSY) SET(old_garbage, (uint32_t)1 << below(&chance, 5));
  pthread_mutex_lock(&lock);
  SET(now, now + 1);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* Rules 1 and 2. */
static void check_pools(struct boxroot_stats const *s) {
  uint64_t used = GET(live), owners = GET(domains);
  uint64_t deletes = 0;
  for (uint32_t i = now; i > 0 && i + SLOT_LASTS > now; i--) {
    used += GET(periods[i].left);
    deletes += GET(periods[i].deletes);
    owners += GET(periods[i].ended);
  }
  uint64_t most = 2 * (used + deletes) / s->slots_per_pool + 2 * owners;
  if (most > most_pools) most_pools = most;
  if (s->pools > most_pools)
    fail(
      "period %u: %zu pools, for %llu live roots, and %llu deletes in %d periods: they need %llu "
      "at most",
      now, s->pools, (unsigned long long)GET(live), (unsigned long long)deletes, SLOT_LASTS,
      (unsigned long long)most_pools);
}

/* Rule 3. */
static void check_deaths(uint32_t before) {
  for (uint32_t i = 1; i < before; i++)
    if (GET(periods[i].finalised) != GET(periods[i].deaths))
      fail("%llu values are alive whose roots were deleted in period %u, %u periods ago, of %llu",
           (unsigned long long)(periods[i].deaths - periods[i].finalised), i, now - i,
           (unsigned long long)periods[i].deaths);
}

/* Without the lock, statistics drain nothing. */
void next_period(void) {
  struct boxroot_stats s;
  caml_enter_blocking_section();
  lockless_wait();
  boxroot_stats(&s, sizeof s);
  caml_leave_blocking_section();
  check_pools(&s);
  if (now > VALUE_LASTS) check_deaths(now - VALUE_LASTS + 1);
  begin_period();
}

void begin_periods(uint32_t n, uint32_t all_roots, bool one_value) {
  roots = all_roots;
  periods = calloc(n + 2, sizeof *periods);
  if (periods == NULL) fail("out of memory");
  last_period = n;
  chance.state = mix(settings.seed) + 1;
  if (one_value) {
    the_value = caml_copy_string("one");
    caml_register_generational_global_root(&the_value);
  }
  begin_period();
}

void check_all_dead(void) { check_deaths(last_period + 2); }
