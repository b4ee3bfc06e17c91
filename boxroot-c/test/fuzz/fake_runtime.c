/* SPDX-License-Identifier: MIT */
#define CAML_INTERNALS
#include "fake_runtime.h"

#include <caml/fail.h>
#include <caml/gc.h>
#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../src/orphans.h"
#include "../../src/setup.h"

struct fake fake;
static caml_domain_state states[DOMAINS];

/* The runtime's variables that the fast paths read. */
BXR_THREAD_LOCAL struct bxr_domain_head *bxr_self = &bxr_no_domain;
CAMLthread_local caml_domain_state *caml_state;
uintnat caml_minor_heaps_start, caml_minor_heaps_end;

/* ---- memory: pages that are used once in a history, so that stale addresses are found ---- */

enum { PAGE = 4096, PAGES = 4096 };
static _Alignas(1 << 20) char arena[PAGES][PAGE];
static bool mapped[PAGES];
static size_t used_pages, mapped_pages, fresh_page; /* fresh_page: the first of the last mapping */
static bool out_of_memory;

void *fake_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int fake_munmap(void *start, size_t size);
int fake_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

void *fake_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  (void)at, (void)protection, (void)flags, (void)file, (void)offset;
  size_t pages = size / PAGE;
  out_of_memory = pages > PAGES - used_pages;
  if (out_of_memory) return MAP_FAILED;
  void *start = arena[used_pages];
  fresh_page = used_pages;
  ASAN_UNPOISON_MEMORY_REGION(start, size);
  memset(mapped + used_pages, true, pages);
  used_pages += pages;
  mapped_pages += pages;
  return start;
}

int fake_munmap(void *start, size_t size) {
  size_t first = (size_t)((char *)start - arena[0]) / PAGE;
  /* munmap of a part of the last mapping never fails, because os.c relies on that. */
  if (first < fresh_page && fake.refusals != 0) {
    fake.refusals--;
    fake.refused = true;
    return -1;
  }
  for (size_t i = first; i < first + size / PAGE; i++) {
    CHECK(i < used_pages && mapped[i]);
    mapped[i] = false;
  }
  mapped_pages -= size / PAGE;
  ASAN_POISON_MEMORY_REGION(start, size);
  return 0;
}

bool fake_is_mapped(uintptr_t address) {
  size_t page = (address - (uintptr_t)arena) / PAGE;
  return page < used_pages && mapped[page];
}

size_t fake_mapped(void) { return mapped_pages * PAGE; }
bool fake_is_out_of_memory(void) { return out_of_memory; }

static void reset_memory(void) {
  ASAN_UNPOISON_MEMORY_REGION(arena, used_pages * PAGE);
  memset(arena, 0, used_pages * PAGE);
  ASAN_POISON_MEMORY_REGION(arena, used_pages * PAGE);
  memset(mapped, false, used_pages);
  used_pages = mapped_pages = fresh_page = 0;
  out_of_memory = false;
}

int fake_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  (void)prepare, (void)parent;
  fake.after_fork = child;
  return 0;
}

/* ---- objects ---- */

struct object {
  uintptr_t header, number; /* in a forwarded object: 0, the new address */
};

enum { YOUNG = 1 << 12, MINOR_HEAPS = 2 };
static struct object old_heap[OBJECTS], minor_heaps[MINOR_HEAPS][YOUNG];
static bool dead[OBJECTS];             /* in the old heap */
static size_t old_used, old_compacted; /* objects before old_compacted are gone */
static size_t young_used, young_dead;  /* objects before young_dead are gone */
static struct object *minor_heap;
static uintptr_t addresses[OBJECTS];
static unsigned numbers;

/* Colours rotate. */
static struct { uintptr_t marked, unmarked, garbage; } colours;

static uintptr_t new_header(uintptr_t colour) { return Make_header(1, Abstract_tag, colour); }
static uintptr_t colour_of(uintptr_t header) { return header & (3 << 8); }

static struct object *object_at(uintptr_t v) { return (struct object *)(v - sizeof(header_t)); }
static uintptr_t address_of(struct object *o) { return (uintptr_t)&o->number; }

static bool is_within(struct object *o, struct object *heap, size_t from, size_t to) {
  size_t offset = (uintptr_t)o - (uintptr_t)heap;
  return offset % sizeof *o == 0 && offset / sizeof *o >= from && offset / sizeof *o < to;
}

bool fake_is_young(uintptr_t v) {
  return (v & 1) == 0 && v - caml_minor_heaps_start < caml_minor_heaps_end - caml_minor_heaps_start;
}

/* Whether v is an old object, even a dead one. */
static bool was_old(uintptr_t v) {
  return (v & 1) == 0 && is_within(object_at(v), old_heap, 0, old_used);
}

static bool is_old(uintptr_t v) {
  return was_old(v) && object_at(v) >= old_heap + old_compacted && !dead[object_at(v) - old_heap];
}

static void kill(size_t i) {
  dead[i] = true;
  ASAN_POISON_MEMORY_REGION(&old_heap[i], sizeof *old_heap);
}

static struct object *new_old(unsigned number, uintptr_t colour) {
  struct object *o = &old_heap[old_used++];
  ASAN_UNPOISON_MEMORY_REGION(o, sizeof *o);
  *o = (struct object){new_header(colour), number};
  addresses[number] = address_of(o);
  return o;
}

/* New objects are marked, except, with marks_late, those made before marking has begun. */
static uintptr_t birth_colour(void) {
  return fake.marks_late && !fake.marking ? colours.unmarked : colours.marked;
}

unsigned fake_new_object(bool young) {
  size_t survivors = young_used - young_dead;
  if (numbers + 1 >= OBJECTS || old_used + survivors + 1 >= OBJECTS) return 0;
  if (young && young_used == YOUNG) return 0;
  unsigned number = ++numbers;
  if (!young) {
    new_old(number, birth_colour());
    return number;
  }
  struct object *o = &minor_heap[young_used++];
  ASAN_UNPOISON_MEMORY_REGION(o, sizeof *o);
  *o = (struct object){new_header(0), number};
  addresses[number] = address_of(o);
  return number;
}

uintptr_t fake_address(unsigned object) { return addresses[object]; }

bool fake_holds(uintptr_t v, unsigned object) {
  struct object *o = object_at(v);
  bool live = fake_is_young(v) ? is_within(o, minor_heap, young_dead, young_used) : is_old(v);
  return live && o->header != 0 && o->number == object;
}

bool fake_is_marked_object(unsigned object) {
  uintptr_t v = addresses[object];
  return fake_is_young(v) || colour_of(object_at(v)->header) == colours.marked;
}

static void place_minor_heap(struct object *heap) {
  if (minor_heap != NULL) ASAN_POISON_MEMORY_REGION(minor_heap, sizeof minor_heaps[0]);
  minor_heap = heap;
  caml_minor_heaps_start = (uintptr_t)heap;
  caml_minor_heaps_end = (uintptr_t)(heap + YOUNG);
  young_used = young_dead = 0;
}

static void reset_objects(void) {
  ASAN_UNPOISON_MEMORY_REGION(old_heap, old_used * sizeof *old_heap);
  memset(old_heap, 0, old_used * sizeof *old_heap);
  memset(dead, 0, old_used);
  ASAN_POISON_MEMORY_REGION(old_heap, sizeof old_heap);
  old_used = old_compacted = numbers = 0;
  colours.marked = 0 << 8, colours.unmarked = 1 << 8, colours.garbage = 2 << 8;
  minor_heap = NULL;
  place_minor_heap(minor_heaps[0]);
  ASAN_POISON_MEMORY_REGION(minor_heaps, sizeof minor_heaps);
}

/* ---- threads and domains ---- */

void fake_reset(void) {
  reset_memory();
  reset_objects();
  for (int d = 0; d < DOMAINS; d++) {
    fake.domains[d].life = UNBORN;
    fake.domains[d].record = NULL;
    fake.domains[d].depth = 0;
  }
  memset(fake.threads, 0, sizeof fake.threads);
  for (int t = 0; t < THREADS; t++) fake.threads[t].self = &bxr_no_domain;
  fake.threads[LOCKLESS].exists = true;
  fake.thread = LOCKLESS;
  fake.scanning = fake.refusals = 0;
  fake.refused = false;
  fake.marks_late = fake.marking = fake.torn_down = fake.failing = false;
  caml_state = NULL;
  bxr_self = &bxr_no_domain;
  fuzz_forget_everything();
}

int fake_switch(int thread) {
  int before = fake.thread;
  fake.threads[before].self = bxr_self;
  fake.thread = thread;
  bxr_self = fake.threads[thread].self;
  caml_state = fake.threads[thread].state;
  return before;
}

int fake_domain_of_thread(void) { return fake.thread < DOMAINS ? fake.thread : -1; }

static struct fake_thread *current(void) { return &fake.threads[fake.thread]; }

bool fake_may_create(void) {
  int d = fake_domain_of_thread();
  return d >= 0 && fake.domains[d].life == RUNNING && (fake.scanning >> d & 1) == 0 &&
         !fake.torn_down;
}

void fake_domain_start(int domain) {
  struct fake_domain *d = &fake.domains[domain];
  d->life = RUNNING;
  d->record = NULL;
  d->marking_done = true;
  fake.threads[domain] = (struct fake_thread){&states[domain], &bxr_no_domain, false, false, true};
}

void fake_domain_terminated(int domain) {
  struct fake_domain *d = &fake.domains[domain];
  d->life = ENDING;
  if (fake.torn_down) return;
  int before = fake_switch(domain);
  while (d->depth != 0) fake_mark(domain, 1000);
  bxr_self = &bxr_no_domain;
  current()->ended = true;
  if (d->record != NULL) bxr_orphans_add(d->record);
  d->record = NULL;
  fake_switch(before);
}

void fake_domain_finish(int domain) {
  struct fake_domain *d = &fake.domains[domain];
  while (d->depth != 0) fake_mark(domain, 1000);
  d->life = UNBORN;
  fake.threads[domain].exists = false;
  fake.threads[GHOSTS + domain] = fake.threads[domain];
  fake.threads[GHOSTS + domain].exists = true;
}

unsigned fake_running(void) {
  unsigned running = 0;
  for (int d = 0; d < DOMAINS; d++) running |= (unsigned)(fake.domains[d].life != UNBORN) << d;
  return running;
}

/* No code here raises. */
void caml_raise_out_of_memory(void) { abort(); }
void caml_failwith(char const *message) { (void)message, abort(); }

/* ---- the interface of runtime.h ---- */

void *bxr_runtime_state(void) { return current()->ended ? NULL : current()->state; }

struct bxr_domain **bxr_runtime_record(void) {
  int d = fake_domain_of_thread();
  return bxr_runtime_state() == NULL || d < 0 ? NULL : &fake.domains[d].record;
}

int bxr_lock_state(void) {
  if (current()->ended) return BXR_LOCK_ENDED;
  return current()->state != NULL ? BXR_LOCK_HELD : BXR_LOCK_NOT_HELD;
}

void bxr_runtime_cache(struct bxr_domain *domain) {
  bxr_self = &domain->head;
  current()->trusted = true;
}

bool bxr_runtime_sets_up_itself(void) { return true; }
bool bxr_runtime_is_trusted(void) { return current()->trusted; }
void bxr_runtime_setup(void) {}

bool bxr_runtime_is_other(void) { return false; }

bool bxr_runtime_is_on_own_stack(void) { return true; }
bool bxr_runtime_is_alone(void) {
  unsigned running = fake_running();
  return (running & (running - 1)) == 0;
}

bool bxr_runtime_survives_fork(void) { return bxr_runtime_is_alone(); }

void bxr_runtime_teardown(void) {
  for (int d = 0; d < DOMAINS; d++) fake.domains[d].record = NULL;
}

bool bxr_runtime_marks_ranges(void) { return true; }

bool bxr_runtime_copy(uintptr_t const *words, size_t count) {
  (void)words, (void)count;
  return false;
}

uintptr_t bxr_runtime_unmarked_header(size_t size) {
  return Make_header(size, 0, colours.unmarked);
}

bool bxr_runtime_is_marked(uintptr_t header) { return colour_of(header) == colours.marked; }

uint32_t bxr_runtime_cycle(void) { return fake.cycle; }
bool bxr_runtime_hides_callers(uintptr_t function) { return (void)function, false; }

bool bxr_runtime_marking_started(void) { return fake.marks_late && fake.marking; }

bool bxr_runtime_may_be_forced(void) { return young_used == 0; }
bool bxr_runtime_marking_done(void) {
  int d = fake_domain_of_thread();
  CHECK(d >= 0);
  return (fake.marks_late && !fake.marking) || fake.domains[d].marking_done;
}

/* This collector is not paced. */
void bxr_runtime_owe(size_t words) { (void)words; }
bool bxr_runtime_rests_after_forced_cycles(void) { return false; }

/* ---- minor collections ---- */

uintptr_t fake_promote(uintptr_t v) {
  if (!fake_is_young(v)) return v;
  struct object *o = object_at(v);
  CHECK(is_within(o, minor_heap, young_dead, young_used));
  if (o->header != 0) {
    uintptr_t moved = address_of(new_old((unsigned)o->number, birth_colour()));
    *o = (struct object){0, moved};
  }
  return o->number;
}

void fake_end_minor(void) {
  ASAN_POISON_MEMORY_REGION(minor_heap, young_used * sizeof *minor_heap);
  young_dead = young_used;
  if (young_used > YOUNG / 2) young_dead = young_used = 0;
}

void fake_move_minor_heap(void) {
  fake_end_minor();
  place_minor_heap(minor_heap == minor_heaps[0] ? minor_heaps[1] : minor_heaps[0]);
}

/* ---- marking ---- */

void fake_push(int domain, uintptr_t *start, uintptr_t *end) {
  struct fake_domain *d = &fake.domains[domain];
  CHECK(d->depth < STACK);
  d->stack[d->depth++] = (struct fake_range){start, end};
}

/* A block that is not an object must belong to the allocator: a directory, or the slots of a
   pool. */
static void darken_range(int domain, uintptr_t v) {
  CHECK(v % sizeof(value) == 0 && fake_is_mapped(v - sizeof(header_t)));
  uintptr_t *block = (uintptr_t *)v, header = block[-1];
  CHECK(Tag_hd(header) == 0 && Wosize_hd(header) != 0);
  CHECK(colour_of(header) == colours.unmarked || colour_of(header) == colours.marked);
  if (colour_of(header) == colours.marked) return;
  block[-1] = Make_header(Wosize_hd(header), 0, colours.marked);
  fake_push(domain, block, block + Wosize_hd(header));
}

void fake_darken(int domain, uintptr_t v) {
  if ((v & 1) != 0 || fake_is_young(v)) return;
  if (is_old(v) && colour_of(object_at(v)->header) == colours.marked) return;
  CHECK(!was_old(v) || is_old(v));
  if (!is_old(v) && !fake.takes_ranges) return;
  fake.domains[domain].marking_done = false;
  if (!is_old(v)) {
    darken_range(domain, v);
    return;
  }
  CHECK(colour_of(object_at(v)->header) == colours.unmarked);
  object_at(v)->header = new_header(colours.marked);
}

static void visit(int domain, uintptr_t *field) {
  bool ours = (uintptr_t)field - (uintptr_t)arena < sizeof arena;
  CHECK(!ours || fake_is_mapped((uintptr_t)field));
  uintptr_t v = *field;
  if (fake_is_young(v)) CHECK(is_within(object_at(v), minor_heap, young_dead, young_used));
  fake_darken(domain, v);
}

void fake_mark(int domain, unsigned n) {
  struct fake_domain *d = &fake.domains[domain];
  while (d->depth != 0 && n-- != 0) {
    struct fake_range *top = &d->stack[d->depth - 1];
    if (top->next == top->end)
      d->depth--;
    else
      visit(domain, top->next++);
  }
  d->marking_done = d->depth == 0;
}

void fake_end_cycle(void) {
  for (int d = 0; d < DOMAINS; d++) CHECK(fake.domains[d].depth == 0);
  for (size_t i = old_compacted; i < old_used; i++)
    if (!dead[i] && colour_of(old_heap[i].header) != colours.marked) kill(i);
  uintptr_t garbage = colours.garbage;
  colours.garbage = colours.unmarked;
  colours.unmarked = colours.marked;
  colours.marked = garbage;
  fake.marking = false;
  fake.cycle++;
}

void fake_begin_marking(void) {
  fake.marking = true;
  for (int d = 0; d < DOMAINS; d++) fake.domains[d].marking_done = false;
}

/* ---- compaction: every object moves ---- */

static size_t compaction_start;

bool fake_begin_compaction(void) {
  compaction_start = old_used;
  return 2 * old_used - old_compacted < OBJECTS;
}

uintptr_t fake_compact(uintptr_t v) {
  if (!is_old(v)) return v;
  struct object *o = object_at(v);
  if (is_within(o, old_heap, compaction_start, old_used)) return v;
  if (o->header != 0)
    *o = (struct object){0, address_of(new_old((unsigned)o->number, colour_of(o->header)))};
  return o->number;
}

void fake_end_compaction(void) {
  ASAN_POISON_MEMORY_REGION(old_heap, compaction_start * sizeof *old_heap);
  old_compacted = compaction_start;
}

/* ---- root scans ---- */

static struct {
  enum fake_action action;
  int domain;
  void (*each)(int domain);
} scans[DOMAINS];

static uintptr_t act(enum fake_action action, int domain, uintptr_t v) {
  switch (action) {
  case FAKE_MINOR: return fake_promote(v);
  case FAKE_COMPACT: return fake_compact(v);
  case FAKE_DARKEN: fake_darken(domain, v); return v;
  case FAKE_VERIFY: CHECK(is_old(v)); return v;
  }
  return v;
}

static void scan_root(void *data, value v, value volatile *root) {
  int domain = (int)(intptr_t)data;
  CHECK(*root == v && Is_block(v));
  uintptr_t now = act(scans[domain].action, domain, (uintptr_t)v);
  if (now != (uintptr_t)v) *root = (value)now;
  if (scans[domain].each != NULL) scans[domain].each(domain);
}

void fake_scan(int domain, enum fake_action action, void (*each)(int domain)) {
  struct fake_domain *d = &fake.domains[domain];
  if (fake.torn_down) {
    if (action == FAKE_DARKEN) bxr_setup_give_memory_back();
    return;
  }
  if (d->life != RUNNING) return;
  int before = fake_switch(domain);
  current()->trusted = true;
  scans[domain].action = action;
  scans[domain].each = each;
  fake.scanning |= 1u << domain;
  enum bxr_scan_kind kind = action == FAKE_MINOR    ? BXR_SCAN_MINOR
                            : action == FAKE_DARKEN ? BXR_SCAN_DARKEN
                                                    : BXR_SCAN_OTHER;
  bxr_scan(kind, &d->record, &states[domain],
           (struct bxr_action){scan_root, (void *)(intptr_t)domain});
  fake.scanning &= ~(1u << domain);
  fake_switch(before);
}
