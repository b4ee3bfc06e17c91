/* SPDX-License-Identifier: MIT */
/* What the allocator needs from the operating system: no OCaml runtime runs. */
#include <errno.h>

#include "os.h"
#include "test.h"

/* Deletes and scans map and unmap memory, and must not change errno. */
void test_os_errno(void) {
  size_t const too_much = (size_t)1 << 62;
  errno = 50;
  CHECK(bxr_os_map(too_much, 4096) == NULL && errno == 50);
  char *memory = bxr_os_map(8192, 4096);
  CHECK(memory != NULL && errno == 50);
  CHECK(!bxr_os_unmap(memory + 1, 4096) && errno == 50);
  CHECK(!bxr_os_unmap(memory, (size_t)-4096) && errno == 50);
  CHECK(bxr_os_unmap(memory, 8192) && errno == 50);
#ifdef BXR_FAULT_INJECTION
  bxr_os_fail(1, false);
  CHECK(bxr_os_map(4096, 4096) == NULL && errno == 50);
  bxr_os_fail(0, false);
#endif
}
