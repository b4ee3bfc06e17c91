/* What the implementations on boxroot.h share; for before cell.h. In ours and in the registry
   crate's, a boxroot is the address of its word. */
#include <stdlib.h>

#include <boxroot.h>

static void CELL(prepare)(void) {
  if (!boxroot_setup()) abort();
}

static cell CELL(new_cell)(value v) { return (cell)boxroot_create(v); }

static cell CELL(modify_cell)(cell c, value v) {
  boxroot root = (boxroot)c;
  boxroot_modify(&root, v);
  return (cell)root;
}
