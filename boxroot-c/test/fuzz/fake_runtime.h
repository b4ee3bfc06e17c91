/* SPDX-License-Identifier: MIT */
/* A runtime without OCaml, behind the interface of src/runtime.h: threads, domains, a heap of small
   objects, and a collector whose steps are called one at a time. */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

#include "../../src/scan.h"
#include "../test.h"

/* ---- domains and threads ---- */

enum {
  DOMAINS = 4,
  /* Threads: 0 to 3 belong to the domains; GHOSTS + d is a thread whose domain d has ended. */
  GHOSTS = DOMAINS,
  LOCKLESS = GHOSTS + DOMAINS,
  THREADS,
  STACK = 4096
};

enum life { UNBORN, RUNNING, ENDING /* past its termination hook */ };

struct fake_range {
  uintptr_t *next, *end;
};

struct fake_domain {
  enum life life;
  struct bxr_domain *record;
  bool marking_done;
  unsigned depth;
  struct fake_range stack[STACK]; /* the words still to be marked */
};

struct fake_thread {
  void *state; /* its Caml_state */
  struct bxr_domain_head *self;
  bool ended, trusted, exists;
};

extern struct fake {
  struct fake_domain domains[DOMAINS];
  struct fake_thread threads[THREADS];
  int thread;        /* the running one */
  unsigned scanning; /* domains whose roots are being scanned; a bit for each */
  bool marks_late;   /* as from OCaml 5.5 on: a cycle begins without marking */
  bool marking;      /* a mark phase runs */
  uint32_t cycle;    /* its number */
  bool torn_down;
  bool failing;      /* bxr_os_map may fail */
  unsigned refusals; /* how many of the next calls of munmap fail */
  bool refused;      /* munmap has failed in this history */
  bool takes_ranges; /* the collector marks blocks outside its heap */
  void (*after_fork)(void);
} fake;

/* Resets everything. The library is not set up then. */
void fake_reset(void);

/* Lets another thread run. Returns the thread that ran before. */
int fake_switch(int thread);

/* The domain whose lock the running thread seems to hold, or -1. */
int fake_domain_of_thread(void);

/* Whether the running thread may create. */
bool fake_may_create(void);

void fake_domain_start(int domain);
/* The end of a domain: first its termination hook, then the steps after the hook. */
void fake_domain_terminated(int domain);
void fake_domain_finish(int domain);
unsigned fake_running(void); /* the domains that run, or are ending; a bit for each */

/* ---- memory ---- */

bool fake_is_mapped(uintptr_t address);
size_t fake_mapped(void); /* in bytes */
bool fake_is_out_of_memory(void);

/* ---- objects ---- */

/* Objects contain their number. They move, and dead ones are poisoned. */
enum { OBJECTS = 1 << 15 };

/* A new object, or 0 if there is no room. */
unsigned fake_new_object(bool young);
uintptr_t fake_address(unsigned object);
bool fake_is_young(uintptr_t v);
/* Whether it is marked in this cycle, or in the minor heap. */
bool fake_is_marked_object(unsigned object);
/* Whether the memory is a live object with this number. */
bool fake_holds(uintptr_t v, unsigned object);

/* See steps.h. */
extern unsigned fuzz_countdown;

/* ---- the collector; the world is stopped, except while it marks ---- */

/* Updates the value of a root or a reference, as a collection does: returns its new address. */
uintptr_t fake_promote(uintptr_t v);
void fake_darken(int domain, uintptr_t v);
uintptr_t fake_compact(uintptr_t v);

/* Calls the root hook for a domain, as the runtime does. `each` runs after each root, and may run
   other code. */
enum fake_action { FAKE_MINOR, FAKE_DARKEN, FAKE_VERIFY, FAKE_COMPACT };
void fake_scan(int domain, enum fake_action action, void (*each)(int domain));

/* Kills the objects that are still in the minor heap. */
void fake_end_minor(void);
/* Begins a compaction: objects that it does not move die at its end. False: there is no room. */
bool fake_begin_compaction(void);
void fake_end_compaction(void);
/* After teardown: the minor heap moves to other memory. */
void fake_move_minor_heap(void);

/* Objects that are not marked die, and the colours rotate. All mark stacks must be empty. */
void fake_end_cycle(void);
void fake_begin_marking(void);
void fake_push(int domain, uintptr_t *start, uintptr_t *end);
/* Visits up to n words. */
void fake_mark(int domain, unsigned n);

/* ---- static state of the allocator's files ---- */

void fuzz_forget_everything(void);
void fuzz_remote_push(struct bxr_pool *pool);

/* The samples of the profile, and the mapped pieces of their table. */
struct fuzz_samples {
  size_t count, mirrors;
};
struct fuzz_samples fuzz_count_samples(void);

#endif
