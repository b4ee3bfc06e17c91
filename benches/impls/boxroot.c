/* The boxroots that the executable is linked with: ours, or the registry crate's. */
#define CAML_NAME_SPACE
#include "implementation.h"

#define CELL(name) boxroot_##name
#define CELL_NAME "boxroot"
#include "boxroot_cell.h"

static void boxroot_delete_cell(cell c) { boxroot_delete((boxroot)c); }

#include "cell.h"
