/* Our library through boxroot_domain, which is looked up only once. Correct only while a single
   domain uses roots. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>

#include "../runtime/implementation.h"

static boxroot_domain self; /* the only one */

static void unsafe_prepare(void) {
  if (!boxroot_setup()) abort();
  self = boxroot_domain_self();
  if (self == NULL) abort();
}

static cell unsafe_new_cell(value v) { return (cell)boxroot_create_in(self, v); }

static void unsafe_delete_cell(cell c) { boxroot_delete_in(self, (boxroot)c); }

static cell unsafe_modify_cell(cell c, value v) {
  boxroot root = (boxroot)c;
  bool done = boxroot_modify_in(self, &root, v);
  (void)done;
  return (cell)root;
}

#define CELL(name) unsafe_##name
#define CELL_NAME "unsafe"
#include "../runtime/cell.h"
