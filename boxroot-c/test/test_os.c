/* SPDX-License-Identifier: MIT */
/* The functions of os.h, without a running OCaml runtime. */
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
  CHECK(bxr_os_unmap(memory, 8192) && errno == 50);
#ifdef BXR_FAULT_INJECTION
  bxr_os_fail(1, false);
  CHECK(bxr_os_map(4096, 4096) == NULL && errno == 50);
  bxr_os_fail(0, false);
#endif
}

/* Exactly the requested memory is mapped, at an aligned address, and nothing after it. */
void test_os_map(void) {
  size_t const sizes[] = {4096, 1 << 16, 1 << 20};
  for (int i = 0; i < 3; i++) {
    char *memory = bxr_os_map(sizes[i], sizes[i]);
    CHECK(memory != NULL && (uintptr_t)memory % sizes[i] == 0);
    for (size_t at = 0; at < sizes[i]; at += 4096) CHECK(is_mapped(memory + at) && memory[at] == 0);
    CHECK(!is_mapped(memory + sizes[i]));
    CHECK(bxr_os_unmap(memory, sizes[i]) && !is_mapped(memory));
  }
#ifdef BXR_FAULT_INJECTION
  /* Sizes are rounded up to whole pages. */
  bxr_os_pretend_page_size(1 << 14);
  char *memory = bxr_os_map(4096, 4096);
  CHECK((uintptr_t)memory % (1 << 14) == 0);
  CHECK(is_mapped(memory + (1 << 14) - 4096) && !is_mapped(memory + (1 << 14)));
#endif
}
