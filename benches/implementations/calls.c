/* The value itself. */
#define CAML_NAME_SPACE
#include <caml/memory.h>
#include <caml/mlvalues.h>

value calls_cell_create(value v) { return v; }

value calls_cell_get(value cell) { return cell; }

value calls_cell_delete(value cell) {
  (void)cell;
  return Val_unit;
}

value calls_cell_modify(value cells, value i, value v) {
  caml_modify(&Field(cells, Long_val(i)), v);
  return Val_unit;
}
