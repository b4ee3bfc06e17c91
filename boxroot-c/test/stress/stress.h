/* SPDX-License-Identifier: MIT */
/* A random walk over the public interface of boxroot.

   Actors walk: each has its own random numbers, a table of the roots that it owns, and a heap block
   (the shelf) with values that no root keeps. Each value in a root or on a shelf is made from an
   id, and checked against this id. Roots go from actor to actor through the market. Threads without
   a lock delete the roots that are sent to them. The hooks of the runtime have a table for each
   domain. An actor has seasons: in each, it prefers other operations, and aims at another number of
   roots. A life is a domain that starts, walks a little, and ends. After the walk, actors replace
   roots at random for many cycles (replace.c).

   Only boxroot.h is used, so the walk does not depend on how boxroot works. */
#ifndef STRESS_H
#define STRESS_H

#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <caml/mlvalues.h>
#include <caml/version.h>

/* ---- random numbers: the same seed and actor make the same choices ---- */

struct random {
  uint64_t state;
};

static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t draw(struct random *r) { return mix(r->state += 0x9e3779b97f4a7c15u); }

/* A number below n, which is not 0. */
static inline uint32_t below(struct random *r, uint32_t n) {
  return (uint32_t)(((draw(r) >> 32) * n) >> 32);
}

static inline bool one_in(struct random *r, uint32_t n) { return below(r, n) == 0; }

/* ---- values (values.c) ---- */

/* An odd id is an immediate of these bits. An even id is a block, whose shape the id determines.
   OWNER is a custom block that owns a root, and deletes it in its finaliser. */
#define OWNER ((uint64_t)2)

static inline uint64_t immediate_id(struct random *r) { return draw(r) | 1; }
static inline uint64_t block_id(struct random *r) { return (draw(r) | 4) & ~(uint64_t)1; }

/* Makes the value. The collector, finalisers, signal handlers and other threads may run. */
value make_value(uint64_t id);
/* If the value is wrong, returns the expected value as a text; otherwise NULL. */
char const *wrong_value(value v, uint64_t id);
/* Whether the value is an infix pointer. */
bool is_infix(uint64_t id);
/* Allocates blocks of the major heap that are garbage at once, to overwrite freed memory. */
void trash(struct random *r, uint32_t blocks);

/* ---- roots with their ids (table.c) ---- */

struct entry {
  boxroot root;
  uint64_t id;
};

struct table {
  struct entry *entries;
  uint32_t count, room;
};

void table_push(struct table *t, struct entry e);
struct entry table_remove(struct table *t, uint32_t i);
/* Checks the value of an entry, or fails. */
void check_entry(struct entry e);
/* Makes a custom block that owns the root. */
value make_owner(struct entry e);
/* The market: roots on their way from one actor to another. market_receive returns how many it
   received. */
void market_send(struct table *from, uint32_t n);
uint32_t market_receive(struct table *to, uint32_t n);

/* ---- threads without the lock (lockless.c) ---- */

/* Returns true if such a thread will delete the root, and false if there is no room. */
bool lockless_send(boxroot r);
/* Returns when all roots that were sent are deleted. Called without the lock. */
void lockless_wait(void);

/* ---- processes and threads that end (ends.c) ---- */

/* A thread-local destructor of this thread will delete the root, and call other functions. */
void delete_at_thread_end(boxroot r);
/* Not on Windows. Forks. The child uses these roots, validates, and exits; if it does not, the walk
   fails. */
void try_in_child(struct table *t);

/* ---- actors (walk.c, operations.c) ---- */

enum { SHELF = 3000 };

/* A request to the OCaml side, before the walk goes on; stress.ml has the same numbers. */
enum request {
  STOP,
  GO_ON,
  MINOR,
  SLICE,
  MAJOR,
  FULL_MAJOR,
  COMPACT,
  MINOR_HEAP,
  YIELD,
  FINALISE,
  LIFE,
  CHURN,
  REGISTERED,
  OVERHEAD
};

struct actor {
  struct random random;
  uint32_t number;
  char const *operation;     /* the current one */
  uint64_t steps, calls;     /* so far; calls of boxroot's functions */
  uint64_t budget;           /* the walk stops after this many calls */
  uint64_t every, next_life; /* calls between two lives, 0: none */
  uint64_t season_ends;      /* in steps */
  uint64_t last_collection;  /* in calls */
  enum request request;
  value argument;  /* of the request: an immediate */
  uint32_t target; /* the number of roots to aim at in this season */
  struct table table;
  value shelf;               /* a global root */
  uint64_t shelf_ids[SHELF]; /* 0: the place is empty */
  uint8_t choices[1024];     /* of operations, in this season */
};

/* An operation. Its weight is 0 in many seasons, so that each one meets few others at a time. */
struct operation {
  char const *name;
  uint32_t weight;
  void (*run)(struct actor *);
};
extern struct operation const operations[];
extern uint32_t const operation_count;

struct actor *new_actor(uint32_t number, uint64_t budget, uint64_t every);
/* Leaves its roots to the market. */
void end_actor(struct actor *a);
/* Walks up to n steps. Returns STOP, GO_ON, or a request, whose argument is a->argument. */
enum request walk(struct actor *a, uint32_t n);
void fill(struct actor *a, uint32_t n); /* creates n roots of new values */
void check_shelf(struct actor *a);
void drop_shelf(struct actor *a);

/* ---- random replacement (replace.c) ---- */

/* Makes an actor with n roots. end_replacer leaves its roots to others, which delete them. The last
   one deletes all. */
struct actor *new_replacer(uint32_t number, uint32_t n);
void leave_roots(struct actor *a);
void end_replacer(struct actor *a);
void end_last_replacer(struct actor *a);
/* Replaces n times. Returns false if the test is over. */
bool replace_some(struct actor *a, uint32_t n);
/* Begins n periods with this many roots in all. When the collector has begun a new cycle,
   next_period must be called, which checks the memory. */
void begin_periods(uint32_t n, uint32_t roots, bool one_value);
void next_period(void);
void wait_for_periods(uint32_t n);
/* To be called when all roots were deleted and all values collected. */
void check_all_dead(void);

/* ---- the hooks of the runtime (hooks.c) ---- */

/* Moves roots between an actor and the table of the hooks of its domain. */
void feed_hooks(struct table *t, uint32_t n);
/* Called in the finaliser of a custom block. */
void hooks_in_finaliser(void);

/* ---- the whole run (report.c) ---- */

struct settings {
  uint64_t seed;
  uint32_t roots;     /* the most that an actor aims at */
  uint32_t pause;     /* calls of an actor between two whole collections that it asks for */
  uint32_t hooks;     /* a set of bits: which hooks act */
  char const *except; /* operations that are left out, or "" */
};
extern struct settings settings;

/* For messages: the actor of this thread, and the hook that it runs in, or NULL. */
extern __thread struct actor *current_actor;
extern __thread char const *current_hook;

/* Counts calls of boxroot's functions by actors, when they end, and by others. */
void count_calls(uint64_t n);
void count_other_calls(uint64_t n);

/* Prints the message and the place, and aborts. */
_Noreturn void fail(char const *format, ...) __attribute__((format(printf, 1, 2)));

#endif
