/* The boxroots that the executable is linked with: ours, or the registry crate's. In both, a
   boxroot is the address of its word. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>

#include "implementation.h"

static void boxroot_prepare(void) {
  if (!boxroot_setup()) abort();
}

static cell boxroot_new_cell(value v) { return (cell)boxroot_create(v); }

static void boxroot_delete_cell(cell c) { boxroot_delete((boxroot)c); }

static cell boxroot_modify_cell(cell c, value v) {
  boxroot root = (boxroot)c;
  boxroot_modify(&root, v);
  return (cell)root;
}

#define CELL(name) boxroot_##name
#define CELL_NAME "boxroot"
#include "cell.h"
