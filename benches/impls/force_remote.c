/* Ours, with every delete as if it came from another domain. */
#define CAML_NAME_SPACE
#include "implementation.h"

#define CELL(name) force_remote_##name
#define CELL_NAME "force_remote"
#include "boxroot_cell.h"

void bxr_domain_delete_remotely(boxroot r); /* of the library's own domain.h */

static void force_remote_delete_cell(cell c) { bxr_domain_delete_remotely((boxroot)c); }

#include "cell.h"
