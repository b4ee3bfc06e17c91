/* SPDX-License-Identifier: MIT */
/* The functions that stress.ml calls. Actors are given to OCaml as immediates. */
#include "stress.h"

#include <caml/alloc.h>
#include <caml/signals.h>
#include <caml/threads.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static struct actor *actor_of(value handle) { return (struct actor *)(handle & ~(value)1); }

value stress_new_actor(value number, value budget, value every) {
  return (value)new_actor((uint32_t)Long_val(number), (uint64_t)Long_val(budget),
                          (uint64_t)Long_val(every)) |
         1;
}

value stress_end_actor(value actor) {
  end_actor(actor_of(actor));
  return Val_unit;
}

value stress_walk(value actor, value steps) {
  return Val_int(walk(actor_of(actor), (uint32_t)Long_val(steps)));
}

value stress_fill(value actor, value n) {
  fill(actor_of(actor), (uint32_t)Long_val(n));
  return Val_unit;
}

value stress_argument(value actor) { return actor_of(actor)->argument; }

value stress_delete(value handle) {
  boxroot_delete((boxroot)(handle & ~(value)1));
  return Val_unit;
}

value stress_setup(value unit) {
  if (!boxroot_setup()) fail("setup failed: %s", boxroot_error_string());
  return unit;
}

/* ---- a thread that OCaml does not know registers, walks, and unregisters ---- */

/* This thread calls no OCaml code, so a root that a finaliser should delete is deleted at once. */
static void walk_alone(struct actor *a) {
  enum request request;
  while ((request = walk(a, 256)) != STOP)
    if (request == FINALISE) stress_delete(a->argument);
}

static void *registered_life(void *seed) {
  if (!caml_c_thread_register()) fail("a thread cannot be registered");
  caml_acquire_runtime_system();
  struct actor *a = new_actor((uint32_t)(uintptr_t)seed, 300, 0);
  walk_alone(a);
  end_actor(a);
  caml_release_runtime_system();
  caml_c_thread_unregister();
  return NULL;
}

value stress_registered(value number) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, registered_life, (void *)(uintptr_t)Long_val(number)) != 0)
    fail("no thread");
  caml_enter_blocking_section();
  pthread_join(thread, NULL);
  caml_leave_blocking_section();
  return Val_unit;
}

/* ---- random replacement ---- */

value stress_begin_periods(value n, value roots, value one_value) {
  begin_periods((uint32_t)Long_val(n), (uint32_t)Long_val(roots), Bool_val(one_value));
  return Val_unit;
}

value stress_next_period(value unit) {
  next_period();
  return unit;
}

value stress_new_replacer(value number, value n) {
  return (value)new_replacer((uint32_t)Long_val(number), (uint32_t)Long_val(n)) | 1;
}

value stress_leave_roots(value actor) {
  leave_roots(actor_of(actor));
  return Val_unit;
}

value stress_end_replacer(value actor) {
  end_replacer(actor_of(actor));
  return Val_unit;
}

value stress_end_last_replacer(value actor) {
  end_last_replacer(actor_of(actor));
  return Val_unit;
}

/* Polls for signals, because loops of OCaml 4.13 do not. If all garbage is made in the major heap,
   nothing else polls, and the collector and the other threads wait forever. */
value stress_replace(value actor, value n) {
  bool more = replace_some(actor_of(actor), (uint32_t)Long_val(n));
  caml_process_pending_actions();
  return Val_bool(more);
}

value stress_wait_for_periods(value n) {
  wait_for_periods((uint32_t)Long_val(n));
  return Val_unit;
}

value stress_check_all_dead(value unit) {
  check_all_dead();
  return unit;
}

/* ---- the end ---- */

/* Receives everything from the market, checks it, and deletes it. */
value stress_clear_market(value checked) {
  struct table rest = {0};
  while (market_receive(&rest, 1000) != 0) {}
  for (uint32_t i = 0; Bool_val(checked) && i < rest.count; i++) check_entry(rest.entries[i]);
  count_other_calls(rest.count);
  while (rest.count > 0) {
    boxroot r = table_remove(&rest, rest.count - 1).root;
    if (rest.count % 4 != 0 || !lockless_send(r)) boxroot_delete(r);
  }
  return Val_unit;
}

static struct boxroot_stats statistics(void) {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  return s;
}

value stress_live_roots(value unit) {
  (void)unit;
  return Val_long(statistics().live_roots);
}

value stress_pools(value unit) {
  (void)unit;
  boxroot_trim();
  return Val_long(statistics().pools);
}

value stress_validate(value unit) {
  char const *broken = boxroot_validate();
  if (broken != NULL) fail("broken invariant: %s", broken);
  return unit;
}

/* Called when all roots were deleted. */
value stress_check_profile(value unit) {
  FILE *file = tmpfile();
  unsigned roots = 0;
  if (file == NULL || !boxroot_profile_write(fileno(file), 0)) fail("no profile");
  rewind(file);
  if (fscanf(file, "heap profile: %u", &roots) != 1 || roots != 0)
    fail("%u roots are in the profile", roots);
  fclose(file);
  return unit;
}

value stress_print(value unit) {
  boxroot_print_stats();
  fflush(stdout);
  return unit;
}

value stress_fail(value text) { fail("%s", String_val(text)); }

value stress_teardown(value unit) {
  boxroot_teardown();
  errno = 0;
  if (boxroot_create(Val_unit) != NULL || errno != EPERM) fail("create worked after teardown");
  return unit;
}
