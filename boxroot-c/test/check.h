/* SPDX-License-Identifier: MIT */
#ifndef BXR_CHECK_H
#define BXR_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the process at the first failure: each test runs in its own process. */
#define CHECK(e)                                                                                   \
  do {                                                                                             \
    if (!(e)) {                                                                                    \
      fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #e);                        \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
