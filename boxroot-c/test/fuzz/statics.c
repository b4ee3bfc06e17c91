/* SPDX-License-Identifier: MIT */
/* The files of the allocator that have static state, and a function to reset it. */
#include "../../src/domain.c"
#include "../../src/orphans.c"
#include "../../src/profile.c"
#include "../../src/setup.c"
#include "../../src/stacks.c"

#include "fake_runtime.h"

void fuzz_forget_everything(void) {
  registry = orphans = spares = NULL;
  library_state = BOXROOT_NOT_SETUP;
  memory_left = false;
  boxroot_profile(0);
  memset(mirrors, 0, sizeof mirrors);
  memset(bxr_stacks, 0, sizeof bxr_stacks);
  used_words = 1;
  now = 0;
}

struct fuzz_samples fuzz_count_samples(void) {
  struct fuzz_samples samples = {0, 0};
  for (int i = 0; i < MIRROR_BUCKETS; i++)
    for (struct mirror *m = mirrors[i]; m != NULL; m = m->next) {
      samples.count += m->pool % BXR_POOL_SIZE;
      samples.mirrors++;
    }
  return samples;
}
