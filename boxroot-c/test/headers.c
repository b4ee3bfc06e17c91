/* SPDX-License-Identifier: MIT */
/* The public header, alone and twice, after one of OCaml's, and before the one for the Rust crates. Compiled with two
   names, and linked. */
#include <boxroot.h>
#include <boxroot.h>
#include <boxroot/host.h>

boxroot UNIT(value v);
boxroot UNIT(value v) {
  boxroot root = boxroot_create(v);
  if (root != NULL && boxroot_get(root) != *boxroot_get_ref(root)) boxroot_delete(root);
  return root;
}
