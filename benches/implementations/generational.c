/* A malloc'ed word that is a generational global root. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <caml/memory.h>

#include "../runtime/implementation.h"

static void generational_prepare(void) {}

static cell generational_new_cell(value v) {
  cell c = malloc(sizeof *c);
  if (c == NULL) abort();
  *c = v;
  caml_register_generational_global_root(c);
  return c;
}

static void generational_delete_cell(cell c) {
  caml_remove_generational_global_root(c);
  free(c);
}

static cell generational_modify_cell(cell c, value v) {
  caml_modify_generational_global_root(c, v);
  return c;
}

#define CELL(name) generational_##name
#define CELL_NAME "generational"
#include "../runtime/cell.h"
