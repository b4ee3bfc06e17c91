/* SPDX-License-Identifier: MIT */
#include "world.h"

#include "steps.h"

struct world world;

enum { VERIFY = 1, COMPACT = 2, CELLS_FIRST = 4 };

void world_reset(void) {
  world.stopped = world.may_create = false;
  world.may_run = world.todo = 0;
  world.inside = -1;
}

static void stop(unsigned order, unsigned choice) {
  world.stopped = true;
  world.order = order;
  world.choice = choice;
}

static void resume(void) { world_reset(); }

/* Code of the domain may run in the middle of its own scan. */
static void between_roots(int domain) {
  world.inside = domain;
  fuzz_step();
  world.inside = -1;
}

static void push_cells(int domain, bool now) {
  if (world.action != FAKE_DARKEN || !now || fake.domains[domain].life == UNBORN) return;
  unsigned size = CELLS / DOMAINS;
  uintptr_t *start = shadow.heap + (unsigned)domain * size;
  fake_push(domain, start, start + size);
  fake.domains[domain].marking_done = false;
}

/* Domain 0 also pushes the references that belong to domains that do not run. */
static void push_all_cells(int domain, bool now) {
  push_cells(domain, now);
  for (int d = 1; d < DOMAINS && domain == 0 && now && world.action == FAKE_DARKEN; d++)
    if (fake.domains[d].life == UNBORN)
      fake_push(0, shadow.heap + d * (CELLS / DOMAINS), shadow.heap + (d + 1) * (CELLS / DOMAINS));
}

static int next_domain(void) {
  for (unsigned i = 0; i < DOMAINS; i++)
    if (world.todo >> (world.order + i) % DOMAINS & 1) return (int)((world.order + i) % DOMAINS);
  return -1;
}

void world_scan_next(void) {
  int domain = next_domain();
  if (domain < 0) return;
  world.todo &= ~(1u << domain);
  bool cells_first = (world.choice & CELLS_FIRST) != 0;
  push_all_cells(domain, !cells_first);
  fake_scan(domain, world.action, between_roots);
  push_all_cells(domain, cells_first);
  /* Finalisers may run after the minor scan. From OCaml 5.5 on, any code may run after
     darkening. */
  bool runs = world.action == FAKE_MINOR || (world.action == FAKE_DARKEN && fake.marks_late);
  if (runs) world.may_run |= 1u << domain;
  fuzz_step();
}

static void scan_all(enum fake_action action) {
  world.action = action;
  world.todo = fake_running();
  world.may_run = 0;
  world.may_create = action == FAKE_DARKEN && fake.marks_late;
  while (world.todo != 0) world_scan_next();
  world.may_run = 0;
  world.may_create = false;
}

static void minor(void) {
  scan_all(FAKE_MINOR);
  shadow_move_cells(fake_promote);
  if (fake.torn_down)
    fake_move_minor_heap();
  else
    fake_end_minor();
  shadow_check_values();
  /* The hooks at the end of a minor collection. */
  world.may_run = fake_running();
  world.may_create = true;
  for (int i = 0; i < 4; i++) fuzz_step();
  world.may_run = 0;
  world.may_create = false;
}

void world_minor(unsigned order) {
  stop(order, 0);
  minor();
  resume();
}

static bool anything_to_mark(void) {
  for (int d = 0; d < DOMAINS; d++)
    if (fake.domains[d].depth != 0) return true;
  return false;
}

static void finish_marking(void) {
  while (anything_to_mark())
    for (int d = 0; d < DOMAINS; d++) fake_mark(d, 1000);
}

static void end_cycle(void) {
  if ((world.choice & VERIFY) != 0) scan_all(FAKE_VERIFY);
  shadow_check_marks();
  fake_end_cycle();
  if ((world.choice & COMPACT) == 0 || !fake_begin_compaction()) return;
  scan_all(FAKE_COMPACT);
  shadow_move_cells(fake_compact);
  fake_end_compaction();
  shadow_check_values();
}

static void start_cycle(void) {
  fake_begin_marking();
  scan_all(FAKE_DARKEN);
}

void world_cycle(unsigned order, unsigned choice) {
  bool ends = fake.marking || !fake.marks_late, starts = !fake.marking || !fake.marks_late;
  if (ends) finish_marking();
  stop(order, choice);
  minor();
  if (ends) end_cycle();
  if (starts) start_cycle();
  resume();
}
