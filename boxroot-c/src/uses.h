/* SPDX-License-Identifier: MIT */
/* Uses of the runtime (boxroot/host.h), which prevent its shutdown: one count for the process. */
#ifndef BXR_USES_H
#define BXR_USES_H

#include "core.h"

#pragma GCC visibility push(hidden)

/* The rest of bxr_use_begin_to_lock, if the states of the lock and the library allow a use. */
int bxr_uses_begin_to_lock(void);

/* In the child of a fork: the uses of other threads are gone. If OCaml `goes_on` (the forking
   thread held the lock, and no other domain was ever made), new uses are possible. Otherwise they
   are refused: another thread may have been changing the heap. (On OCaml 4 it may have held the
   lock, which is then held forever.) */
void bxr_uses_after_fork(bool goes_on);

#pragma GCC visibility pop

#endif
