/* Our library, with many roots in one call. Single operations are the same as in boxroot.c. */
#define CAML_NAME_SPACE
#include "../runtime/implementation.h"

#define CELL(name) bulk_##name
#define CELL_NAME "bulk"
#define CELL_HAS_CREATE_AND_DELETE_LOOPS
#include "../runtime/boxroot_cell.h"

static void bulk_delete_cell(cell c) { boxroot_delete((boxroot)c); }

static void bulk_create_loop(cell *cells, value const *values, intptr_t n) {
  boxroot_domain domain = boxroot_domain_self();
  if (!boxroot_create_many(domain, (boxroot *)cells, values, (size_t)n)) abort();
}

static void bulk_delete_loop(cell *cells, intptr_t n) {
  boxroot_delete_many(boxroot_domain_self(), (boxroot *)cells, (size_t)n);
}

#include "../runtime/cell.h"
