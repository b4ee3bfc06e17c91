/* Ours, with every delete as if it came from another domain. */
#define CAML_NAME_SPACE
#include <stdlib.h>

#include <boxroot.h>

#include "implementation.h"

void bxr_domain_delete_remotely(boxroot r); /* of the library's own domain.h */

static void force_remote_prepare(void) {
  if (!boxroot_setup()) abort();
}

static cell force_remote_new_cell(value v) { return (cell)boxroot_create(v); }

static void force_remote_delete_cell(cell c) { bxr_domain_delete_remotely((boxroot)c); }

static cell force_remote_modify_cell(cell c, value v) {
  boxroot r = (boxroot)c;
  boxroot_modify(&r, v);
  return (cell)r;
}

#define CELL(name) force_remote_##name
#define CELL_NAME "force_remote"
#include "cell.h"
