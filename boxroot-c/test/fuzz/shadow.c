/* SPDX-License-Identifier: MIT */
#include "shadow.h"

#include <string.h>

#include "../../src/profile.h"

struct shadow shadow;

void shadow_reset(void) {
  shadow.root_count = shadow.delete_count = 0;
  for (unsigned i = 0; i < CELLS; i++) {
    shadow.cells[i] = (struct thing){0, Val_unit};
    shadow.heap[i] = (uintptr_t)Val_unit;
  }
}

uintptr_t shadow_value(struct thing thing) {
  return thing.object != 0 ? fake_address(thing.object) : (uintptr_t)thing.immediate;
}

bool shadow_is_young(struct thing thing) {
  return thing.object != 0 && fake_is_young(fake_address(thing.object));
}

void shadow_add(boxroot root, struct thing holds) {
  CHECK(shadow.root_count < ROOTS);
  shadow.roots[shadow.root_count++] = (struct shadow_root){root, holds};
}

struct shadow_root shadow_take(unsigned index) {
  struct shadow_root taken = shadow.roots[index];
  shadow.roots[index] = shadow.roots[--shadow.root_count];
  return taken;
}

void shadow_set_cell(unsigned cell, struct thing holds) {
  if (fake.marking) fake_darken(fake_domain_of_thread(), shadow.heap[cell]);
  shadow.cells[cell] = holds;
  shadow.heap[cell] = shadow_value(holds);
}

void shadow_move_cells(uintptr_t (*move)(uintptr_t)) {
  for (unsigned i = 0; i < CELLS; i++) shadow.heap[i] = move(shadow.heap[i]);
}

/* ---- checks; no other code runs during one ---- */

static void each_thing(void (*check)(struct thing, uintptr_t)) {
  unsigned countdown = fuzz_countdown;
  fuzz_countdown = 0;
  for (unsigned i = 0; i < CELLS; i++) check(shadow.cells[i], shadow.heap[i]);
  for (unsigned i = 0; i < shadow.root_count && !fake.torn_down; i++)
    check(shadow.roots[i].holds, (uintptr_t)boxroot_get(shadow.roots[i].root));
  fuzz_countdown = countdown;
}

static void check_value(struct thing thing, uintptr_t held) {
  CHECK(held == shadow_value(thing));
  if (thing.object != 0) CHECK(fake_holds(held, thing.object));
}

void shadow_check_values(void) { each_thing(check_value); }

static void check_mark(struct thing thing, uintptr_t held) {
  check_value(thing, held);
  if (thing.object != 0) CHECK(fake_is_marked_object(thing.object));
}

void shadow_check_marks(void) { each_thing(check_mark); }

static void count_slots(struct bxr_pool *pool, void *counted) {
  size_t *used = counted;
  *used += bxr_pool_used(pool) - bxr_pool_posted(pool) - pool->waiting;
}

void shadow_check_counts(void) {
  if (fake.torn_down) return;
  unsigned countdown = fuzz_countdown;
  fuzz_countdown = 0;
  size_t used = 0;
  for (struct bxr_domain *d = bxr_domain_registry(); d != NULL; d = d->next_registered) {
    bxr_domain_each_pool(d, count_slots, &used);
    used -= (size_t)__builtin_popcountll(d->head.outgoing.bits);
    for (uint32_t j = 0; j < d->batch_count; j++)
      used -= (size_t)__builtin_popcountll(d->batches[j].bits);
  }
  CHECK(used == shadow.root_count + shadow.delete_count);
  fuzz_countdown = countdown;
}

void shadow_check_samples(void) {
  unsigned countdown = fuzz_countdown;
  fuzz_countdown = 0;
  for (unsigned i = 0; i < shadow.root_count && !fake.torn_down; i++) {
    boxroot r = shadow.roots[i].root;
    CHECK((bxr_profile_of(r) != 0) == bxr_pool_owner(bxr_pool_of_root(r))->is_shadow);
  }
  fuzz_countdown = countdown;
}

static void check_domain(int domain) {
  int before = fake_switch(domain);
  char const *broken = boxroot_validate();
  if (broken != NULL) fprintf(stderr, "domain %d: %s\n", domain, broken);
  CHECK(broken == NULL);
  fake_switch(before);
}

void shadow_check_domains(unsigned busy) {
  unsigned countdown = fuzz_countdown;
  fuzz_countdown = 0;
  for (int d = 0; d < DOMAINS; d++)
    if (fake.domains[d].life == RUNNING && (busy >> d & 1) == 0) check_domain(d);
  fuzz_countdown = countdown;
}
