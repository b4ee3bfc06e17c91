/* The C side of loops.ml: loops over single operations of the implementation that is selected. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <stdlib.h>
#include <string.h>

#include <caml/mlvalues.h>

#include <caml/major_gc.h>
#include <caml/version.h>

#include "implementation.h"

static cell *cells;
static intptr_t count;

/* Allocates memory for this many handles, resident from now on. */
value bench_reserve(value n) {
  count = Long_val(n);
  cells = malloc((size_t)count * sizeof *cells);
  if (cells == NULL) abort();
  memset(cells, 1, (size_t)count * sizeof *cells);
  return Val_unit;
}

value bench_pairs(value n) {
  implementation->pairs(Long_val(n));
  return Val_unit;
}

value bench_batches(value n, value batch) {
  static value values[10000];
  if (Long_val(batch) > 10000) abort();
  for (intptr_t i = 0; i < Long_val(batch); i++) values[i] = Val_long(i);
  for (intptr_t i = 0; i < Long_val(n); i++) {
    implementation->create(cells, values, Long_val(batch));
    implementation->delete (cells, Long_val(batch));
  }
  return Val_unit;
}

/* Creates a root for each of the array's values. No collection runs meanwhile. */
value bench_create(value values) {
  implementation->create(cells, (value const *)values, count);
  return Val_unit;
}

value bench_get(value rounds) {
  value sum = 1;
  for (intptr_t i = 0; i < Long_val(rounds); i++) sum |= implementation->get(cells, count);
  return sum;
}

value bench_modify(value v, value rounds) {
  for (intptr_t i = 0; i < Long_val(rounds); i++) implementation->modify(cells, v, count);
  return Val_unit;
}

value bench_delete(value unit) {
  implementation->delete (cells, count);
  return unit;
}

/* A fixed permutation of the handles. */
value bench_shuffle(value unit) {
  uint64_t state = 1;
  for (intptr_t i = count - 1; i > 0; i--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    intptr_t j = (intptr_t)((state >> 33) % (uint64_t)(i + 1));
    cell c = cells[i];
    cells[i] = cells[j];
    cells[j] = c;
  }
  return unit;
}

/* Finishes marking without starting the next cycle. On OCaml 4, nothing is being marked after a
   full major collection. */
value bench_finish_marking(value unit) {
#if OCAML_VERSION >= 50000
  caml_finish_marking();
#endif
  return unit;
}
