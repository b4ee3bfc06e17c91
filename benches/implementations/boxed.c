/* A malloc'ed word that holds a boxroot. Global roots need such a word. Boxroots need it only if
   the program does. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>

#include "../runtime/implementation.h"

static boxroot *boxed_root(cell c) { return (boxroot *)c; }

static void boxed_prepare(void) {
  if (!boxroot_setup()) abort();
}

static cell boxed_new_cell(value v) {
  boxroot *root = malloc(sizeof *root);
  if (root == NULL) abort();
  *root = boxroot_create(v);
  if (*root == NULL) abort();
  return (cell)root;
}

static void boxed_delete_cell(cell c) {
  boxroot_delete(*boxed_root(c));
  free(c);
}

static cell boxed_modify_cell(cell c, value v) {
  if (!boxroot_modify(boxed_root(c), v)) abort();
  return c;
}

#define CELL(name) boxed_##name
#define CELL_NAME "boxed"
#define CELL_REFERENCE(c) boxroot_get_ref(*boxed_root(c))
#include "../runtime/cell.h"
