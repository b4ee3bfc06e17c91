/* SPDX-License-Identifier: MIT */
/* The profile of live roots, through the public interface, on OCaml's runtime. A second domain is a
   record whose lock this thread pretends to hold. */
#ifndef _WIN32 /* fork, SIGUSR1, /proc */
#define _DEFAULT_SOURCE
#ifndef BXR_FAULT_INJECTION
#define BXR_FAULT_INJECTION
#endif
#define CAML_INTERNALS
#include <caml/alloc.h>
#include <caml/gc_ctrl.h>
#include <caml/minor_gc.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os.h"
#include "profile.h"
#include "runtime.h"
#include "stacks.h"
#include "test.h"

extern value caml_gc_full_major(value); /* not in every header */

static boxroot root_of(value v) {
  boxroot r = boxroot_create(v);
  CHECK(r != NULL);
  return r;
}

/* The stacks of the last profile, and the frames of the deepest one. */
static size_t stacks, deepest;

/* The number of live roots according to the profile. */
static size_t profiled(uint32_t age) {
  FILE *file = tmpfile();
  CHECK(file != NULL && boxroot_profile_write(fileno(file), age));
  rewind(file);
  char line[4096];
  size_t roots = 0, again = 0, sum = 0, of_stack = 0;
  CHECK(fgets(line, sizeof line, file) != NULL);
  CHECK(sscanf(line, "heap profile: %zu: %*u [%zu: %*u] @ heapprofile", &roots, &again) == 2);
  CHECK(roots == again);
  stacks = deepest = 0;
  while (fgets(line, sizeof line, file) != NULL && sscanf(line, "%zu: ", &of_stack) == 1) {
    sum += of_stack;
    /* The stack begins in this program, not in the functions that find it, and has more frames. */
    size_t frames[2] = {0};
    CHECK(sscanf(strchr(line, '@'), "@ 0x%zx 0x%zx", &frames[0], &frames[1]) == 2);
    CHECK(frames[0] - (uintptr_t)root_of < 1000000 || (uintptr_t)root_of - frames[0] < 1000000);
    CHECK(frames[0] - (uintptr_t)bxr_profile_sample > 1000 && frames[1] != 0);
    CHECK(frames[0] - (uintptr_t)bxr_stack_find > 1000);
    size_t depth = 0;
    for (char *at = line; (at = strstr(at, " 0x")) != NULL; at++) depth++;
    if (depth > deepest) deepest = depth;
    stacks++;
  }
  CHECK(sum == roots && fgets(line, sizeof line, file) != NULL);
  CHECK(strcmp(line, "MAPPED_LIBRARIES:\n") == 0);
  CHECK(fgets(line, sizeof line, file) != NULL && strchr(line, '-') != NULL);
  fclose(file);
  return roots;
}

static size_t live_roots(void) {
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  CHECK(boxroot_validate() == NULL);
  return s.live_roots;
}

static void start(uint32_t rate) {
  CHECK(boxroot_setup());
  boxroot_profile(rate);
}

/* Pretends that another domain runs from now on, which has this record. Returns the record of the
   domain that ran before. */
static struct bxr_domain *switch_to(struct bxr_domain *record) {
  struct bxr_domain **current = bxr_runtime_record(), *before = *current;
  if (before != NULL) bxr_domain_close(before);
  *current = record;
  bxr_domain_open(record, bxr_runtime_state());
  bxr_runtime_cache(record);
  CHECK(boxroot_domain_self() == &record->head);
  return before;
}

/* Each create has the same chance of a sample, even if slots are handed out but not used, and if
   modify takes slots. */
void test_profile_draws(void) {
  enum { N = 200000, RATE = 10 };
  static boxroot roots[N];
  start(RATE);
  for (int i = 0; i < N; i++) {
    roots[i] = root_of(Val_long(i));
    if (i % 50 == 0) caml_minor_collection();
  }
  size_t found = profiled(0);
  CHECK(found > N / 10 * 9 && found < N / 10 * 11);
  CHECK(stacks <=
        2); /* create has two calls of the general path, for the first root and for the others */
  for (int i = 0; i < N; i++) boxroot_delete(roots[i]);
  CHECK(profiled(0) == 0 && live_roots() == 0);
}

/* The slots of its deleted roots are reused before those of other pools. */
void test_profile_draws_again(void) {
  enum { KEPT = 4000, BATCH = 40, RATE = 10 };
  static boxroot kept[KEPT], others[BATCH];
  start(RATE);
  for (int i = 0; i < KEPT; i++) {
    for (int j = 0; j < BATCH; j++) others[j] = root_of(Val_long(j));
    kept[i] = root_of(Val_long(i));
    CHECK(boxroot_validate() == NULL);
    for (int j = 0; j < BATCH; j++) boxroot_delete(others[j]);
    if (i % 20 == 0) caml_minor_collection();
    if (i % 100 == 0) CHECK(live_roots() == (size_t)i + 1);
  }
  size_t found = profiled(0);
  CHECK(found > KEPT / 10 * 8 && found < KEPT / 10 * 12);
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  CHECK(s.pools <= KEPT / BXR_SLOTS + 2);
  for (int i = 0; i < KEPT; i++) boxroot_delete(kept[i]);
  CHECK(profiled(0) == 0 && live_roots() == 0);
}

/* Another domain deletes roots in neighbouring slots. */
void test_profile_of_batches(void) {
  enum { N = 200 };
  boxroot roots[N];
  start(1);
  for (int i = 0; i < N; i++) roots[i] = root_of(Val_long(i));
  CHECK(profiled(0) == N);
  struct bxr_domain *other = switch_to(bxr_orphans_obtain());
  for (int i = 0; i < N / 2; i++) boxroot_delete(roots[i]);
  CHECK(profiled(0) == N / 2);
  switch_to(other);
  CHECK(live_roots() == N / 2);
  for (int i = N / 2; i < N; i++) boxroot_delete(roots[i]);
  CHECK(profiled(0) == 0 && live_roots() == 0);
}

/* A root that moves a hundred times counts once, in the domain that it moved to. */
void test_profile_of_moves(void) {
  start(1);
  boxroot r = root_of(Val_long(-1));
  struct bxr_domain *other = bxr_orphans_obtain();
  for (int i = 0; i < 100; i++) {
    boxroot before = r;
    other = switch_to(other);
    CHECK(boxroot_modify(&r, Val_long(i)) && r != before && boxroot_get(r) == Val_long(i));
    CHECK(profiled(0) == 1);
  }
  boxroot_profile(0);
  CHECK(boxroot_modify(&r, Val_unit) && profiled(0) == 1);
  boxroot_delete(r);
  CHECK(profiled(0) == 0);
}

/* A root that is not sampled moves after a sample. The creates that follow are still sampled. */
void test_profile_after_moves(void) {
  enum { N = 20 };
  start(0);
  boxroot r = root_of(Val_unit), before = r;
  boxroot_profile(1);
  caml_minor_collection();
  root_of(Val_unit);
  CHECK(boxroot_modify(&r, caml_alloc_small(1, 0)) && r != before);
  for (int i = 0; i < N; i++) root_of(Val_long(i));
  CHECK(profiled(0) == 1 + N);
}

/* Domains that end leave sampled roots to others: to one that also has some, and to one that has
   none. */
void test_profile_of_orphans(void) {
  enum { N = 5000, PARTS = 3 };
  static boxroot roots[PARTS][N];
  start(1);
  for (int part = 0; part < PARTS; part++) {
    if (part == 2) caml_minor_collection(); /* this domain adopts before it has a sampled root */
    for (int i = 0; i < N; i++) roots[part][i] = root_of(caml_copy_double(i));
    if (part == 1) caml_minor_collection();     /* this domain adopts when it has some */
    struct bxr_domain *next = bxr_domain_new(); /* a spare record may have a shadow */
    if (part < PARTS - 1) bxr_orphans_add(switch_to(next));
  }
  boxroot_delete(roots[0][0]); /* as an orphan's */
  caml_minor_collection();
  CHECK(profiled(0) == PARTS * N - 1 && live_roots() == PARTS * N - 1);
  caml_gc_full_major(Val_unit);
  for (int part = 0; part < PARTS; part++)
    for (int i = part == 0; i < N; i++) {
      CHECK(Double_val(boxroot_get(roots[part][i])) == i);
      boxroot_delete(roots[part][i]);
    }
  CHECK(profiled(0) == 0);
  for (int i = 0; i < 4; i++) caml_gc_full_major(Val_unit);
  CHECK(live_roots() == 0);
  boxroot_trim();
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  CHECK(s.pools == 0);
}

/* Domains make few roots, and end before a minor collection. Each create still has the same
   chance. */
void test_profile_of_short_lives(void) {
  enum { DOMAINS = 2000, EACH = 10, N = DOMAINS * EACH, RATE = 100 };
  start(RATE);
  for (int i = 0; i < DOMAINS; i++) {
    struct bxr_domain *self = switch_to(bxr_orphans_obtain());
    if (self == NULL) self = bxr_orphans_obtain();
    for (int j = 0; j < EACH; j++) root_of(Val_long(j));
    bxr_orphans_add(switch_to(self));
    caml_minor_collection(); /* this domain adopts, and the next one gets the record */
  }
  size_t found = profiled(0);
  CHECK(found > N / 2 && found < 2 * N);
}

/* Sampled roots are roots. */
void test_profile_of_values(void) {
  enum { N = 60000 };
  static boxroot roots[N];
  start(2);
  for (int i = 0; i < N; i++) roots[i] = root_of(caml_copy_double(i));
  for (int round = 0; round < 3; round++) {
    caml_minor_collection();
    for (int i = round; i < N; i += 7) CHECK(boxroot_modify(&roots[i], caml_copy_double(i)));
    caml_gc_full_major(Val_unit);
    CHECK(live_roots() == N);
    struct boxroot_stats s;
    boxroot_stats(&s, sizeof s);
    CHECK(s.domains == 1);
  }
  for (int i = 0; i < N; i++) {
    CHECK(Double_val(boxroot_get(roots[i])) == i);
    boxroot_delete(roots[i]);
  }
  caml_minor_collection();
  CHECK(profiled(0) == 0 && live_roots() == 0);
}

void test_profile_of_old_roots(void) {
  start(1);
  for (int i = 0; i < 10; i++) root_of(Val_long(i));
  for (int i = 0; i < 3; i++) caml_gc_full_major(Val_unit);
  for (int i = 0; i < 5; i++) root_of(Val_long(i));
  CHECK(profiled(0) == 15 && profiled(2) == 10 && profiled(1000) == 0);
  CHECK(!boxroot_profile_write(-1, 0) && errno == EBADF);
}

/* When a pool has no sample any more, its memory for samples is reused for another pool. */
void test_profile_mirrors(void) {
  /* The pools are so far apart that the same mirrors are candidates for all of them. The roots are
     never read. */
  enum { POOLS = 3, APART = 256 };
  boxroot roots[POOLS][2];
  for (uintptr_t i = 0; i < POOLS; i++)
    for (uintptr_t j = 0; j < 2; j++)
      roots[i][j] = (boxroot)((1 + i) * APART * BXR_POOL_SIZE + 1024 * (1 + j));
  bxr_os_fail(0, false);
  CHECK(bxr_profile_keep(roots[0][0], 1) && bxr_profile_keep(roots[0][1], 2));
  CHECK(bxr_os_fail(0, false) == 1);
  CHECK(bxr_profile_keep(roots[1][0], 3) && bxr_os_fail(0, false) == 1);
  CHECK(bxr_profile_forget(roots[0][0]) && !bxr_profile_forget(roots[0][0]));
  CHECK(bxr_profile_forget(roots[0][1]));
  CHECK(bxr_profile_keep(roots[2][0], 4) && bxr_os_fail(0, false) == 0);
  CHECK(bxr_profile_of(roots[0][0]) == 0 && bxr_profile_of(roots[1][0]) == 3);
  CHECK(bxr_profile_of(roots[2][0]) == 4 && bxr_profile_of(roots[2][1]) == 0);
}

/* A root that is never read. Its pool has 99 others. */
static boxroot root_number(uintptr_t i) {
  return (boxroot)((1 + i / 100) * BXR_POOL_SIZE + 1024 + 8 * (i % 100));
}

__attribute__((noinline)) static uint64_t sample(void) {
  return bxr_profile_sample(__builtin_return_address(0));
}

/* Roots count according to the rate at which they were sampled. When there is no room for another
   stack, existing stacks are still found, and a root with another stack is made without a
   sample. */
void test_profile_of_many_stacks(void) {
  start(0);
  uint32_t rate = 0;
  size_t sum = 0;
  for (;;) {
    boxroot_profile(++rate);
    uint64_t new_sample = sample();
    if (new_sample == 0) break;
    CHECK(bxr_profile_keep(root_number(rate), new_sample));
    sum += rate;
  }
  CHECK(rate > 10000);
  CHECK(profiled(0) == sum && stacks == rate - 1);
  boxroot_profile(1);
  boxroot_delete(root_of(Val_unit));
  root_of(Val_unit);
  CHECK(profiled(0) == sum && live_roots() == 1);
}

__attribute__((noinline)) static boxroot root_in(int depth) {
  boxroot volatile r = depth == 0 ? root_of(Val_unit) : root_in(depth - 1);
  return r;
}

/* No other file can be opened. valgrind refuses to lower the hard limit. */
static void forbid_files(void) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = 0;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

/* A profile has the last twenty calls of each stack. Its text is longer than the buffer of the
   writer, and is written to the end, or to the first failure. */
void test_profile_of_deep_stacks(void) {
  start(1);
  for (int depth = 0; depth < 40; depth++) root_in(depth);
  CHECK(profiled(0) == 40 && deepest == 20 && stacks > 10);
  CHECK(!boxroot_profile_write(-1, 0) && errno == EBADF);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit few_bytes = {300, 300};
  FILE *file = tmpfile();
  CHECK(file != NULL && setrlimit(RLIMIT_FSIZE, &few_bytes) == 0);
  CHECK(!boxroot_profile_write(fileno(file), 0) && errno == EFBIG);
  CHECK(lseek(fileno(file), 0, SEEK_END) == 300);
  /* errno is set by the failure, even if no other file can be opened. */
  forbid_files();
  CHECK(!boxroot_profile_write(-1, 0) && errno == EBADF);
}

/* A root that was created three cycles ago is three cycles old. */
void test_profile_of_an_age(void) {
  start(1);
  CHECK(bxr_profile_keep(root_number(0), sample() - ((uint64_t)3 << 32)));
  bxr_profile_begin_cycle();
  CHECK(profiled(3) == 1 && profiled(4) == 0);
}

/* If no file can be opened, the profile has no list of mappings. That is not a failure, so errno
   does not change. */
void test_profile_without_files(void) {
  char text[4096] = "";
  start(1);
  root_of(Val_unit);
  int next = dup(2);
  CHECK(close(next) == 0 && profiled(0) == 1);
  CHECK(dup(2) == next && dup(2) == next + 1); /* no file was left open */
  FILE *file = tmpfile();
  CHECK(file != NULL);
  forbid_files();
  errno = 50;
  CHECK(boxroot_profile_write(fileno(file), 0) && errno == 50);
  rewind(file);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0);
  CHECK(strcmp(strstr(text, "\nMAPPED"), "\nMAPPED_LIBRARIES:\n") == 0);
}

static bool volatile goes_on = true;
static size_t volatile handled;

static void write_profile(int signal_number) {
  (void)signal_number;
  int saved = errno;
  CHECK(boxroot_profile_write(2, 1000000) || errno == EBUSY);
  errno = saved;
  handled++;
}

static void *send_signals(void *thread) {
  while (goes_on) CHECK(pthread_kill(*(pthread_t *)thread, SIGUSR1) == 0);
  return NULL;
}

/* Signal handlers write the profile while it changes, or while it is being written. */
void test_profile_in_signal_handlers(void) {
  enum { N = 100 };
  boxroot roots[N];
  pthread_t self = pthread_self(), sender;
  start(1);
  CHECK(freopen("/dev/null", "w", stderr) != NULL);
  signal(SIGUSR1, write_profile);
  CHECK(pthread_create(&sender, NULL, send_signals, &self) == 0);
  for (int round = 0; handled < 100 || round < 100; round++) {
    for (int i = 0; i < N; i++) roots[i] = root_of(Val_long(i));
    for (int i = 0; i < N; i++) boxroot_delete(roots[i]);
  }
  __atomic_store_n(&goes_on, false, __ATOMIC_RELAXED);
  CHECK(pthread_join(sender, NULL) == 0);
  CHECK(profiled(0) == 0);
}

static int pipe_ends[2];

static void *write_to_pipe(void *unused) {
  CHECK(boxroot_profile_write(pipe_ends[1], 0));
  CHECK(close(pipe_ends[1]) == 0);
  return unused;
}

/* A thread is writing the profile when another one forks. */
void test_profile_after_fork(void) {
  pthread_t writer;
  char text[4096] = {0};
  start(1);
  root_of(Val_unit);
  CHECK(pipe(pipe_ends) == 0);
  /* The pipe has 16 pages. A part of the profile fits into the last one. */
  int before = 0, length = 0;
  for (int i = 0; i < 16; i++) before += (int)write(pipe_ends[1], text, i < 15 ? 4096 : 3000);
  CHECK(pthread_create(&writer, NULL, write_to_pipe, NULL) == 0);
  while (length <= before) CHECK(ioctl(pipe_ends[0], FIONREAD, &length) == 0 && sched_yield() == 0);
  CHECK(!boxroot_profile_write(pipe_ends[0], 0) && errno == EBUSY);
  pid_t child = fork();
  if (child == 0) {
    root_of(Val_unit);
    CHECK(profiled(0) == 2);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  while (read(pipe_ends[0], text, sizeof text) > 0) {}
  CHECK(pthread_join(writer, NULL) == 0);
}

/* Without memory for samples, roots are made without samples. A sampled root stays sampled, or
   modify fails. */
void test_profile_without_memory(void) {
  start(0);
  boxroot plain = root_of(Val_unit);
  boxroot_profile(1);
  /* There is no memory for the record of the shadow, then for its region, then for a mirror; then
     there is enough. */
  size_t const failing[] = {1, 2, 2, 2};
  for (int i = 0; i < 4; i++) {
    caml_minor_collection();
    bxr_os_fail(failing[i], true);
    boxroot r = root_of(Val_long(1));
    CHECK(profiled(0) == (i == 3));
    bxr_os_fail(0, false);
    CHECK(boxroot_modify(&r, Val_long(2)));
    boxroot_delete(r);
    CHECK(profiled(0) == 0);
  }
  boxroot r = root_of(Val_long(1)), before = r;
  switch_to(bxr_orphans_obtain());
  bxr_os_fail(1, true);
  CHECK(!boxroot_modify(&r, Val_long(2)) && errno == ENOMEM && r == before);
  CHECK(profiled(0) == 1 && boxroot_get(r) == Val_long(1));
  bxr_os_fail(0, false);
  boxroot_delete(r);
  boxroot_delete(plain);
  CHECK(profiled(0) == 0);
}

#else
typedef int not_tested; /* a translation unit must declare something */
#endif
