/* SPDX-License-Identifier: MIT */
/* remote.c, and access to its static step of a remote delete. */
#include "../../src/remote.c"

#include "fake_runtime.h"

void fuzz_remote_push(struct bxr_pool *pool) { drain_push_one(pool); }
