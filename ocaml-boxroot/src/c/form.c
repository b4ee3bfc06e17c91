/* SPDX-License-Identifier: MIT */
/* Reads the forms of blocks, for builds with checks. Nothing here allocates or raises. */
#define CAML_NAME_SPACE
#include <caml/mlvalues.h>

#include <caml/custom.h>

/* The arity of a closure: how many arguments its code takes at once, negative if it takes a tuple;
   0 in bytecode. */
intnat obx_arity(value closure) { return Arity_closinfo(Closinfo_val(closure)); }

/* The name of the operations of a custom block. */
char const *obx_custom_name(value block) { return Custom_ops_val(block)->identifier; }
