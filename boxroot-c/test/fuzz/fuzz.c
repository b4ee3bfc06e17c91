/* SPDX-License-Identifier: MIT */
/* An input is a history: each operation is a byte for its kind, a byte for its actor, and a few for
   its arguments; after the end of the input, all are 0. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "../../src/os.h"
#include "../../src/profile.h"
#include "../../src/remote.h"
#include "../../src/setup.h"
#include "steps.h"
#include "world.h"

uint64_t fuzz_operations;
bool fuzz_traces;
unsigned fuzz_countdown;

static struct { uint8_t const *at, *end; } input;

static unsigned next(void) { return input.at < input.end ? *input.at++ : 0; }

/* A random number of things: usually at most 8, sometimes 64 to 254, which is up to half a pool. */
static unsigned how_many(void) {
  unsigned n = next();
  return n < 160 ? 1 + n % 8 : 2 * (n - 128);
}

/* ---- other threads in the middle of an operation ---- */

static unsigned busy;  /* domains in the middle of an operation */
static unsigned depth; /* operations that are interrupted by others */
static unsigned how_many_between;
static void (*planned)(void); /* runs then; NULL: what the input says */

static void plan_preemption(void) {
  unsigned n = next();
  fuzz_countdown = 1 + n % 64;
  how_many_between = 1 + n / 64;
}

static void run_on(int thread, void (*run)(void));
static void one_operation(void);

void fuzz_preempt(void) {
  if (depth == 3) return;
  int inside = world.inside, saved = errno; /* each thread has its own */
  void (*plan)(void) = planned;
  planned = NULL;
  depth++;
  for (unsigned i = how_many_between; i > 0; i--) {
    world.inside = inside;
    if (plan != NULL)
      run_on(LOCKLESS, plan);
    else
      one_operation();
  }
  world.inside = inside;
  errno = saved;
  depth--;
}

/* ---- who ---- */

static bool may_run(int domain) {
  if (fake.domains[domain].life == UNBORN) return false;
  if (domain == world.inside) return true;
  if ((busy >> domain & 1) != 0) return false;
  return !world.stopped || (world.may_run >> domain & 1) != 0;
}

static int choose_thread(void) {
  int thread = (int)(next() % (THREADS + DOMAINS));
  if (thread >= THREADS) thread -= THREADS; /* domains act most often */
  if (thread < DOMAINS) return may_run(thread) ? thread : LOCKLESS;
  return fake.threads[thread].exists ? thread : LOCKLESS;
}

/* Whether create and modify must work, if there is memory. */
static bool may_create(void) { return fake_may_create(); }

/* Whether the running thread is allowed to try: not in a finaliser while others scan. */
static bool may_try_to_create(void) {
  return !world.stopped || world.may_create || fake_domain_of_thread() < 0 || !may_create();
}

/* ---- values ---- */

static struct thing any_immediate(unsigned n) {
  struct thing thing = {0, Val_long(n)};
  /* Some immediates look like links and slots. */
  if (n % 4 == 0 && shadow.root_count != 0)
    thing.immediate = (value)((uintptr_t)shadow.roots[n % shadow.root_count].root | 1);
  return thing;
}

static struct thing new_thing(bool young) {
  return (struct thing){fake_new_object(young && !world.stopped), Val_unit};
}

/* The thing; but () instead of a value of the minor heap while the minor heap is being emptied. */
static struct thing existing(struct thing thing) {
  bool unusable = world.stopped && shadow_is_young(thing);
  return unusable ? (struct thing){0, Val_unit} : thing;
}

static struct thing any_thing(void) {
  unsigned kind = next();
  switch (kind % 8) {
  case 0: return any_immediate(kind);
  case 1:
  case 2:
  case 3: return new_thing(true);
  case 4:
  case 5: return new_thing(false);
  case 6: return existing(shadow.cells[kind / 8]);
  default:
    if (shadow.root_count == 0 || fake.torn_down) return any_immediate(kind);
    return existing(shadow.roots[next() * 7 % shadow.root_count].holds);
  }
}

/* ---- creating, deleting, changing roots ---- */

static void check_failure(bool allowed) {
  bool no_memory = errno == ENOMEM && (fake.failing || fake_is_out_of_memory());
  CHECK(allowed ? no_memory : errno == EPERM);
}

static void create_one(struct thing thing) {
  fuzz_operations++;
  bool allowed = may_create();
  value v = (value)shadow_value(thing);
  boxroot root = boxroot_create(v);
  if (root == NULL) {
    check_failure(allowed);
    return;
  }
  CHECK(allowed && boxroot_get(root) == v);
  shadow_add(root, thing);
}

static void create_some(void) {
  struct thing thing = any_thing();
  unsigned n = how_many(), kind = next();
  if (!may_try_to_create()) return;
  for (unsigned i = 0; i < n && shadow.root_count < ROOTS - 64; i++) {
    create_one(thing);
    thing = new_thing(kind % 2 == 0);
    if (thing.object == 0) thing = any_immediate(i);
  }
}

static void delete_root(boxroot root) {
  fuzz_operations++;
  errno = EDOM;
  boxroot_delete(root);
  CHECK(errno == EDOM);
}

/* The root is removed from the model first: other code that runs meanwhile must not find it. */
static void delete_one(unsigned index) { delete_root(shadow_take(index).root); }

static unsigned any_root(void) {
  unsigned high = next();
  return (high * 256 + next()) % shadow.root_count;
}

static void delete_some(void) {
  if (shadow.root_count == 0) return;
  unsigned first = any_root(), n = how_many();
  for (unsigned i = 0; i < n && shadow.root_count != 0; i++) delete_one(first % shadow.root_count);
}

static void delete_null(void) { boxroot_delete(NULL); }

/* Deletes a quarter of all roots or more, as a container's destructor would. */
static void delete_many(void) {
  unsigned part = 1 + next() % 4, first = next();
  for (unsigned i = shadow.root_count; i > 0; i--)
    if (i <= shadow.root_count && (i + first) % 4 < part) delete_one(i - 1);
}

/* Returns false if modify failed and was allowed to fail. */
static bool modify_root(unsigned index, struct thing thing) {
  fuzz_operations++;
  struct shadow_root root = shadow_take(index);
  bool allowed = may_create();
  boxroot before = root.root;
  bool modified = boxroot_modify(&root.root, (value)shadow_value(thing));
  if (modified) {
    CHECK(allowed && boxroot_get(root.root) == (value)shadow_value(thing));
    root.holds = thing;
  } else {
    CHECK(root.root == before);
    check_failure(allowed);
  }
  shadow_add(root.root, root.holds);
  return modified;
}

static void modify(void) {
  struct thing thing = any_thing();
  if (shadow.root_count != 0 && may_try_to_create()) modify_root(any_root(), thing);
}

/* Makes so many pools with one root each that their directory takes more than a page. Rare, and not
   counted. */
static void fragment(void) {
  enum { POOLS = 600 };
  static boxroot fillers[POOLS * BXR_SLOTS];
  if (next() != 0 || next() % 4 != 0 || world.stopped || !may_create()) return;
  fuzz_countdown = 0;
  unsigned n = 0;
  while (n < POOLS * BXR_SLOTS && (fillers[n] = boxroot_create(Val_long(n))) != NULL) n++;
  for (unsigned i = 0; i < n; i++)
    if (i % BXR_SLOTS != 0 || shadow.root_count == ROOTS - 64)
      boxroot_delete(fillers[i]);
    else
      shadow_add(fillers[i], (struct thing){0, Val_long(i)});
}

/* ---- values move between roots and the heap ---- */

static bool may_touch_the_heap(void) {
  int d = fake_domain_of_thread();
  bool collecting = world.stopped && !world.may_create;
  return d >= 0 && fake.domains[d].life == RUNNING && !fake.torn_down && !collecting;
}

static void move_to_cell(void) {
  if (shadow.root_count == 0 || !may_touch_the_heap()) return;
  unsigned index = any_root(), cell = next() % CELLS;
  shadow_set_cell(cell, existing(shadow.roots[index].holds));
  delete_one(index);
}

static void swap_with_cell(void) {
  if (shadow.root_count == 0 || !may_touch_the_heap() || !may_try_to_create()) return;
  unsigned index = any_root(), cell = next() % CELLS;
  struct thing of_cell = existing(shadow.cells[cell]);
  shadow_set_cell(cell, existing(shadow.roots[index].holds));
  modify_root(index, of_cell);
}

static void set_cell(void) {
  if (!may_touch_the_heap()) return;
  unsigned cell = next() % CELLS;
  shadow_set_cell(cell, any_thing());
}

static void move_from_cell(void) {
  unsigned cell = next() % CELLS;
  if (!may_touch_the_heap() || !may_try_to_create()) return;
  create_one(existing(shadow.cells[cell]));
  if (may_create()) shadow_set_cell(cell, (struct thing){0, Val_unit});
}

/* A value moves to a new root, and the old root is deleted. */
static void move_to_root(void) {
  if (shadow.root_count == 0 || !may_touch_the_heap() || !may_try_to_create()) return;
  struct shadow_root root = shadow_take(any_root());
  create_one(existing(root.holds));
  delete_root(root.root);
}

/* ---- remote deletes, step by step ---- */

static void announce(void) {
  if (shadow.root_count == 0 || shadow.delete_count == DELETES) return;
  fuzz_operations++;
  struct shadow_delete delete = {shadow_take(any_root()), false, false};
  delete.sampled = bxr_profile_forget(delete.root.root);
  /* Another delete step may run meanwhile; this delete is not on the list yet. */
  delete.pushed = !bxr_remote_announce(bxr_batch_of(delete.root.root));
  CHECK(shadow.delete_count < ALL_DELETES);
  shadow.deletes[shadow.delete_count++] = delete;
}

static void push(void) {
  if (shadow.delete_count == 0) return;
  struct shadow_delete *delete = &shadow.deletes[next() % shadow.delete_count];
  if (delete->pushed) return;
  delete->pushed = true;
  fuzz_remote_push(bxr_pool_of_root(delete->root.root));
}

static void post_delete(unsigned index) {
  struct shadow_delete delete = shadow.deletes[index];
  shadow.deletes[index] = shadow.deletes[--shadow.delete_count];
  if (!delete.pushed) fuzz_remote_push(bxr_pool_of_root(delete.root.root));
  bxr_remote_post(bxr_batch_of(delete.root.root));
}

static void post(void) {
  if (shadow.delete_count != 0) post_delete(next() % shadow.delete_count);
}

/* ---- other functions that users call ---- */

static void trim(void) {
  fuzz_operations++;
  bool allowed = may_create();
  size_t trimmed = boxroot_trim();
  CHECK(trimmed % BXR_POOL_SIZE == 0 && (allowed || trimmed == 0));
}

static void attach(void) {
  fuzz_operations++;
  bool allowed = may_create();
  if (!may_try_to_create()) return;
  errno = 0;
  if (bxr_domain_attach() == NULL) check_failure(allowed);
}

static void statistics(void) {
  fuzz_operations++;
  struct boxroot_stats stats;
  boxroot_stats(&stats, sizeof stats);
  CHECK(stats.bytes == stats.pools * BXR_POOL_SIZE);
}

static void validate(void) {
  fuzz_operations++;
  CHECK(boxroot_validate() == NULL);
}

/* ---- domains ---- */

static void start_domain(void) {
  int d = (int)(1 + next() % (DOMAINS - 1));
  if (!world.stopped && fake.domains[d].life == UNBORN) fake_domain_start(d);
}

static void end_domain(void) {
  int d = (int)(1 + next() % (DOMAINS - 1));
  if (world.stopped || (busy >> d & 1) != 0 || fake.domains[d].life != RUNNING) return;
  fuzz_operations++;
  busy |= 1u << d;
  fake_domain_terminated(d);
  busy &= ~(1u << d);
}

static void finish_domain(void) {
  int d = (int)(1 + next() % (DOMAINS - 1));
  if (world.stopped || (busy >> d & 1) != 0 || fake.domains[d].life != ENDING) return;
  fake_domain_finish(d);
}

/* ---- the collector ---- */

static bool may_stop_the_world(void) { return busy == 0 && !world.stopped; }

static void minor(void) {
  unsigned order = next();
  if (!may_stop_the_world()) return;
  fuzz_operations++;
  world_minor(order);
}

static void cycle(void) {
  unsigned order = next(), choice = next();
  if (!may_stop_the_world()) return;
  fuzz_operations++;
  world_cycle(order, choice);
}

static void scan_at_the_same_time(void) {
  if (world.stopped) world_scan_next();
}

static void mark(void) {
  int d = (int)(next() % DOMAINS);
  unsigned n = next();
  if (world.stopped || (busy >> d & 1) != 0) return;
  fuzz_operations++;
  fake_mark(d, 1 + n * n / 64);
}

/* ---- a delete by a thread without a lock, while the pool goes to another domain ---- */

static void create_immediate(void) { create_one((struct thing){0, Val_unit}); }

static void drain_everywhere(void) {
  for (int d = 0; d < DOMAINS; d++)
    if (fake.domains[d].life == RUNNING && (busy >> d & 1) == 0) run_on(d, statistics);
}

static void adopt_now(void) { world_minor(0); }

/* The same, but then another domain takes the record, and drains its list a few steps later. */
static void adopt_and_use_the_record(void) {
  world_minor(0);
  for (int d = 1; d < DOMAINS; d++) {
    if (fake.domains[d].life != UNBORN) continue;
    fake_domain_start(d);
    run_on(d, create_immediate);
  }
  planned = drain_everywhere;
  fuzz_countdown = 1 + next() % 4;
}

static void delete_during_adoption(void) {
  unsigned steps = 1 + next() % 12, d = 1 + next() % (DOMAINS - 1);
  bool record_is_used = next() % 2 != 0;
  if (!may_stop_the_world() || shadow.root_count == 0) return;
  boxroot root = shadow_take(any_root()).root;
  fuzz_countdown = 0;
  if (fake.domains[d].life == RUNNING) fake_domain_terminated((int)d);
  if (fake.domains[d].life == ENDING && record_is_used) fake_domain_finish((int)d);
  fuzz_countdown = steps;
  how_many_between = 1;
  planned = record_is_used ? adopt_and_use_the_record : adopt_now;
  delete_root(root);
  planned = NULL;
}

/* ---- rare events ---- */

static void fail_memory(void) {
  unsigned k = next();
  fuzz_countdown = 0;
  fake.refusals = k % 5 == 0 ? k / 5 % 8 : 0;
  fake.failing = k % 3 != 0;
  bxr_os_fail(fake.failing ? 1 + k % 4 : 0, k >= 128);
}

/* The history goes on in the child, which has one thread. There, other threads' deletes that were
   not posted never happened. */
static void fork_process(void) {
  int d = fake_domain_of_thread();
  if (depth != 0 || world.stopped || !bxr_runtime_is_alone() || fake.after_fork == NULL) return;
  if (d < 0) return;
  /* A sampled root whose delete is under way has lost its sample already, so it cannot be deleted
     again as a sampled one. */
  for (unsigned i = 0; i < shadow.delete_count; i++)
    if (shadow.deletes[i].sampled) return;
  fuzz_countdown = 0; /* no other thread is left */
  fake.after_fork();
  while (shadow.delete_count != 0) {
    struct shadow_root root = shadow.deletes[--shadow.delete_count].root;
    shadow_add(root.root, root.holds);
  }
}

static void end_other_domains(void) {
  for (int d = 1; d < DOMAINS; d++) {
    if (fake.domains[d].life == RUNNING) fake_domain_terminated(d);
    if (fake.domains[d].life == ENDING) fake_domain_finish(d);
  }
}

/* While the library is torn down, other threads may only delete. */
static void tear_down(bool with_lock) {
  world.stopped = true;
  end_other_domains();
  int before = fake_switch(with_lock ? 0 : LOCKLESS);
  fake.torn_down = true;
  boxroot_teardown();
  world_reset();
  fake_switch(before);
}

static void teardown(void) {
  bool wanted = next() < 16, with_lock = next() % 4 != 0;
  if (!wanted || !may_stop_the_world()) return;
  fuzz_operations++;
  tear_down(with_lock);
}

/* ---- histories ---- */

#define WITH_THREAD(name, weight)                                                                  \
  { #name, name, weight, true }
#define WITHOUT(name, weight)                                                                      \
  { #name, name, weight, false }
static struct {
  char const *name;
  void (*run)(void);
  unsigned weight;
  bool has_thread; /* a thread of the history does it, not the collector or the system */
} const operations[] = {
  WITH_THREAD(create_some, 33),
  WITH_THREAD(fragment, 1),
  WITH_THREAD(delete_some, 28),
  WITH_THREAD(delete_null, 1),
  WITH_THREAD(delete_many, 6),
  WITH_THREAD(modify, 16),
  WITH_THREAD(swap_with_cell, 8),
  WITH_THREAD(move_to_cell, 16),
  WITH_THREAD(set_cell, 6),
  WITH_THREAD(move_from_cell, 8),
  WITH_THREAD(move_to_root, 10),
  WITHOUT(announce, 8),
  WITHOUT(push, 5),
  WITHOUT(post, 6),
  WITH_THREAD(trim, 4),
  WITH_THREAD(attach, 2),
  WITH_THREAD(statistics, 2),
  WITH_THREAD(validate, 2),
  WITHOUT(start_domain, 6),
  WITHOUT(end_domain, 5),
  WITHOUT(finish_domain, 6),
  WITHOUT(minor, 10),
  WITHOUT(cycle, 8),
  WITHOUT(mark, 16),
  WITHOUT(delete_during_adoption, 4),
  WITHOUT(scan_at_the_same_time, 4),
  WITHOUT(fail_memory, 3),
  WITH_THREAD(fork_process, 1),
  WITHOUT(teardown, 1),
  WITHOUT(plan_preemption, 30),
};

static unsigned choose_operation(void) {
  unsigned i = 0, at = next();
  while (at >= operations[i].weight) at -= operations[i].weight, i++;
  return i;
}

static void run_on(int thread, void (*run)(void)) {
  unsigned was_busy = busy;
  if (thread < DOMAINS) busy |= 1u << thread;
  world.inside = -1;
  int before = fake_switch(thread);
  run();
  fake_switch(before);
  busy = was_busy;
}

static void one_operation(void) {
  unsigned i = choose_operation();
  int thread = operations[i].has_thread ? choose_thread() : LOCKLESS;
  if (fuzz_traces) fprintf(stderr, "%*s%s by %d\n", 2 * (int)depth, "", operations[i].name, thread);
  run_on(thread, operations[i].run);
}

static void begin(void) {
  unsigned choice = next();
  fake_reset();
  shadow_reset();
  world_reset();
  busy = depth = fuzz_countdown = 0;
  bxr_os_fail(0, false);
  bxr_os_pretend_page_size(choice % 8 == 7 ? 4 * BXR_POOL_SIZE : 0);
  fake.takes_ranges = choice % 8 != 6;
  fake.marks_late = choice / 8 % 2 != 0;
  for (int d = 0; d < 1 + (int)(choice / 64); d++) fake_domain_start(d);
  int before = fake_switch(0);
  CHECK(boxroot_setup());
  boxroot_profile(choice / 16 % 4 == 3 ? 1 : choice / 16 % 4 == 2 ? 5 : 0);
  fake_switch(before);
}

static void check(void) {
  shadow_check_values();
  shadow_check_counts();
  shadow_check_samples();
  shadow_check_domains(0);
}

/* Deletes all roots and ends all deletes that are under way. After two minor collections, the
   deletes have reached their owners. */
static void delete_everything(void) {
  fuzz_countdown = 0;
  fake.failing = false;
  fake.refusals = 0;
  bxr_os_fail(0, false);
  while (shadow.delete_count != 0) post_delete(shadow.delete_count - 1);
  int before = fake_switch(0);
  while (shadow.root_count != 0) delete_one(shadow.root_count - 1);
  fake_switch(before);
  world_minor(0);
  world_minor(0);
  check();
  CHECK(fuzz_count_samples().count == 0);
}

static size_t all_pools(void) {
  size_t pools = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered)
    pools += d->pool_count;
  return pools;
}

static void on_all_domains(void (*run)(void)) {
  for (int d = 0; d < DOMAINS; d++)
    if (fake.domains[d].life == RUNNING) run_on(d, run);
}

static void check_statistics(void) {
  struct boxroot_stats stats;
  boxroot_stats(&stats, sizeof stats);
  CHECK(fake.torn_down || stats.live_roots == 0);
}

/* Records are never unmapped, and neither is the table of samples. */
static void check_memory(void) {
  size_t records = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) records++;
  CHECK(fake_mapped() == records * 4096 + fuzz_count_samples().mirrors * BXR_POOL_SIZE);
}

/* Four cycles with no minor scans except at their ends. The first cycles take remote deletes, if
   they are in many pools; the next one frees their slots if they had to wait. */
static void four_cycles(void) {
  for (int i = 0; i < (fake.marks_late ? 8 : 4); i++) world_cycle(0, 0);
}

static void end(void) {
  delete_everything();
  bool large_pages = bxr_os_page_size() != 4096, torn_down = fake.torn_down;
  four_cycles();
  check();
  on_all_domains(trim);
  on_all_domains(statistics);
  on_all_domains(check_statistics);
  if (!torn_down && !large_pages) CHECK(all_pools() == 0);
  if (torn_down) return;
  tear_down(true);
  world_cycle(0, 0);
  world_cycle(0, 0);
  if (!large_pages && !fake.refused) check_memory();
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
  input.at = data;
  input.end = data + size;
  begin();
  for (unsigned i = 1; input.at < input.end; i++) {
    one_operation();
    if (i % 16 == 0) check();
  }
  fuzz_countdown = 0;
  check();
  end();
  return 0;
}
