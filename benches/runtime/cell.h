/* Generates all measured code of one implementation. Included after
     #define CELL(name) prefix_##name
     #define CELL_NAME "prefix"
     static void CELL(prepare)(void);
     static cell CELL(new_cell)(value v);
     static void CELL(delete_cell)(cell c);
     static cell CELL(modify_cell)(cell c, value v);    returns the cell, which may have moved
   An implementation that has its own create_loop and delete_loop defines
   CELL_HAS_CREATE_AND_DELETE_LOOPS. If a cell is not the word that holds the value, the
   implementation defines CELL_REFERENCE(c), the address of that word. */

#include <caml/callback.h>

#ifndef CELL_REFERENCE
#define CELL_REFERENCE(c) ((value const *)(c))
#endif

/* ---- a cell of cell.ml ---- */

value CELL(cell_setup)(value unit) {
  CELL(prepare)();
  return unit;
}

value CELL(cell_create)(value v) { return cell_to_ocaml(CELL(new_cell)(v)); }

value CELL(cell_get)(value c) { return *CELL_REFERENCE(cell_of_ocaml(c)); }

value CELL(cell_delete)(value c) {
  CELL(delete_cell)(cell_of_ocaml(c));
  return Val_unit;
}

value CELL(cell_modify)(value cells, value i, value v) {
  value *place = (value *)cells + Long_val(i);
  *place =
    cell_to_ocaml(CELL(modify_cell)(cell_of_ocaml(*place), v)); /* both words are immediates */
  return Val_unit;
}

/* ---- loops ---- */

static void CELL(pairs_loop)(intptr_t n) {
  for (intptr_t i = 0; i < n; i++) CELL(delete_cell)(CELL(new_cell)(Val_long(i)));
}

static value CELL(get_loop)(cell *cells, intptr_t n) {
  value sum = 0;
  for (intptr_t i = 0; i < n; i++) sum ^= *CELL_REFERENCE(cells[i]);
  return sum;
}

static void CELL(modify_loop)(cell *cells, value v, intptr_t n) {
  for (intptr_t i = 0; i < n; i++) cells[i] = CELL(modify_cell)(cells[i], v);
}

#ifndef CELL_HAS_CREATE_AND_DELETE_LOOPS
static void CELL(create_loop)(cell *cells, value const *values, intptr_t n) {
  for (intptr_t i = 0; i < n; i++) cells[i] = CELL(new_cell)(values[i]);
}

static void CELL(delete_loop)(cell *cells, intptr_t n) {
  for (intptr_t i = 0; i < n; i++) CELL(delete_cell)(cells[i]);
}
#endif

struct implementation const CELL(implementation) = {
  CELL_NAME,      CELL(prepare),     CELL(pairs_loop), CELL(create_loop),
  CELL(get_loop), CELL(modify_loop), CELL(delete_loop)};

/* ---- local_roots, in caller-roots style: each level roots only its result ---- */

static cell CELL(fixpoint_rooted)(value const *f, cell x) {
  cell y = CELL(new_cell)(caml_callback(*f, *CELL_REFERENCE(x)));
  int reached = compare_references(CELL_REFERENCE(x), CELL_REFERENCE(y));
  CELL(delete_cell)(x);
  return reached ? y : CELL(fixpoint_rooted)(f, y);
}

value CELL(fixpoint)(value f, value x) {
  cell f_root = CELL(new_cell)(f);
  cell y = CELL(fixpoint_rooted)(CELL_REFERENCE(f_root), CELL(new_cell)(x));
  value result = *CELL_REFERENCE(y);
  CELL(delete_cell)(y);
  CELL(delete_cell)(f_root);
  return result;
}
