/* The C side of benches/ocaml/cell.ml. A cell outside the OCaml heap is passed to OCaml as its
   address with the low bit set, which looks like an integer. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <caml/mlvalues.h>

#include <boxroot.h>
#include <caml/alloc.h>
#include <caml/memory.h>

static value out(void *cell) { return (value)cell | 1; }
static void *in(value v) { return (void *)(v & ~(value)1); }

value foreign_cell_get(value v) { return *(value *)in(v); }

/* ---- gc ---- */

value gc_cell_create(value v) {
  CAMLparam1(v);
  value cell = caml_alloc_small(1, 0);
  Field(cell, 0) = v;
  CAMLreturn(cell);
}
value gc_cell_get(value cell) { return Field(cell, 0); }
value gc_cell_delete(value cell) {
  caml_modify(&Field(cell, 0), Val_unit);
  return Val_unit;
}
value gc_cell_modify(value cells, value i, value v) {
  caml_modify(&Field(Field(cells, Long_val(i)), 0), v);
  return Val_unit;
}

/* ---- global and generational ---- */

static value *new_word(value v) {
  value *word = malloc(sizeof *word);
  if (word == NULL) abort();
  *word = v;
  return word;
}

value global_cell_create(value v) {
  value *word = new_word(v);
  caml_register_global_root(word);
  return out(word);
}
value global_cell_delete(value cell) {
  caml_remove_global_root(in(cell));
  free(in(cell));
  return Val_unit;
}
value global_cell_modify(value cells, value i, value v) {
  *(value *)in(Field(cells, Long_val(i))) = v;
  return Val_unit;
}

value generational_cell_create(value v) {
  value *word = new_word(v);
  caml_register_generational_global_root(word);
  return out(word);
}
value generational_cell_delete(value cell) {
  caml_remove_generational_global_root(in(cell));
  free(in(cell));
  return Val_unit;
}
value generational_cell_modify(value cells, value i, value v) {
  caml_modify_generational_global_root(in(Field(cells, Long_val(i))), v);
  return Val_unit;
}

/* ---- boxroot ---- */

value boxroot_cell_create(value v) { return out(boxroot_create(v)); }
value boxroot_cell_delete(value cell) {
  boxroot_delete(in(cell));
  return Val_unit;
}
value boxroot_cell_modify(value cells, value i, value v) {
  boxroot root = in(Field(cells, Long_val(i)));
  boxroot_modify(&root, v);
  Field(cells, Long_val(i)) = out(root); /* an immediate for an immediate */
  return Val_unit;
}
