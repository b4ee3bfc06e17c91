/* SPDX-License-Identifier: MIT */
/* Assertions. With -DBXR_DEBUG, as in the tests, a broken invariant aborts the process. Without it
   they do nothing, and do not even give the compiler a hint. */
#ifndef BXR_DEBUG_H
#define BXR_DEBUG_H

#ifdef BXR_DEBUG
#include <stdio.h>
#include <stdlib.h>
#define BXR_ASSERT(e)                                                                              \
  ((e) ? (void)0                                                                                   \
       : (fprintf(stderr, "boxroot: %s:%d: assertion failed: %s\n", __FILE__, __LINE__, #e),       \
          abort()))
#else
#define BXR_ASSERT(e) ((void)0)
#endif

#endif
