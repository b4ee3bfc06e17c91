/* Our library with the profile of live roots on: one create in a thousand keeps its call stack. */
#define CAML_NAME_SPACE
#include "../runtime/implementation.h"

#define CELL(name) profiled_##name
#define CELL_NAME "profiled"
#define CELL_SET_UP() (boxroot_profile(1000), boxroot_setup())
#include "../runtime/boxroot_cell.h"

static void profiled_delete_cell(cell c) { boxroot_delete((boxroot)c); }

#include "../runtime/cell.h"
