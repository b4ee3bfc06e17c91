/* SPDX-License-Identifier: MIT */
/* The public header comes first, or after an OCaml header. It is included twice, and then the
   header for the Rust crates. This file is compiled under two names, and both objects are
   linked. */
#include <boxroot.h>
#include <boxroot.h>
#include <boxroot/host.h>

boxroot UNIT(value v);
boxroot UNIT(value v) {
  boxroot root = boxroot_create(v);
  if (root != NULL && boxroot_get(root) != *boxroot_get_ref(root)) boxroot_delete(root);
  return root;
}
