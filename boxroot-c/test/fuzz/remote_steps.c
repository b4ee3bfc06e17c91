/* SPDX-License-Identifier: MIT */
/* remote.c, and the step of a remote delete that it keeps to itself. */
#include "../../src/remote.c"

#include "fake_runtime.h"

void fuzz_remote_push(struct bxr_pool *pool) { drain_push_one(pool); }
