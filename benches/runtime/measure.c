/* Clocks, memory, and a root scanning hook that wraps the measured one. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/roots.h>
#include <caml/version.h>

#if OCAML_VERSION < 50000
#include <caml/minor_gc.h>
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

value bench_clock(value unit) {
  (void)unit;
  return caml_copy_double(now());
}

/* Does not count pages of files: if one of the executable is touched, the system reads sixteen. */
value bench_resident(value unit) {
  (void)unit;
  long total = 0, resident = 0, of_files = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL || fscanf(statm, "%ld %ld %ld", &total, &resident, &of_files) != 3) abort();
  fclose(statm);
  return Val_long((resident - of_files) * sysconf(_SC_PAGESIZE));
}

value bench_peak_resident(value unit) {
  (void)unit;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return Val_long(usage.ru_maxrss * 1024);
}

/* The number of our library's pools, and of the slots of each. 0 in executables without the
   variants, which may have the registry crate's library. */
static struct boxroot_pools { long count, slots; } pools(void) {
#ifdef BENCH_VARIANTS
  struct boxroot_stats s;
  boxroot_stats(&s, sizeof s);
  return (struct boxroot_pools){(long)s.pools, (long)s.slots_per_pool};
#else
  return (struct boxroot_pools){0, 0};
#endif
}
value bench_pools(value unit) {
  (void)unit;
  return Val_long(pools().count);
}
value bench_slots_per_pool(value unit) {
  (void)unit;
  return Val_long(pools().slots);
}

/* ---- the hook ---- */

static double longest;

#if OCAML_VERSION >= 50000
static scan_roots_hook inner, initial;
static void timed(scanning_action action, scanning_action_flags flags, void *data,
                  caml_domain_state *state) {
  double start = now();
  inner(action, flags, data, state);
  double took = now() - start;
  if (!(flags & SCANNING_ONLY_YOUNG_VALUES) && took > longest) longest = took;
}
#else
static void (*inner)(scanning_action), (*initial)(scanning_action);
static void timed(scanning_action action) {
  double start = now();
  inner(action);
  double took = now() - start;
  if (action != &caml_oldify_one && took > longest) longest = took;
}
#endif

/* Remembers the hook from before any implementation is set up: NULL, or that of OCaml's threads. */
value bench_note_hook(value unit) {
  initial = caml_scan_roots_hook;
  return unit;
}

/* Times the root scans of major cycles from now on, if the implementation has a hook for them.
   Returns whether it has one. To be called after the first create. */
value bench_watch_hook(value unit) {
  (void)unit;
  if (caml_scan_roots_hook == initial) return Val_false;
  inner = caml_scan_roots_hook;
  caml_scan_roots_hook = timed;
  return Val_true;
}

value bench_longest_major_hook(value unit) {
  (void)unit;
  double result = longest;
  longest = 0;
  return caml_copy_double(result);
}
