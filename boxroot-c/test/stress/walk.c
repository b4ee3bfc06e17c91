/* SPDX-License-Identifier: MIT */
/* Actors: their life, their seasons, and the choice of what to do next. */
#include "stress.h"

#include <caml/alloc.h>
#include <caml/memory.h>

#include <stdlib.h>
#include <string.h>

/* ---- seasons ---- */

/* The longest season, in steps. Long enough to fill the tables, short enough that a run has
   many. */
enum { SEASON = 60000 };

static uint32_t new_target(struct actor *a) {
  uint32_t const parts[] = {0, 400, 20, 5, 2, 1};
  uint32_t part = parts[below(&a->random, sizeof parts / sizeof parts[0])];
  return part == 0 ? below(&a->random, 50) : settings.roots / part;
}

static uint32_t new_weight(struct actor *a, struct operation const *operation) {
  static uint32_t const levels[] = {0, 1, 1, 4};
  if (strstr(settings.except, operation->name) != NULL) return 0;
  return operation->weight * levels[below(&a->random, sizeof levels / sizeof levels[0])];
}

static void new_season(struct actor *a) {
  uint32_t weights[64], total = 1, filled = 0;
  if (operation_count > sizeof weights / sizeof weights[0]) fail("too many operations");
  a->target = new_target(a);
  a->season_ends = a->steps + 1 + below(&a->random, SEASON);
  for (uint32_t i = 0; i < operation_count; i++)
    total += weights[i] = new_weight(a, &operations[i]);
  for (uint32_t i = 0; i < operation_count; i++) {
    uint32_t share = weights[i] == 0 ? 0 : 1 + weights[i] * 900 / total;
    for (; share > 0 && filled < sizeof a->choices; share--) a->choices[filled++] = (uint8_t)i;
  }
  /* The remaining choices are operation 0, a get. */
  while (filled < sizeof a->choices) a->choices[filled++] = 0;
}

/* ---- walking ---- */

static void step(struct actor *a) {
  if (a->steps >= a->season_ends) new_season(a);
  struct operation const *operation = &operations[a->choices[below(&a->random, sizeof a->choices)]];
  a->operation = operation->name;
  operation->run(a);
  a->steps++;
}

/* The end of a domain makes the runtime finish a major cycle, which takes long if there are many
   roots. So an actor with many roots usually postpones a life until it has few. */
static bool time_for_a_life(struct actor *a) {
  if (a->every == 0 || a->calls < a->next_life) return false;
  if (a->table.count > 1000 && !one_in(&a->random, 5000)) return false;
  a->next_life += a->every;
  a->request = LIFE;
  a->argument = Val_long(draw(&a->random) >> 2);
  return true;
}

enum request walk(struct actor *a, uint32_t n) {
  struct actor *outer = current_actor;
  current_actor = a;
  a->request = GO_ON;
  for (; n > 0 && a->request == GO_ON && a->calls < a->budget; n--)
    if (!time_for_a_life(a)) step(a);
  if (a->request == GO_ON && a->calls >= a->budget) a->request = STOP;
  a->operation = "between steps";
  current_actor = outer;
  return a->request;
}

/* ---- life ---- */

struct actor *new_actor(uint32_t number, uint64_t budget, uint64_t every) {
  struct actor *a = calloc(1, sizeof *a);
  if (a == NULL) fail("out of memory");
  a->number = number;
  a->random.state = mix(settings.seed) + mix(~(uint64_t)number);
  a->budget = budget;
  a->every = a->next_life = every;
  a->operation = "start";
  a->shelf = Val_unit;
  caml_register_generational_global_root(&a->shelf);
  return a;
}

void end_actor(struct actor *a) {
  current_actor = a;
  a->operation = "end";
  drop_shelf(a);
  caml_remove_generational_global_root(&a->shelf);
  market_send(&a->table, a->table.count);
  count_calls(a->calls);
  current_actor = NULL;
  free(a->table.entries);
  free(a);
}

/* ---- the shelf ---- */

void check_shelf(struct actor *a) {
  if (a->shelf == Val_unit) return;
  for (uint32_t i = 0; i < SHELF; i++) {
    if (a->shelf_ids[i] == 0) continue;
    char const *wrong = wrong_value(Field(a->shelf, i), a->shelf_ids[i]);
    if (wrong != NULL)
      fail("the heap lost %s of id %llx, which came from a root: it holds %p", wrong,
           (unsigned long long)a->shelf_ids[i], (void *)Field(a->shelf, i));
  }
}

void drop_shelf(struct actor *a) {
  check_shelf(a);
  for (uint32_t i = 0; i < SHELF; i++) a->shelf_ids[i] = 0;
  caml_modify_generational_global_root(&a->shelf, Val_unit);
}
