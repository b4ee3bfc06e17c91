/* The boxroot library that the executable is linked with: ours, or the registry crate's. */
#define CAML_NAME_SPACE
#include "../runtime/implementation.h"

#define CELL(name) boxroot_##name
#define CELL_NAME "boxroot"
#include "../runtime/boxroot_cell.h"

static void boxroot_delete_cell(cell c) { boxroot_delete((boxroot)c); }

#include "../runtime/cell.h"
