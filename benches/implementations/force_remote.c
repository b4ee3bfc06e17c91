/* Our library, with every delete made as from a thread without a lock. */
#define CAML_NAME_SPACE
#include "../runtime/implementation.h"

#define CELL(name) force_remote_##name
#define CELL_NAME "force_remote"
#include "../runtime/boxroot_cell.h"

void bxr_remote_delete(boxroot r); /* of the library's own remote.h */

static void force_remote_delete_cell(cell c) { bxr_remote_delete((boxroot)c); }

#include "../runtime/cell.h"
