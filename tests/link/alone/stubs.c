/* Boxroots for an OCaml program, which gets them as immediates. */
#include <stdlib.h>

#include <boxroot.h>

static boxroot root_of(value handle) { return (boxroot)(handle & ~(value)1); }

value links_setup(value unit) {
  if (!boxroot_setup()) abort();
  return unit;
}

value links_create(value v) {
  boxroot root = boxroot_create(v);
  if (root == NULL) abort();
  return (value)root | 1;
}

value links_get(value handle) { return boxroot_get(root_of(handle)); }

value links_delete(value handle) {
  boxroot_delete(root_of(handle));
  return Val_unit;
}
