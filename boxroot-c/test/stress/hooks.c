/* SPDX-License-Identifier: MIT */
/* Roots are created, changed and deleted in every hook of the runtime, and by two other libraries
   that scan roots, one installed before boxroot and one after it. A hook cannot allocate in the
   heap, so it shares and moves the values of a table of roots. Each domain has one, and actors fill
   it. */
#include "stress.h"

#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/misc.h>
#include <caml/roots.h>

#include <errno.h>

#if OCAML_VERSION >= 50000
#include <caml/domain.h>
#include <caml/shared_heap.h>
enum { DOMAINS = 4096 };
static uint32_t this_domain(void) { return (uint32_t)Caml_state->id; }
#else
enum { DOMAINS = 1 };
static uint32_t this_domain(void) { return 0; }
#endif

enum { ROOMS = 600, HOOKS = 10 };

/* One for each domain number. Used under that domain's lock, or by the thread that collects for the
   domain. */
struct hook_table {
  struct random random;
  struct table table;
  uint32_t calls;
  uint8_t chances[HOOKS]; /* the chance of each hook to act, in sixteenths; 16 or more: always */
};
static struct hook_table tables[DOMAINS];
static bool active;

static struct hook_table *this_table(void) {
  struct hook_table *t = &tables[this_domain()];
  if (t->random.state == 0) t->random.state = mix(settings.seed) + mix(this_domain() + 0x10000);
  return t;
}

/* ---- which values may be used ---- */

enum moment {
  ANY_VALUE, /* the domain runs, or is about to start a minor collection */
  OLD_VALUES /* roots were scanned already, or the minor heap is being emptied */
};

static bool usable(value v, enum moment moment) {
  return moment == ANY_VALUE || !Is_block(v) || !Is_young(v);
}

/* ---- actions ---- */

/* Returns NULL when a domain is ending, and after teardown. Fails the walk if create fails for
   another reason. */
static boxroot try_create(value v) {
  errno = 0;
  boxroot r = boxroot_create(v);
  if (r == NULL && errno != EPERM) fail("create failed: %s", boxroot_error_string());
  return r;
}

static bool readable(void) { return boxroot_status() == BOXROOT_RUNNING; }

/* The owner of the root may be another domain, which is moving the value at this moment. The
   runtime writes the slot in one access, and it is read in one access, so the result is the old or
   the new value. */
static value peek(boxroot r) { return *(value const volatile *)boxroot_get_ref(r); }

static void share(struct hook_table *t, uint32_t i, enum moment moment, bool and_delete) {
  struct entry e = t->table.entries[i];
  value v = readable() ? peek(e.root) : Val_unit;
  if (!usable(v, moment) || (!and_delete && t->table.count >= ROOMS)) return;
  boxroot r = try_create(v);
  if (r == NULL) return;
  if (and_delete) {
    table_remove(&t->table, i);
    boxroot_delete(e.root);
  }
  table_push(&t->table, (struct entry){r, e.id});
}

static void swap(struct hook_table *t, uint32_t i, uint32_t j, enum moment moment) {
  struct entry *x = &t->table.entries[i], *y = &t->table.entries[j];
  if (!readable()) return;
  value vx = peek(x->root), vy = peek(y->root);
  if (!usable(vx, moment) || !usable(vy, moment) || !boxroot_modify(&x->root, vy)) return;
  uint64_t id = x->id;
  x->id = y->id;
  if (boxroot_modify(&y->root, vx)) y->id = id;
}

static void set_immediate(struct hook_table *t, uint32_t i) {
  uint64_t id = immediate_id(&t->random);
  if (boxroot_modify(&t->table.entries[i].root, (value)id)) t->table.entries[i].id = id;
}

static void create_immediate(struct hook_table *t) {
  uint64_t id = immediate_id(&t->random);
  boxroot r = t->table.count < ROOMS ? try_create((value)id) : NULL;
  if (r != NULL) table_push(&t->table, (struct entry){r, id});
}

static void delete (struct hook_table *t, uint32_t i) {
  boxroot r = table_remove(&t->table, i).root;
  if (one_in(&t->random, 4) && lockless_send(r)) return;
  boxroot_delete(r);
}

static void act_once(struct hook_table *t, enum moment moment) {
  count_other_calls(2);
  if (t->table.count == 0) {
    create_immediate(t);
    return;
  }
  uint32_t i = below(&t->random, t->table.count);
  switch (below(&t->random, 8)) {
  case 0: share(t, i, moment, false); break;
  case 1: swap(t, i, below(&t->random, t->table.count), moment); break;
  case 2: set_immediate(t, i); break;
  case 3: create_immediate(t); break;
  case 4: delete (t, i); break;
  default: share(t, i, moment, true);
  }
}

/* Changes the chances from time to time: some hooks then do nothing, and some always act. */
static void new_chances(struct hook_table *t) {
  for (int i = 0; i < HOOKS; i++)
    t->chances[i] = (uint8_t)(one_in(&t->random, 3) ? 0 : below(&t->random, 24));
}

static void act(uint32_t hook, char const *name, enum moment moment) {
  if (!active || !(settings.hooks >> hook & 1)) return;
  struct hook_table *t = this_table();
  if (t->calls++ % 128 == 0) new_chances(t);
  if (below(&t->random, 16) >= t->chances[hook]) return;
  char const *outer = current_hook;
  current_hook = name;
  uint32_t n = one_in(&t->random, 256) ? 300 : 1 + below(&t->random, 2);
  for (; n > 0; n--) act_once(t, moment);
  current_hook = outer;
}

/* ---- the runtime's hooks ---- */

static void minor_begin(void) { act(0, "minor begin", ANY_VALUE); }
static void minor_end(void) { act(1, "minor end", OLD_VALUES); }

/* On OCaml 5 slices also run while a domain waits for the others in a minor collection, after its
   own roots were scanned. They run over and over while it waits at the end of a cycle. */
static void act_in_slice(uint32_t hook, char const *name) {
  if (OCAML_VERSION < 50000)
    act(hook, name, ANY_VALUE);
  else if (one_in(&this_table()->random, 32))
    act(hook, name, OLD_VALUES);
}

static void slice_begin(void) { act_in_slice(2, "slice begin"); }
static void slice_end(void) { act_in_slice(3, "slice end"); }
static void finalise_begin(void) { act(4, "finalise begin", ANY_VALUE); }
static void finalise_end(void) { act(5, "finalise end", ANY_VALUE); }

#if OCAML_VERSION >= 50000
#define SCAN_PARAMETERS                                                                            \
  scanning_action action, scanning_action_flags flags, void *data, caml_domain_state *state
#define SCAN_ARGUMENTS action, flags, data, state
#define IS_MINOR ((flags & SCANNING_ONLY_YOUNG_VALUES) != 0)
static void domain_ends(void) { act(9, "domain end", ANY_VALUE); }
#else
#define SCAN_PARAMETERS scanning_action action
#define SCAN_ARGUMENTS action
#define IS_MINOR (action == &caml_oldify_one)
#endif

/* Create is refused while the collector scans roots. Otherwise it works: the value is an immediate,
   which does no harm. */
void hooks_in_finaliser(void) {
  if (!active || !(settings.hooks >> 10 & 1)) return;
  boxroot r = try_create(Val_unit);
  boxroot_delete(r);
}

/* Roots must not change while the heap is verified or compacted. */
static void act_in_scan(uint32_t hook, char const *name, bool minor, bool darken) {
  if (minor || darken) act(hook, name, OLD_VALUES);
}

typedef void (*scan_hook)(SCAN_PARAMETERS);
static scan_hook before_first, before_second;

static void first_library(SCAN_PARAMETERS) {
  act_in_scan(6, "scan before", IS_MINOR, action == &caml_darken);
  if (before_first != NULL) before_first(SCAN_ARGUMENTS);
}

static void second_library(SCAN_PARAMETERS) {
  act_in_scan(7, "scan around, before", IS_MINOR, action == &caml_darken);
  if (before_second != NULL) before_second(SCAN_ARGUMENTS);
  act_in_scan(8, "scan around, after", IS_MINOR, action == &caml_darken);
}

/* Boxroot installs its hooks between these two. */
value stress_hooks_first(value unit) {
  before_first = caml_scan_roots_hook;
  caml_scan_roots_hook = first_library;
  caml_minor_gc_begin_hook = minor_begin;
  caml_minor_gc_end_hook = minor_end;
  caml_major_slice_begin_hook = slice_begin;
  caml_major_slice_end_hook = slice_end;
  caml_finalise_begin_hook = finalise_begin;
  caml_finalise_end_hook = finalise_end;
#if OCAML_VERSION >= 50000
  caml_domain_terminated_hook = domain_ends;
#endif
  return unit;
}

value stress_hooks_second(value unit) {
  before_second = caml_scan_roots_hook;
  caml_scan_roots_hook = second_library;
  active = true;
  return unit;
}

/* ---- between actors and hooks ---- */

void feed_hooks(struct table *t, uint32_t n) {
  struct hook_table *hooks = this_table();
  for (; n > 0; n--) {
    bool to_hooks = t->count > 0 && (hooks->table.count < ROOMS / 2 || one_in(&hooks->random, 2));
    if (to_hooks && hooks->table.count < ROOMS)
      table_push(&hooks->table, table_remove(t, below(&hooks->random, t->count)));
    else if (hooks->table.count > 0) {
      table_push(t, table_remove(&hooks->table, below(&hooks->random, hooks->table.count)));
      check_entry(t->entries[t->count - 1]);
    }
  }
}

/* The OCaml signal handler. Unlike a hook it may allocate, and hooks may run meanwhile. */
value stress_handler(value unit) {
  if (!active) return unit;
  act(2, "signal handler", ANY_VALUE);
  uint64_t id = block_id(&this_table()->random);
  value v = make_value(id);
  boxroot r = try_create(v);
  if (r != NULL) table_push(&this_table()->table, (struct entry){r, id});
  return unit;
}

/* Ends the activity of the hooks, and moves their roots to the market. */
value stress_hooks_end(value unit) {
  active = false;
  for (uint32_t i = 0; i < DOMAINS; i++) market_send(&tables[i].table, tables[i].table.count);
  return unit;
}
