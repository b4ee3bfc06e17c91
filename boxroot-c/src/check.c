/* SPDX-License-Identifier: MIT */
/* The checked flavour: handles that know where their root was created and deleted. It is a layer on
   top of the allocator, which does not know about it (names.h).

   It detects each use of a handle whose record is not live, as long as the record is kept. Each of
   64 shards keeps the last 64 deleted records; a hash of a record's address picks its shard. A
   handle that is not the address of a record is recognised by its alignment, or by the word at that
   address. Reading that word through a wild handle may crash. Not detected: a stale result of
   boxroot_get_ref, and a handle that was deleted long ago, if another record has its address now.

   Under valgrind, and if this file is compiled with the address sanitizer, records are freed at
   once. These tools then report each later use, with the stacks that created and deleted the root.

   A shard's mutex protects its lists and changes to its records. The state and the root of a live
   record are read without it: they do not change until the delete, and no thread may use a root
   while another one deletes it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "core.h"

#include <stdio.h>

#if !BOXROOT_CHECKED

void boxroot_print_leaks(void) {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  fprintf(stderr,
          "boxroot: %zu live roots; the checked flavour of the library knows where they were "
          "created\n",
          s.live_roots);
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BOXROOT_NO_SITES /* boxroot_create and boxroot_delete are the allocator's */
#include "../include/boxroot/checked.h"
#include "atomic.h"
#include "errors.h"

/* Numbers that other memory is unlikely to hold. */
enum state { LIVE = 0x6c697665, DELETED = 0x64656c65, MODIFIED = 0x6d6f6469 };

struct record {
  uint32_t state; /* first: malloc overwrites it when the record is freed */
  boxroot root;
  struct bxr_site created, deleted;
  struct record *next;  /* the next live, or the next deleted, record of the shard */
  struct record **link; /* the pointer to this record, if it is live */
};

static struct shard {
  pthread_mutex_t mutex;
  struct record *live;
  size_t live_count;
  struct record *oldest, *newest; /* deleted */
  size_t deleted_count;
} shards[64];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t keep = 64;
static bool ready;

/* ---- shards ---- */

static struct shard *shard_of(void const *record) {
  return &shards[(uintptr_t)record / 16 * 0x9e3779b97f4a7c15u >> 58];
}

static void lock_all(void) {
  for (int i = 0; i < 64; i++) pthread_mutex_lock(&shards[i].mutex);
}

static void unlock_all(void) {
  for (int i = 0; i < 64; i++) pthread_mutex_unlock(&shards[i].mutex);
}

/* Valgrind preloads a library into the program through this variable. */
static bool frees_at_once(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  char const *preloaded = getenv("LD_PRELOAD");
  return preloaded != NULL && strstr(preloaded, "vgpreload_memcheck") != NULL;
#endif
}

static void prepare(void) {
  for (int i = 0; i < 64; i++) pthread_mutex_init(&shards[i].mutex, NULL);
  if (frees_at_once()) keep = 0;
  ready = pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
}

/* Locks and returns the shard of a possible record. */
static struct shard *lock_shard(void const *record) {
  struct shard *shard = shard_of(record);
  pthread_once(&once, prepare);
  pthread_mutex_lock(&shard->mutex);
  return shard;
}

static void add_live(struct record *record) {
  struct shard *shard = lock_shard(record);
  record->next = shard->live;
  record->link = &shard->live;
  if (record->next != NULL) record->next->link = &record->next;
  shard->live = record;
  shard->live_count++;
  pthread_mutex_unlock(&shard->mutex);
}

static void remove_live(struct shard *shard, struct record *record) {
  *record->link = record->next;
  if (record->next != NULL) record->next->link = record->link;
  shard->live_count--;
}

/* Returns a record that the caller must free, or NULL. */
static struct record *add_deleted(struct shard *shard, struct record *record) {
  record->next = NULL;
  if (shard->oldest == NULL)
    shard->oldest = record;
  else
    shard->newest->next = record;
  shard->newest = record;
  if (++shard->deleted_count <= keep) return NULL;
  struct record *oldest = shard->oldest;
  shard->oldest = oldest->next;
  shard->deleted_count--;
  return oldest;
}

/* ---- mistakes ---- */

/* As in os.c, for static executables. */
#ifdef __ELF__
#pragma weak dladdr
#endif

void bxr_check_name(struct bxr_site site, char *text, size_t size) {
  Dl_info object;
  if (site.line != 0 && site.length != 0)
    snprintf(text, size, "%.*s:%u", (int)site.length, site.file, (unsigned)site.line);
  else if (site.line != 0)
    snprintf(text, size, "%s:%u", site.file, (unsigned)site.line);
  else if (dladdr != NULL && dladdr(site.file, &object) != 0 && object.dli_fname != NULL)
    snprintf(text, size, "%s+%#zx", object.dli_fname,
             (size_t)(site.file - (char const *)object.dli_fbase));
  else
    snprintf(text, size, "%p", (void const *)site.file);
}

enum { NAME = BXR_TEXT / 4 };

/* Describes a mistake. Always returns false. */
static bool mistake(char *text, char const *operation, struct bxr_site site, char const *what) {
  char here[NAME];
  bxr_check_name(site, here, sizeof here);
  snprintf(text, BXR_TEXT, "boxroot: %s at %s %s", operation, here, what);
  return false;
}

static struct record *possible_record(boxroot r) {
  bool aligned = r != NULL && (uintptr_t)r % 16 == 0;
  return aligned ? (struct record *)r : NULL;
}

static bool is_live(struct record *record) {
  return record != NULL && bxr_load(&record->state) == LIVE;
}

/* Describes the use of a handle that is not live. Called under its shard's mutex. Always returns
   false. */
static bool not_live(char *text, char const *operation, struct bxr_site site, boxroot r) {
  struct record *record = possible_record(r);
  if (r == NULL) return mistake(text, operation, site, "of NULL");
  if (record == NULL || (record->state != DELETED && record->state != MODIFIED))
    return mistake(
      text, operation, site,
      "of a pointer that is not a root of this copy of the library, or was deleted long ago");
  char created[NAME], deleted[NAME], what[2 * NAME + 96];
  bxr_check_name(record->created, created, sizeof created);
  bxr_check_name(record->deleted, deleted, sizeof deleted);
  snprintf(
    what, sizeof what,
    record->state == DELETED
      ? "of a root that was created at %s and deleted at %s"
      : "of an old handle: the root, created at %s, got a new handle when it was modified at %s",
    created, deleted);
  return mistake(text, operation, site, what);
}

static bool find_live(char *text, char const *operation, struct bxr_site site, boxroot r,
                      struct record **found) {
  *found = possible_record(r);
  if (is_live(*found)) return true;
  struct shard *shard = lock_shard(r);
  not_live(text, operation, site, r);
  pthread_mutex_unlock(&shard->mutex);
  return false;
}

static bool is_value(char *text, char const *operation, struct bxr_site site, value v) {
  if (Is_long(v) || (v % 8 == 0 && v != 0)) return true;
  return mistake(text, operation, site,
                 v == 0 ? "with 0, which is not an OCaml value"
                        : "with an invalid OCaml value; is it the exception result of a "
                          "function such as caml_callback_exn?");
}

static bool may_read(char *text, char const *operation, struct bxr_site site) {
  int status = boxroot_status(), lock = bxr_lock_state();
  if (status == BOXROOT_TORE_DOWN) return mistake(text, operation, site, "after boxroot_teardown");
  if (status == BOXROOT_RUNNING && (lock == BXR_LOCK_NOT_HELD || lock == BXR_LOCK_ENDED))
    return mistake(text, operation, site, "on a thread that does not hold the OCaml lock");
  return true;
}

static bool is_own_domain(char *text, char const *operation, struct bxr_site site,
                          boxroot_domain domain) {
  if (domain == NULL) return mistake(text, operation, site, "with NULL as domain");
  if (boxroot_status() != BOXROOT_RUNNING || domain == boxroot_domain_self()) return true;
  return mistake(text, operation, site,
                 "with a domain whose lock this thread does not hold, or in a root scan");
}

/* ---- operations ---- */

static boxroot make(value v, struct bxr_site created) {
  pthread_once(&once, prepare);
  boxroot root = boxroot_create(v);
  if (root == NULL) return NULL;
  struct record *record = ready ? malloc(sizeof *record) : NULL;
  if (record == NULL) {
    boxroot_delete(root);
    bxr_setup_fail(BXR_OUT_OF_MEMORY);
    return NULL;
  }
  *record = (struct record){.state = LIVE, .root = root, .created = created};
  add_live(record);
  return (boxroot)record;
}

/* Deletes a live root, whose record gets the state `state`. */
static bool end(boxroot r, enum state state, char const *operation, struct bxr_site site,
                char *text) {
  struct record *record = possible_record(r);
  struct shard *shard = lock_shard(r);
  if (!is_live(record)) {
    not_live(text, operation, site, r);
    pthread_mutex_unlock(&shard->mutex);
    return false;
  }
  bxr_publish(&record->state, (uint32_t)state);
  boxroot root = record->root;
  record->deleted = site;
  remove_live(shard, record);
  struct record *oldest = add_deleted(shard, record);
  pthread_mutex_unlock(&shard->mutex);
  boxroot_delete(root);
  int saved = errno;
  free(oldest);
  errno = saved;
  return true;
}

bool bxr_check_create(value v, struct bxr_site site, boxroot *made, char *text) {
  if (!is_value(text, "create", site, v)) return false;
  *made = make(v, site);
  return true;
}

bool bxr_check_get_ref(boxroot r, struct bxr_site site, value const **found, char *text) {
  struct record *record;
  if (!find_live(text, "get_ref", site, r, &record)) return false;
  *found = (value const *)record->root;
  return true;
}

bool bxr_check_get(boxroot r, struct bxr_site site, value *found, char *text) {
  struct record *record;
  if (!find_live(text, "get", site, r, &record) || !may_read(text, "get", site)) return false;
  *found = *(value const *)record->root;
  return true;
}

bool bxr_check_delete(boxroot r, struct bxr_site site, char *text) {
  return r == NULL || end(r, DELETED, "delete", site, text);
}

/* The root always gets a new handle, so that uses of the old one are detected. */
bool bxr_check_modify(boxroot *r, value v, struct bxr_site site, bool *done, char *text) {
  struct record *record;
  if (!is_value(text, "modify", site, v)) return false;
  if (!find_live(text, "modify", site, r == NULL ? NULL : *r, &record)) return false;
  boxroot moved = make(v, record->created);
  *done = moved != NULL;
  if (moved == NULL) return true;
  if (!end(*r, MODIFIED, "modify", site, text)) return false;
  *r = moved;
  return true;
}

/* ---- C and C++: a mistake aborts the program ---- */

static void demand(bool right, char const *text) {
  if (right) return;
  fprintf(stderr, "%s\n", text);
  abort();
}

boxroot bxr_checked_create(value v, struct bxr_site site) {
  char text[BXR_TEXT];
  boxroot made = NULL;
  demand(bxr_check_create(v, site, &made, text), text);
  return made;
}

value bxr_checked_get(boxroot r, struct bxr_site site) {
  char text[BXR_TEXT];
  value found = Val_unit;
  demand(bxr_check_get(r, site, &found, text), text);
  return found;
}

value const *bxr_checked_get_ref(boxroot r, struct bxr_site site) {
  char text[BXR_TEXT];
  value const *found = NULL;
  demand(bxr_check_get_ref(r, site, &found, text), text);
  return found;
}

void bxr_checked_delete(boxroot r, struct bxr_site site) {
  char text[BXR_TEXT];
  demand(bxr_check_delete(r, site, text), text);
}

bool bxr_checked_modify(boxroot *r, value v, struct bxr_site site) {
  char text[BXR_TEXT];
  bool done = false;
  demand(bxr_check_modify(r, v, site, &done, text), text);
  return done;
}

static void demand_own_domain(boxroot_domain domain, char const *operation, struct bxr_site site) {
  char text[BXR_TEXT];
  demand(is_own_domain(text, operation, site, domain), text);
}

boxroot bxr_checked_create_in(boxroot_domain domain, value v, struct bxr_site site) {
  demand_own_domain(domain, "create_in", site);
  return bxr_checked_create(v, site);
}

void bxr_checked_delete_in(boxroot_domain domain, boxroot r, struct bxr_site site) {
  demand_own_domain(domain, "delete_in", site);
  bxr_checked_delete(r, site);
}

bool bxr_checked_modify_in(boxroot_domain domain, boxroot *r, value v, struct bxr_site site) {
  demand_own_domain(domain, "modify_in", site);
  return bxr_checked_modify(r, v, site);
}

void bxr_checked_delete_many(boxroot_domain domain, boxroot const *roots, size_t n,
                             struct bxr_site site) {
  demand_own_domain(domain, "delete_many", site);
  for (size_t i = 0; i < n; i++) bxr_checked_delete(roots[i], site);
}

bool bxr_checked_create_many(boxroot_domain domain, boxroot *roots, value const *values, size_t n,
                             struct bxr_site site) {
  demand_own_domain(domain, "create_many", site);
  for (size_t i = 0; i < n; i++) {
    roots[i] = bxr_checked_create(values[i], site);
    if (roots[i] != NULL) continue;
    bxr_checked_delete_many(domain, roots, i, site);
    return false;
  }
  return true;
}

/* The public functions, for code that takes their address. (plain_names.c has those for other
   languages.) */
#define CALLER ((struct bxr_site){(char const *)__builtin_return_address(0) - 1, 0, 0})
#define PUBLIC_NAME(name) BXR_NAME_OF(boxroot_, name, BXR_FLAVOUR, BXR_ABI, BXR_POOL_LOG)
#define PUBLIC(result, name, parameters, ...)                                                      \
  result PUBLIC_NAME(name) parameters;                                                             \
  result PUBLIC_NAME(name) parameters { __VA_ARGS__; }

PUBLIC(boxroot, create, (value v), return bxr_checked_create(v, CALLER))
PUBLIC(value, get, (boxroot r), return bxr_checked_get(r, CALLER))
PUBLIC(value const *, get_ref, (boxroot r), return bxr_checked_get_ref(r, CALLER))
PUBLIC(void, delete, (boxroot r), bxr_checked_delete(r, CALLER))
PUBLIC(bool, modify, (boxroot * r, value v), return bxr_checked_modify(r, v, CALLER))
PUBLIC(boxroot, create_in, (boxroot_domain domain, value v),
       return bxr_checked_create_in(domain, v, CALLER))
PUBLIC(void, delete_in, (boxroot_domain domain, boxroot r),
       bxr_checked_delete_in(domain, r, CALLER))
PUBLIC(bool, modify_in, (boxroot_domain domain, boxroot *r, value v),
       return bxr_checked_modify_in(domain, r, v, CALLER))
PUBLIC(bool, create_many, (boxroot_domain domain, boxroot *roots, value const *values, size_t n),
       return bxr_checked_create_many(domain, roots, values, n, CALLER))
PUBLIC(void, delete_many, (boxroot_domain domain, boxroot const *roots, size_t n),
       bxr_checked_delete_many(domain, roots, n, CALLER))

/* ---- leaks ---- */

struct leak {
  struct bxr_site site;
  size_t live;
};

static int by_site(void const *a, void const *b) {
  struct bxr_site const *x = &((struct leak const *)a)->site, *y = &((struct leak const *)b)->site;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  /* Each object file that includes a header has its own string for the header's name. */
  if (x->line == 0 || x->file == y->file) return (x->file > y->file) - (x->file < y->file);
  size_t m = x->length ? x->length : strlen(x->file), n = y->length ? y->length : strlen(y->file);
  return m != n ? (m < n ? -1 : 1) : memcmp(x->file, y->file, n);
}

static int by_number(void const *a, void const *b) {
  struct leak const *x = a, *y = b;
  return x->live != y->live ? (x->live > y->live ? -1 : 1) : by_site(a, b);
}

/* Returns one entry for each live root, in memory that the caller frees. */
static struct leak *list_live(size_t *n) {
  lock_all();
  *n = 0;
  for (int i = 0; i < 64; i++) *n += shards[i].live_count;
  struct leak *leaks = malloc((*n + 1) * sizeof *leaks), *to = leaks;
  for (int i = 0; leaks != NULL && i < 64; i++)
    for (struct record *record = shards[i].live; record != NULL; record = record->next)
      *to++ = (struct leak){record->created, 1};
  unlock_all();
  return leaks;
}

void bxr_check_leaks(void (*each)(void *context, struct bxr_site site, size_t live),
                     void *context) {
  pthread_once(&once, prepare);
  size_t n, sites = 0;
  struct leak *leaks = list_live(&n);
  if (leaks == NULL) return;
  qsort(leaks, n, sizeof *leaks, by_site);
  for (size_t i = 0; i < n; i++)
    if (sites > 0 && by_site(&leaks[sites - 1], &leaks[i]) == 0)
      leaks[sites - 1].live++;
    else
      leaks[sites++] = leaks[i];
  qsort(leaks, sites, sizeof *leaks, by_number);
  for (size_t i = 0; i < sites; i++) each(context, leaks[i].site, leaks[i].live);
  free(leaks);
}

static void print_leak(void *context, struct bxr_site site, size_t live) {
  char name[NAME];
  bxr_check_name(site, name, sizeof name);
  fprintf(context, "boxroot: %zu live root%s created at %s\n", live, live == 1 ? " was" : "s were",
          name);
}

void boxroot_print_leaks(void) { bxr_check_leaks(print_leak, stderr); }

#endif
