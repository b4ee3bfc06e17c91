/* The C side of benches/ocaml/main.ml: clocks, memory, loops over inlined boxroots, and a root
   scanning hook around the one that is measured. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <caml/mlvalues.h>

#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/roots.h>
#include <caml/major_gc.h>
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

value bench_resident(value unit) {
  (void)unit;
  long total = 0, resident = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL || fscanf(statm, "%ld %ld", &total, &resident) != 2) abort();
  fclose(statm);
  return Val_long(resident * sysconf(_SC_PAGESIZE));
}

value bench_setup(value unit) {
  if (!boxroot_setup()) abort();
  return unit;
}

/* ---- loops ---- */

enum { BATCH = 1000 };

/* "pair": n times create and delete. "batch": n times 1000 creates, then 1000 deletes.
   "few_young": n roots on a fresh block each, which stay. */
value bench_micro(value name, value n) {
  long count = Long_val(n);
  if (strcmp(String_val(name), "pair") == 0) {
    for (long i = 0; i < count; i++) boxroot_delete(boxroot_create(Val_long(i)));
  } else if (strcmp(String_val(name), "batch") == 0) {
    static boxroot batch[BATCH];
    for (long i = 0; i < count; i++) {
      for (int j = 0; j < BATCH; j++) batch[j] = boxroot_create(Val_long(j));
      for (int j = 0; j < BATCH; j++) boxroot_delete(batch[j]);
    }
  } else {
    for (long i = 0; i < count; i++) {
      value block = caml_alloc_small(1, 0);
      Field(block, 0) = Val_long(i);
      if (boxroot_create(block) == NULL) abort();
    }
  }
  return Val_unit;
}

/* ---- many roots ---- */

static boxroot *all;
static long all_count;

/* Memory for the handles, resident from now on. */
value bench_reserve(value count) {
  all_count = Long_val(count);
  all = malloc((size_t)all_count * sizeof *all);
  if (all == NULL) abort();
  memset(all, 1, (size_t)all_count * sizeof *all);
  return Val_unit;
}

/* Roots values.(order.(i)), for all i. */
value bench_roots(value values, value order) {
  for (long i = 0; i < all_count; i++) {
    all[i] = boxroot_create(Field(values, Long_val(Field(order, i))));
    if (all[i] == NULL) abort();
  }
  return Val_unit;
}

value bench_delete(value first, value end) {
  for (long i = Long_val(first); i < Long_val(end); i++) {
    boxroot_delete(all[i]);
    all[i] = NULL;
  }
  return Val_unit;
}

value bench_delete_where(value predicate) {
  CAMLparam1(predicate);
  for (long i = 0; i < all_count; i++) {
    if (!Bool_val(caml_callback(predicate, Val_long(i)))) continue;
    boxroot_delete(all[i]);
    all[i] = NULL;
  }
  CAMLreturn(Val_unit);
}

/* Creates as many as were deleted; returns how many. */
value bench_refill(value unit) {
  (void)unit;
  long count = 0;
  for (long i = 0; i < all_count; i++) {
    if (all[i] != NULL) continue;
    all[i] = boxroot_create(Val_long(i));
    count++;
  }
  return Val_long(count);
}

/* Marks whatever is left to mark, and does not go on to the next cycle. On OCaml 4, nothing is
   being marked after a full major collection. */
value bench_finish_marking(value unit) {
#if OCAML_VERSION >= 50000
  caml_finish_marking();
#endif
  return unit;
}

/* ---- the hook ---- */

static double longest;

#if OCAML_VERSION >= 50000
static scan_roots_hook inner;
static void timed(scanning_action action, scanning_action_flags flags, void *data,
                  caml_domain_state *state) {
  double start = now();
  inner(action, flags, data, state);
  double took = now() - start;
  if (!(flags & SCANNING_ONLY_YOUNG_VALUES) && took > longest) longest = took;
}
#else
static void (*inner)(scanning_action);
static void timed(scanning_action action) {
  double start = now();
  inner(action);
  double took = now() - start;
  if (action != &caml_oldify_one && took > longest) longest = took;
}
#endif

/* From now on, times the root scans of major cycles. After the first boxroot. */
value bench_watch_hook(value unit) {
  (void)unit;
  inner = caml_scan_roots_hook;
  caml_scan_roots_hook = timed;
  return Val_unit;
}

value bench_longest_major_hook(value unit) {
  (void)unit;
  double result = longest;
  longest = 0;
  return caml_copy_double(result);
}
