/* local_roots in callee-roots style: with OCaml's local roots, and with boxroots. The other
   style is in benches/runtime/cell.h. */
#define CAML_NAME_SPACE
#include <boxroot.h>

#include <caml/callback.h>
#include <caml/memory.h>

#include "../runtime/implementation.h"

/* The comparisons are not inlined: they stand for longer functions. */

__attribute__((noinline)) int compare_references(value const *x, value const *y) {
  return Double_val(*x) == Double_val(*y);
}

__attribute__((noinline)) static int compare_values(value x, value y) {
  CAMLparam2(x, y);
  CAMLreturnT(int, Double_val(x) == Double_val(y));
}

value local_fixpoint(value f, value x) {
  CAMLparam2(f, x);
  CAMLlocal1(y);
  y = caml_callback(f, x);
  if (compare_values(x, y)) CAMLreturn(y);
  CAMLreturn(local_fixpoint(f, y));
}

__attribute__((noinline)) static int naive_compare(value x, value y) {
  boxroot x_root = boxroot_create(x), y_root = boxroot_create(y);
  int equal = Double_val(boxroot_get(x_root)) == Double_val(boxroot_get(y_root));
  boxroot_delete(y_root);
  boxroot_delete(x_root);
  return equal;
}

value naive_fixpoint(value f, value x) {
  boxroot f_root = boxroot_create(f), x_root = boxroot_create(x);
  boxroot y_root = boxroot_create(caml_callback(boxroot_get(f_root), boxroot_get(x_root)));
  value result = boxroot_get(y_root);
  if (!naive_compare(boxroot_get(x_root), result))
    result = naive_fixpoint(boxroot_get(f_root), result);
  boxroot_delete(y_root);
  boxroot_delete(x_root);
  boxroot_delete(f_root);
  return result;
}
