/* SPDX-License-Identifier: MIT */
/* Functions of this crate's C files that other ones use. */
#ifndef OCAML_BOXROOT_SHIM_H
#define OCAML_BOXROOT_SHIM_H

#include <caml/mlvalues.h>

/* Whether this thread has more than a quarter of its stack left. Any thread, at any time. */
int obx_has_stack(void);

/* A new string, or 0 if out of memory. May run the GC. */
value obx_alloc_string(char const *bytes, size_t length);

/* An uninitialised block of the major heap, or 0 if out of memory. The GC does not run. */
value obx_alloc_large(mlsize_t size, tag_t tag);

#endif
