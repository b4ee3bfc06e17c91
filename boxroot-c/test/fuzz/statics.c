/* SPDX-License-Identifier: MIT */
/* The files of the allocator that keep state of the process, and a way to begin anew. */
#include "../../src/domain.c"
#include "../../src/orphans.c"
#include "../../src/setup.c"

#include "fake_runtime.h"

void fuzz_forget_everything(void) {
  registry = orphans = spares = NULL;
  status = BOXROOT_NOT_SETUP;
  memory_left = false;
}
