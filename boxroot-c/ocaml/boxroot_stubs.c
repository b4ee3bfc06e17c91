/* SPDX-License-Identifier: MIT */
/* For boxroot.ml. As it uses all that the library has, boxroot.cmxs holds all of it. */
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <caml/fail.h>

value boxroot_ocaml_setup(value unit);
value boxroot_ocaml_live_roots(value unit);
value boxroot_ocaml_print_stats(value unit);
value boxroot_ocaml_trim(value unit);
value boxroot_ocaml_validate(value unit);

/* alloc.c and bulk.c, which nothing else here needs. */
boxroot (*const boxroot_ocaml_create)(value) = boxroot_create;
void (*const boxroot_ocaml_delete_many)(boxroot_domain, boxroot const *,
                                        size_t) = boxroot_delete_many;

value boxroot_ocaml_setup(value unit) {
  if (!boxroot_setup()) caml_failwith(boxroot_error_string());
  return unit;
}

value boxroot_ocaml_live_roots(value unit) {
  (void)unit;
  struct boxroot_stats statistics;
  boxroot_stats(&statistics);
  return Val_long(statistics.live_roots);
}

value boxroot_ocaml_print_stats(value unit) {
  boxroot_print_stats();
  return unit;
}

value boxroot_ocaml_trim(value unit) {
  (void)unit;
  return Val_long(boxroot_trim());
}

value boxroot_ocaml_validate(value unit) {
  char const *broken = boxroot_validate();
  if (broken != NULL) caml_failwith(broken);
  return unit;
}
