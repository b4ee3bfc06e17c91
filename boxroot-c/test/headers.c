/* SPDX-License-Identifier: MIT */
/* The public header, alone and twice, and after one of OCaml's. Compiled with two names, and linked. */
#include <boxroot.h>
#include <boxroot.h>

boxroot UNIT(value v);
boxroot UNIT(value v) {
  boxroot root = boxroot_create(v);
  if (root != NULL && boxroot_get(root) != *boxroot_get_ref(root)) boxroot_delete(root);
  return root;
}
