/* SPDX-License-Identifier: MIT */
/* The operations that an actor can perform in one step. */
#include "stress.h"

#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/signals.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* ---- parts of operations ---- */

static bool is_empty(struct actor *a) { return a->table.count == 0; }
static bool is_full(struct actor *a) { return a->table.count >= a->target + a->target / 4 + 16; }

static struct entry *pick(struct actor *a) {
  return &a->table.entries[below(&a->random, a->table.count)];
}

static struct entry take(struct actor *a) {
  return table_remove(&a->table, below(&a->random, a->table.count));
}

static uint64_t new_id(struct actor *a) {
  return one_in(&a->random, 8) ? immediate_id(&a->random) : block_id(&a->random);
}

/* Half of the time returns the domain, for the functions that take one; otherwise NULL. */
static boxroot_domain domain_or_null(struct actor *a) {
  if (one_in(&a->random, 2)) return NULL;
  boxroot_domain domain = boxroot_domain_self();
  if (domain == NULL) fail("no domain: %s", boxroot_error_string());
  return domain;
}

static void create(struct actor *a, value v, uint64_t id) {
  boxroot_domain domain = domain_or_null(a);
  boxroot r = domain != NULL ? boxroot_create_in(domain, v) : boxroot_create(v);
  if (r == NULL) fail("create failed: %s", boxroot_error_string());
  table_push(&a->table, (struct entry){r, id});
  a->calls++;
}

static void delete_in(struct actor *a, boxroot_domain domain, boxroot r) {
  errno = EDOM;
  if (domain != NULL)
    boxroot_delete_in(domain, r);
  else
    boxroot_delete(r);
  if (errno != EDOM) fail("delete changed errno");
  a->calls++;
}

static void delete (struct actor *a, boxroot r) { delete_in(a, domain_or_null(a), r); }

static value get(struct actor *a, struct entry e) {
  a->calls++;
  return boxroot_get(e.root);
}

static void modify(struct actor *a, struct entry *e, value v, uint64_t id) {
  boxroot_domain domain = domain_or_null(a);
  if (!(domain != NULL ? boxroot_modify_in(domain, &e->root, v) : boxroot_modify(&e->root, v)))
    fail("modify failed: %s", boxroot_error_string());
  e->id = id;
  a->calls++;
}

static void create_new(struct actor *a) {
  uint64_t id = new_id(a);
  create(a, make_value(id), id);
}

/* ---- one root ---- */

static void run_get(struct actor *a) {
  if (is_empty(a)) return;
  a->calls += 2;
  check_entry(*pick(a));
}

static void run_create(struct actor *a) {
  if (!is_full(a)) create_new(a);
}

static void run_delete(struct actor *a) {
  if (!is_empty(a)) delete (a, take(a).root);
}

/* Values are made before a root is picked, because meanwhile the collector and other threads may
   run. */
static void run_modify(struct actor *a) {
  if (is_empty(a)) return;
  uint64_t id = new_id(a);
  value v = make_value(id);
  modify(a, pick(a), v, id);
}

/* An immediate that looks like a root's address plus 1, as a free slot might hold, or like a
   pool's. */
static void run_lookalike(struct actor *a) {
  if (is_empty(a)) return;
  uint64_t id = (uint64_t)pick(a)->root | 1;
  if (one_in(&a->random, 2)) id = (id & ~(uint64_t)0x3fff) | 1;
  if (one_in(&a->random, 2) && !is_full(a))
    create(a, (value)id, id);
  else
    modify(a, pick(a), (value)id, id);
}

/* ---- values that move, without a collection in between ---- */

static void run_move(struct actor *a) {
  if (is_empty(a)) return;
  struct entry e = take(a);
  create(a, get(a, e), e.id);
  delete (a, e.root);
}

/* For a moment, only a C variable refers to the value. */
static void run_move_late(struct actor *a) {
  if (is_empty(a)) return;
  struct entry e = take(a);
  value v = get(a, e);
  delete (a, e.root);
  create(a, v, e.id);
}

static void run_swap(struct actor *a) {
  if (is_empty(a)) return;
  struct entry *x = pick(a), *y = pick(a);
  value vx = get(a, *x), vy = get(a, *y);
  uint64_t id = x->id;
  modify(a, x, vy, y->id);
  modify(a, y, vx, id);
}

static void run_share(struct actor *a) {
  if (is_empty(a)) return;
  struct entry e = *pick(a);
  value v = get(a, e);
  if (is_full(a))
    modify(a, pick(a), v, e.id);
  else
    create(a, v, e.id);
}

/* ---- values that move to and from the heap ---- */

/* From OCaml 5.0 to 5.4, a domain that marks while another one still promotes may follow an infix
   pointer from the heap to a block whose header is not copied yet (docs/known-of-ocaml.md). */
#define HEAP_LOSES_INFIX_POINTERS (OCAML_VERSION >= 50000 && OCAML_VERSION < 50500)

/* The shelf keeps no custom block that owns a root, so that check_shelf is simpler. */
static bool can_be_shelved(struct entry e) {
  return e.id != OWNER && !(HEAP_LOSES_INFIX_POINTERS && is_infix(e.id));
}

/* Takes a root whose value can be shelved. */
static bool take_for_shelf(struct actor *a, struct entry *e) {
  if (is_empty(a)) return false;
  *e = take(a);
  if (can_be_shelved(*e)) return true;
  table_push(&a->table, *e);
  return false;
}

static void run_shelve(struct actor *a) {
  struct entry e;
  uint32_t i = below(&a->random, SHELF);
  if (a->shelf == Val_unit || !take_for_shelf(a, &e)) return;
  caml_modify(&Field(a->shelf, i), get(a, e));
  a->shelf_ids[i] = e.id;
  delete (a, e.root);
}

static void run_unshelve(struct actor *a) {
  if (a->shelf == Val_unit) return;
  uint32_t i = below(&a->random, SHELF);
  if (a->shelf_ids[i] == 0) return;
  uint64_t id = a->shelf_ids[i];
  value v = Field(a->shelf, i);
  if (!is_empty(a) && is_full(a))
    modify(a, pick(a), v, id);
  else
    create(a, v, id);
  if (one_in(&a->random, 2)) return; /* the heap keeps it too */
  caml_modify(&Field(a->shelf, i), Val_unit);
  a->shelf_ids[i] = 0;
}

static void fill_shelf(struct actor *a, uint32_t n) {
  struct entry e;
  for (uint32_t i = 0; i < n; i++) {
    if (!take_for_shelf(a, &e)) continue;
    caml_initialize(&Field(a->shelf, i), get(a, e));
    a->shelf_ids[i] = e.id;
    delete (a, e.root);
  }
}

/* Many values become fields of a new block of the major heap, and their roots are deleted. The
   collector may never look into a block that is newer than its cycle. */
static void run_new_shelf(struct actor *a) {
  drop_shelf(a);
  value shelf = caml_alloc(SHELF, 0);
  caml_modify_generational_global_root(&a->shelf, shelf);
  fill_shelf(a, below(&a->random, SHELF));
}

/* Moves all values of the shelf back to roots. */
static void run_empty_shelf(struct actor *a) {
  if (a->shelf == Val_unit) return;
  for (uint32_t i = 0; i < SHELF; i++)
    if (a->shelf_ids[i] != 0) create(a, Field(a->shelf, i), a->shelf_ids[i]);
  drop_shelf(a);
}

/* ---- many roots ---- */

void fill(struct actor *a, uint32_t n) {
  for (; n > 0; n--) create_new(a);
}

static void run_create_many(struct actor *a) {
  if (a->table.count >= a->target) return;
  uint32_t n = 1 + below(&a->random, a->target - a->table.count);
  fill(a, n);
}

/* The same with immediates, so without a collection. */
static void run_create_immediates(struct actor *a) {
  if (a->table.count >= a->target) return;
  uint32_t n = 1 + below(&a->random, a->target - a->table.count);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t id = immediate_id(&a->random);
    create(a, (value)id, id);
  }
}

/* Deletes the newest roots, or roots at random places; sometimes nearly all. */
static void run_delete_many(struct actor *a) {
  bool newest = one_in(&a->random, 2);
  uint32_t n = below(&a->random, a->table.count + 1);
  if (one_in(&a->random, 4)) n = a->table.count - a->table.count / 500;
  for (; n > 0 && !is_empty(a); n--)
    delete (a, (newest ? table_remove(&a->table, a->table.count - 1) : take(a)).root);
}

static void run_move_many(struct actor *a) {
  for (uint32_t n = below(&a->random, a->table.count + 1); n > 0; n--) run_move(a);
}

static void run_pairs(struct actor *a) {
  for (uint32_t n = below(&a->random, 200); n > 0; n--) {
    boxroot r = boxroot_create(Val_long(n));
    if (r == NULL || boxroot_get(r) != Val_long(n)) fail("a short-lived root lost its value");
    boxroot_delete(r);
    a->calls += 3;
  }
}

static void run_many(struct actor *a) {
  enum { MOST = 200 };
  value values[MOST];
  boxroot roots[MOST + 1];
  uint32_t n = below(&a->random, MOST);
  for (uint32_t i = 0; i < n; i++) values[i] = Val_long(i);
  boxroot_domain domain = boxroot_domain_self();
  if (!boxroot_create_many(domain, roots, values, n)) fail("no roots: %s", boxroot_error_string());
  for (uint32_t i = 0; i < n; i++)
    if (boxroot_get(roots[i]) != values[i]) fail("one of many roots lost its value");
  roots[n] = NULL;
  boxroot_delete_many(domain, roots, n + 1);
  a->calls += 3 * n;
}

/* ---- roots that others delete ---- */

static void run_send(struct actor *a) { market_send(&a->table, below(&a->random, 64)); }

static void run_receive(struct actor *a) {
  uint32_t n = market_receive(&a->table, below(&a->random, 64));
  for (; n > 0; n--) check_entry(a->table.entries[a->table.count - n]);
}

/* The roots come from other actors, from actors that have ended, and from the actor itself. */
static void run_receive_and_delete(struct actor *a) {
  uint32_t n = market_receive(&a->table, below(&a->random, 128));
  for (; n > 0; n--) delete (a, table_remove(&a->table, a->table.count - 1).root);
}

static void run_lockless(struct actor *a) {
  for (uint32_t n = below(&a->random, 16); n > 0 && !is_empty(a); n--) {
    boxroot r = take(a).root;
    if (!lockless_send(r)) delete (a, r);
  }
}

/* A custom block owns the root from now on. It dies at once, or lives as long as another root. */
static void run_bury(struct actor *a) {
  if (is_empty(a)) return;
  value v = make_owner(take(a));
  if (one_in(&a->random, 2)) create(a, v, OWNER);
}

static void run_blocking(struct actor *a) {
  caml_enter_blocking_section();
  errno = 0;
  if (boxroot_create(Val_unit) != NULL || errno != EPERM)
    fail("create worked in a blocking section");
  for (uint32_t n = below(&a->random, 40); n > 0 && !is_empty(a); n--)
    delete_in(a, NULL, take(a).root);
  caml_leave_blocking_section();
}

static void run_at_thread_end(struct actor *a) {
  if (is_empty(a) || !one_in(&a->random, 16)) return;
  delete_at_thread_end(take(a).root);
  a->calls++;
}

#ifndef _WIN32
/* The child has a copy of the table. */
static void run_fork(struct actor *a) {
  if (!one_in(&a->random, 100)) return;
  struct table copy = {0};
  for (uint32_t i = 0; i < a->table.count && i < 500; i++) table_push(&copy, a->table.entries[i]);
  try_in_child(&copy);
  free(copy.entries);
  a->calls++;
}
#endif

static void run_feed_hooks(struct actor *a) { feed_hooks(&a->table, 1 + below(&a->random, 16)); }

/* ---- looking ---- */

static void run_trim(struct actor *a) {
  if (!one_in(&a->random, 16)) return;
  boxroot_trim();
  a->calls++;
}

static void run_statistics(struct actor *a) {
  struct boxroot_stats s;
  if (!one_in(&a->random, 16)) return;
  boxroot_stats(&s, sizeof s);
  a->calls++;
}

static void run_validate(struct actor *a) {
  if (!one_in(&a->random, 100)) return;
  char const *broken = boxroot_validate();
  if (broken != NULL) fail("broken invariant: %s", broken);
  a->calls++;
}

static void run_check_all(struct actor *a) {
  if (!one_in(&a->random, 100)) return;
  for (uint32_t i = 0; i < a->table.count; i++) check_entry(a->table.entries[i]);
  check_shelf(a);
}

static void run_null(struct actor *a) { delete (a, NULL); }

/* ---- the collector ---- */

static void ask(struct actor *a, enum request request, uint32_t argument) {
  a->request = request;
  a->argument = Val_long(argument);
}

/* Full collections take long, and stop all actors. So an actor asks for one only when it has made
   enough calls since the last one. */
static void ask_if_due(struct actor *a, enum request request, uint32_t cost) {
  uint64_t pause = settings.pause + (uint64_t)cost * a->table.count;
  if (a->calls < a->last_collection + pause) return;
  a->last_collection = a->calls;
  ask(a, request, 0);
}

static void run_trash(struct actor *a) { trash(&a->random, below(&a->random, 100)); }
static void run_churn(struct actor *a) { ask(a, CHURN, below(&a->random, 500)); }
static void run_minor(struct actor *a) { ask(a, MINOR, 0); }
static void run_slice(struct actor *a) {
  ask(a, SLICE, one_in(&a->random, 4) ? 0 : below(&a->random, 4096));
}
static void run_major(struct actor *a) { ask_if_due(a, MAJOR, 2); }
static void run_full_major(struct actor *a) { ask_if_due(a, FULL_MAJOR, 4); }
static void run_compact(struct actor *a) { ask_if_due(a, COMPACT, 8); }
static void run_minor_heap(struct actor *a) {
  if (one_in(&a->random, 8)) ask(a, MINOR_HEAP, (uint32_t)4096 << below(&a->random, 7));
}
static void run_overhead(struct actor *a) { ask(a, OVERHEAD, 20 + below(&a->random, 200)); }

/* ---- other threads ---- */

static void run_yield(struct actor *a) { ask(a, YIELD, 0); }
#ifdef _WIN32
#define SIGUSR1 SIGINT
#endif
static void run_signal(struct actor *a) {
  if (one_in(&a->random, 4)) raise(SIGUSR1);
}
static void run_registered(struct actor *a) {
  if (a->every != 0 && one_in(&a->random, 100)) ask(a, REGISTERED, 0);
}
static void run_finalise(struct actor *a) {
  if (is_empty(a)) return;
  a->request = FINALISE;
  a->argument = (value)take(a).root | 1;
  a->calls++;
}

struct operation const operations[] = {
  {"get", 200, run_get},
  {"create", 140, run_create},
  {"delete", 100, run_delete},
  {"modify", 80, run_modify},
  {"lookalike", 10, run_lookalike},
  {"move", 60, run_move},
  {"move late", 30, run_move_late},
  {"swap", 40, run_swap},
  {"share", 30, run_share},
  {"shelve", 40, run_shelve},
  {"unshelve", 30, run_unshelve},
  {"new shelf", 1, run_new_shelf},
  {"empty shelf", 1, run_empty_shelf},
  {"create many", 1, run_create_many},
  {"create immediates", 1, run_create_immediates},
  {"delete many", 1, run_delete_many},
  {"move many", 1, run_move_many},
  {"pairs", 4, run_pairs},
  {"many", 4, run_many},
  {"send", 4, run_send},
  {"receive", 4, run_receive},
  {"receive and delete", 2, run_receive_and_delete},
  {"lockless", 6, run_lockless},
  {"bury", 8, run_bury},
  {"blocking section", 2, run_blocking},
  {"at thread end", 4, run_at_thread_end},
#ifndef _WIN32
  {"fork", 1, run_fork},
#endif
  {"feed hooks", 8, run_feed_hooks},
  {"trim", 1, run_trim},
  {"statistics", 1, run_statistics},
  {"validate", 1, run_validate},
  {"check all", 1, run_check_all},
  {"null", 1, run_null},
  {"trash", 2, run_trash},
  {"churn", 2, run_churn},
  {"minor", 1, run_minor},
  {"slice", 4, run_slice},
  {"major", 1, run_major},
  {"full major", 1, run_full_major},
  {"compact", 1, run_compact},
  {"minor heap", 1, run_minor_heap},
  {"overhead", 1, run_overhead},
  {"yield", 1, run_yield},
  {"signal", 1, run_signal},
  {"registered", 1, run_registered},
  {"finalise", 1, run_finalise},
};
uint32_t const operation_count = sizeof operations / sizeof operations[0];
