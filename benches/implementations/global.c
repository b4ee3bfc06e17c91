/* A malloc'ed word that is a global root. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <caml/memory.h>

#include "../runtime/implementation.h"

static void global_prepare(void) {}

static cell global_new_cell(value v) {
  cell c = malloc(sizeof *c);
  if (c == NULL) abort();
  *c = v;
  caml_register_global_root(c);
  return c;
}

static void global_delete_cell(cell c) {
  caml_remove_global_root(c);
  free(c);
}

static cell global_modify_cell(cell c, value v) {
  *c = v;
  return c;
}

#define CELL(name) global_##name
#define CELL_NAME "global"
#include "../runtime/cell.h"
