/* Code that the implementations with boxroot.h share. To be included before cell.h. A cell is a
   boxroot. In our library and in the registry crate's, a boxroot is the address of its word. */
#include <stdlib.h>

#include <boxroot.h>

#ifndef CELL_SET_UP
#define CELL_SET_UP() boxroot_setup()
#endif

static void CELL(prepare)(void) {
  if (!CELL_SET_UP()) abort();
}

static cell CELL(new_cell)(value v) { return (cell)boxroot_create(v); }

static cell CELL(modify_cell)(cell c, value v) {
  boxroot root = (boxroot)c;
  bool done = boxroot_modify(&root, v);
  (void)done;
  return (cell)root;
}
