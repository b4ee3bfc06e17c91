/* The interface between the measuring code and an implementation whose cells lie outside the OCaml
   heap. The functions are loops, not single operations, so that operations are inlined. */
#ifndef BENCH_IMPLEMENTATION_H
#define BENCH_IMPLEMENTATION_H

#include <caml/mlvalues.h>

/* The address of the word that holds the value; or with CELL_REFERENCE of cell.h, the address of a
   word that leads to it. */
typedef value *cell;

struct implementation {
  char const *name;
  void (*prepare)(void);     /* before the first create */
  void (*pairs)(intptr_t n); /* creates and deletes at once, n times */
  void (*create)(cell *cells, value const *values, intptr_t n);
  value (*get)(cell *cells, intptr_t n);
  void (*modify)(cell *cells, value v, intptr_t n);
  void (*delete)(cell *cells, intptr_t n);
};

/* All implementations in this executable, then NULL. benches/executables/build.rs generates it. */
extern struct implementation const *const implementations[];

/* The implementation that is measured. */
extern struct implementation const *implementation;

/* Cells are passed to OCaml with the low bit set: they look like integers. */
static inline value cell_to_ocaml(cell c) { return (value)c | 1; }
static inline cell cell_of_ocaml(value v) { return (cell)(v & ~(value)1); }

/* For local_roots: whether two floats, which the caller has rooted, are equal. Not inlined, because
   it stands for a longer function. */
int compare_references(value const *x, value const *y);

#endif
