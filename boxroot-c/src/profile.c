/* SPDX-License-Identifier: MIT */
/* Short comments in the code name the claims of profile.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC */
#endif
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os.h"
#include "runtime.h"
#include "stacks.h"

#ifndef O_CLOEXEC
#define O_CLOEXEC 0 /* Windows */
#endif

/* ---- which creates ---- */

void boxroot_profile(uint32_t rate) { bxr_publish(&bxr_profile_rate, rate); }

void bxr_profile_setup(void) {
  char const *rate = getenv("BOXROOT_PROFILE");
  if (rate != NULL) boxroot_profile((uint32_t)strtoul(rate, NULL, 10));
}

/* The logarithm of x, from 0 (excluded) to 1. On some systems, C's log is in a separate library. */
static double logarithm(double x) {
  int halvings = 0;
  for (; x < 0.7; x *= 2) halvings++;
  double z = (x - 1) / (x + 1), sum = 0;
  for (int i = 15; i > 0; i -= 2) sum = sum * z * z + 1.0 / i;
  return 2 * z * sum - halvings * 0.6931471805599453;
}

/* A number from 0 (excluded) to 1. (Sebastiano Vigna's splitmix64.) */
static double random_part(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)(((x ^ (x >> 31)) >> 11) + 1) / (double)(UINT64_C(1) << 53);
}

/* The number of creates before the next sample, geometrically distributed. */
static uint32_t draw(struct bxr_domain *domain) {
  uint32_t rate = bxr_peek(&bxr_profile_rate);
  if (rate <= 1) return 0;
  double n = logarithm(random_part(&domain->random)) / logarithm(1 - 1.0 / rate);
  return n < BXR_UNDRAWN ? (uint32_t)n : BXR_UNDRAWN - 1;
}

bool bxr_profile_is_due(struct bxr_domain *domain) {
  if (domain->until_sample == BXR_UNDRAWN) domain->until_sample = draw(domain);
  if (domain->until_sample != 0) return false;
  domain->until_sample = BXR_UNDRAWN;
  return true;
}

void bxr_profile_skip(struct bxr_domain *domain) {
  if (domain->until_sample == BXR_UNDRAWN) domain->until_sample = draw(domain);
  if (domain->until_sample < BXR_UNDRAWN - 1) domain->until_sample++;
}

/* The most slots put aside, and the fewest deleted slots, that are handed out at a time. */
enum { MOST = 64, LEAST = 16 };

/* Moves slots that were put aside to head.free, which is empty. */
static void hand_out(struct bxr_domain *domain) {
  uintptr_t *aside = &domain->current->aside, *end = aside;
  for (int i = 0; i < MOST && domain->until_sample > 0 && *end != BXR_NO_SLOT;
       i++, domain->until_sample--)
    end = bxr_slot(bxr_linked(*end));
  uintptr_t rest = *end;
  *end = BXR_NO_SLOT;
  domain->head.free = *aside;
  *aside = rest;
}

bool bxr_profile_continue(struct bxr_domain *domain) {
  struct bxr_pool *pool = domain->current;
  if (pool == NULL) return false;
  intptr_t deleted = INTPTR_MAX - pool->head.countdown;
  if (deleted >= LEAST && deleted <= domain->until_sample) {
    domain->head.free = pool->head.free;
    domain->until_sample -= (uint32_t)deleted;
    pool->head.free = BXR_NO_SLOT;
    pool->head.countdown = INTPTR_MAX;
  } else {
    hand_out(domain);
  }
  return domain->head.free != BXR_NO_SLOT;
}

void bxr_profile_limit(struct bxr_domain *domain) {
  BXR_ASSERT(domain->current->aside == BXR_NO_SLOT);
  domain->current->aside = domain->head.free;
  hand_out(domain);
}

struct bxr_domain *bxr_profile_shadow(struct bxr_domain *domain) {
  if (domain->shadow == NULL) {
    struct bxr_domain *shadow = bxr_domain_new();
    if (shadow == NULL) return NULL;
    bxr_publish(&shadow->is_shadow, true);
    bxr_publish(&domain->shadow, shadow);
  }
  return domain->shadow;
}

/* ---- samples ---- */

static uint32_t now; /* the number of the major cycle; atomic */

void bxr_profile_begin_cycle(void) { bxr_publish(&now, bxr_runtime_cycle()); }

/* A sample is the index of a stack and, in the upper 32 bits, the major cycle that created the
   root. */
uint64_t bxr_profile_sample(void const *caller) {
  uint32_t stack = bxr_stack_find(caller, bxr_peek(&bxr_profile_rate));
  return stack == 0 ? 0 : (uint64_t)bxr_runtime_cycle() << 32 | stack;
}

/* ---- the table of samples ---- */

/* A mirror has a word for each word of a pool: the samples of the pool's slots, 0 for none. It
   begins with this struct: no pool has slots there. Mirrors are never unmapped, but one without
   samples may be reused for another pool. So the number of mirrors is at most the number of pools
   that once had samples at the same time. */
struct mirror {
  uint64_t pool; /* where the pool starts, plus the number of its samples; atomic */
  struct mirror *next;
};

_Static_assert(sizeof(struct mirror) <= offsetof(struct bxr_pool, slots), "no sample is there");
_Static_assert(BXR_POOL_SIZE / sizeof(value) < BXR_POOL_SIZE, "the samples can be counted so");

enum { MIRROR_BUCKETS = 256 };
static struct mirror *mirrors[MIRROR_BUCKETS];

static struct mirror **bucket_of(uintptr_t start) {
  return &mirrors[(start >> BXR_POOL_LOG) % MIRROR_BUCKETS];
}

static uint64_t *word_of(struct mirror *mirror, boxroot r) {
  return (uint64_t *)((uintptr_t)mirror + ((uintptr_t)r - bxr_start_of(r)));
}

static bool has_samples(uint64_t pool) { return pool % BXR_POOL_SIZE != 0; }

/* The mirror of the root's pool, or NULL. As long as the root has a sample, the mirror is not
   reused for another pool. */
static struct mirror *find_mirror(boxroot r) {
  uintptr_t start = bxr_start_of(r);
  for (struct mirror *m = bxr_load(bucket_of(start)); m != NULL; m = m->next) {
    uint64_t pool = bxr_load(&m->pool);
    if (bxr_start_of((boxroot)pool) == start && has_samples(pool)) return m;
  }
  return NULL;
}

/* If is_its, finds the mirror of the pool, else one without samples. Counts one more sample in it.
   Returns NULL if there is none. Called by the pool's owner. */
static struct mirror *claim_mirror(uintptr_t start, bool is_its) {
  for (struct mirror *m = bxr_load(bucket_of(start)); m != NULL; m = m->next) {
    uint64_t pool = bxr_load(&m->pool);
    while (is_its ? bxr_start_of((boxroot)pool) == start : !has_samples(pool))
      if (bxr_compare_exchange(&m->pool, &pool, (is_its ? pool : start) + 1)) return m;
  }
  return NULL;
}

static struct mirror *new_mirror(uintptr_t start) {
  struct mirror *m = bxr_os_map(bxr_os_whole_pages(BXR_POOL_SIZE), sizeof(uint64_t));
  if (m == NULL) return NULL;
  *m = (struct mirror){start + 1, bxr_peek(bucket_of(start))};
  while (!bxr_compare_exchange(bucket_of(start), &m->next, m)) {}
  return m;
}

bool bxr_profile_keep(boxroot r, uint64_t sample) {
  uintptr_t start = bxr_start_of(r);
  struct mirror *m = claim_mirror(start, true);
  if (m == NULL) m = claim_mirror(start, false);
  if (m == NULL) m = new_mirror(start);
  if (m == NULL) return false;
  bxr_publish(word_of(m, r), sample);
  return true;
}

uint64_t bxr_profile_of(boxroot r) {
  struct mirror *m = find_mirror(r);
  return m == NULL ? 0 : bxr_load(word_of(m, r));
}

bool bxr_profile_forget(boxroot r) {
  struct mirror *m = find_mirror(r);
  if (m == NULL || bxr_exchange(word_of(m, r), 0) == 0) return false;
  bxr_add(&m->pool, (uint64_t)-1);
  return true;
}

/* ---- the profile, as a heap profile of gperftools ---- */

static int is_writing; /* whether a thread writes a profile; guards `live` of the stacks; atomic */

void bxr_profile_after_fork(void) { bxr_publish(&is_writing, false); }

struct writer {
  int file;
  int error; /* errno of the write that failed, or 0 */
  size_t length;
  char text[512];
};

static void write_out(struct writer *w) {
  for (char *at = w->text; w->length > 0 && w->error == 0;) {
    ssize_t n = write(w->file, at, w->length);
    if (n > 0)
      at += n, w->length -= (size_t)n;
    else if (n == 0)
      w->error = EIO; /* otherwise the loop would not end */
    else if (errno != EINTR)
      w->error = errno;
  }
  w->length = 0;
}

static void put(struct writer *w, char const *text) {
  for (; *text != 0; text++) {
    if (w->length == sizeof w->text) write_out(w);
    w->text[w->length++] = *text;
  }
}

static void put_number(struct writer *w, uint64_t n, unsigned base) {
  char digits[24], *at = digits + sizeof digits;
  *--at = 0;
  do *--at = "0123456789abcdef"[n % base];
  while ((n /= base) != 0);
  put(w, at);
}

/* Writes the number of roots and the memory of their slots, twice: the format has them for live
   roots and for all roots ever created, and the latter are not counted. */
static void put_counts(struct writer *w, uint64_t roots) {
  for (int i = 0; i < 2; i++) {
    put(w, i == 0 ? "" : " [");
    put_number(w, roots, 10);
    put(w, ": ");
    put_number(w, roots * sizeof(value), 10);
  }
  put(w, "] @");
}

static void count_samples(uint32_t age) {
  for (int i = 0; i < BXR_STACK_BUCKETS; i++)
    for (struct bxr_stack *s = bxr_load(&bxr_stacks[i]); s != NULL; s = s->next) s->live = 0;
  for (int i = 0; i < MIRROR_BUCKETS; i++)
    for (struct mirror *m = bxr_load(&mirrors[i]); m != NULL; m = m->next)
      for (uint64_t *word = (uint64_t *)(m + 1); word < (uint64_t *)((char *)m + BXR_POOL_SIZE);
           word++) {
        uint64_t sample = bxr_load(word);
        int32_t lived = (int32_t)(bxr_load(&now) - (uint32_t)(sample >> 32));
        if (sample != 0 && (age == 0 || (lived > 0 && (uint32_t)lived >= age)))
          bxr_stack_at((uint32_t)sample)->live++;
      }
}

static void put_stacks(struct writer *w) {
  uint64_t roots = 0;
  for (int i = 0; i < BXR_STACK_BUCKETS; i++)
    for (struct bxr_stack *s = bxr_load(&bxr_stacks[i]); s != NULL; s = s->next)
      roots += s->live * s->rate;
  put(w, "heap profile: ");
  put_counts(w, roots);
  put(w, " heapprofile\n");
  for (int i = 0; i < BXR_STACK_BUCKETS; i++)
    for (struct bxr_stack *s = bxr_load(&bxr_stacks[i]); s != NULL; s = s->next) {
      if (s->live == 0) continue;
      put_counts(w, s->live * s->rate);
      for (uint32_t j = 0; j < s->depth; j++) {
        put(w, " 0x");
        put_number(w, s->frames[j], 16);
      }
      put(w, "\n");
    }
}

/* Tools need the list of mappings to find the names of functions. */
static void put_maps(struct writer *w) {
  put(w, "\nMAPPED_LIBRARIES:\n");
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return; /* this system has no such file */
  for (ssize_t n = 1; n > 0 || (n < 0 && errno == EINTR);) {
    write_out(w);
    n = read(maps, w->text, sizeof w->text);
    if (n > 0) w->length = (size_t)n;
  }
  close(maps);
}

bool boxroot_profile_write(int file, uint32_t age) {
  if (bxr_exchange(&is_writing, true)) {
    errno = EBUSY;
    return false;
  }
  int saved = errno;
  struct writer w = {.file = file};
  count_samples(age);
  put_stacks(&w);
  put_maps(&w);
  write_out(&w);
  bxr_publish(&is_writing, false);
  errno = w.error != 0 ? w.error : saved;
  return w.error == 0;
}
