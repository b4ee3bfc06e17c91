/* SPDX-License-Identifier: MIT */
/* The public header comes first, or after one of OCaml's; it is included twice, and the header for
   the Rust crates after it. This file is compiled with two names, and both objects are linked. */
#include <boxroot.h>
#include <boxroot.h>
#include <boxroot/host.h>

boxroot UNIT(value v);
boxroot UNIT(value v) {
  boxroot root = boxroot_create(v);
  if (root != NULL && boxroot_get(root) != *boxroot_get_ref(root)) boxroot_delete(root);
  return root;
}
